// In which fields two forms of one task differ: names only, never values. Pure.
import { isObject } from '../json.ts'
import type { JsonObject, Task } from '../task.ts'
import { canonicalText } from './shape.ts'

/**
 * Names such as `systemStatus` or `result.body`, sorted; empty where both forms are JSON-equal. Numbers are compared digit
 * for digit, the order of keys does not count. `data` and `result` are looked into one level deep.
 */
export function differingFields(a: Task, b: Task): string[] {
  const names = differingMembers(a, b).flatMap((name) => {
    const [left, right] = [a[name], b[name]]
    const isPart = (name === 'data' || name === 'result') && isObject(left) && isObject(right)
    return isPart ? differingMembers(left, right).map((inner) => `${name}.${inner}`) : [name]
  })
  return names.sort()
}

/** Names of the fields that `whole` has and `part` has not. */
export function missingFields(part: Task, whole: Task): string[] {
  return differingFields(part, whole).filter((path) => {
    const [outer, inner] = path.split('.') as [string, string?]
    if (inner === undefined || Object.hasOwn(whole, path)) return !Object.hasOwn(part, path)
    return !Object.hasOwn(part[outer] as JsonObject, inner)
  })
}

function differingMembers(a: JsonObject, b: JsonObject): string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].filter((name) => {
    if (!Object.hasOwn(a, name) || !Object.hasOwn(b, name)) return true
    return canonicalText(a[name]!) !== canonicalText(b[name]!)
  })
}
