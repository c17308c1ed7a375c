// Values of flags, and flags that commands have in common. Pure.
import { parseMoment } from '../../config/duration.ts'
import { MirrorError } from '../../errors.ts'
import { isNamedAsExport, isUrl } from '../../export/publish/target.ts'
import type { Flag } from './command.ts'

/** Throws `usage-invalid` where `text` is not one of `allowed`. */
export function oneOf<T extends string>(text: string, allowed: readonly T[], name: string): T {
  if ((allowed as readonly string[]).includes(text)) return text as T
  throw new MirrorError('usage-invalid', `${name}: "${text}" is not one of ${allowed.join(', ')}`)
}

export const AT_LEAST_ONE = 'a whole number from 1 to 999999999'

export function isAtLeastOne(text: string): boolean {
  return /^[1-9]\d{0,8}$/.test(text)
}

/** Throws `usage-invalid`. */
export function atLeastOne(text: string, name: string): number {
  if (isAtLeastOne(text)) return Number(text)
  throw new MirrorError('usage-invalid', `${name}: "${text}" is not ${AT_LEAST_ONE}`)
}

/** A half-open range of createdAt. */
export const RANGE_FLAGS: readonly Flag[] = [
  {
    flags: '--since <moment>',
    description: 'only tasks created from then on: 2026-11-01 (UTC, unless it names a zone), epoch ms or 7d',
    parse: parseMoment,
  },
  { flags: '--until <moment>', description: 'only tasks created before', parse: parseMoment },
]

/** Throws `usage-invalid` where the half-open range is empty. */
export function checkRange(since: number | null, until: number | null): void {
  if (since !== null && until !== null && since >= until) {
    throw new MirrorError('usage-invalid', '--since is not before --until', { hint: 'Let --until be later.' })
  }
}

/** Throws `usage-invalid` where `--out`, of a command other than export, names stdout, a folder, a URL or an export. */
export function refuseNoFile(out: string, example: string): void {
  if (isNamedAsExport(out)) {
    // TASK_MIRROR_OUT is set for all of them: a report would replace what was exported.
    throw new MirrorError('usage-invalid', `--out: "${out}" is the name of an export`, {
      hint: `Name another file, such as \`${example}\`; where TASK_MIRROR_OUT is set, it holds for every command.`,
    })
  }
  if (out !== '' && out !== '-' && !out.endsWith('/') && !isUrl(out)) return
  throw new MirrorError('usage-invalid', `--out: "${out}" is not the name of a file`, {
    hint: `Name one, such as \`${example}\`.`,
  })
}
