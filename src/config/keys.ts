// The keys of the configuration as dotted names ("service.auth.name"), and the environment variable of each.
import { DEFAULTS } from './defaults.ts'

/** The file that is read from the working directory where no other is named. */
export const DEFAULT_FILE = 'task-mirror.json'

/** Every key that holds a value, in the order of the defaults. */
export const KEYS: readonly string[] = leaves(DEFAULTS, '')

function leaves(section: object, prefix: string): string[] {
  return Object.entries(section).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leaves(value, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  )
}

/** `service.baseUrl` is `TASK_MIRROR_SERVICE_BASE_URL`. */
export function environmentName(key: string): string {
  return `TASK_MIRROR_${key
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toUpperCase()}`
}

/** The value at `key` in nested objects; undefined where a section on the way is missing. */
export function valueAt(root: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, name)
          ? (at as Record<string, unknown>)[name]
          : undefined,
      root,
    )
}

/** Sets the value at `key` and makes missing sections on the way. Keys come from `KEYS`, never from outside. */
export function setAt(root: Record<string, unknown>, key: string, value: unknown): void {
  const names = key.split('.')
  const last = names.pop() as string
  let at = root
  for (const name of names) {
    at[name] ??= {}
    at = at[name] as Record<string, unknown>
  }
  at[last] = value
}
