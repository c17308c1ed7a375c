// Reads the values of flags that are neither durations nor moments. Pure.
import { MirrorError } from '../../errors.ts'

/** Throws `usage-invalid` where `text` is not one of `allowed`. */
export function oneOf<T extends string>(text: string, allowed: readonly T[], name: string): T {
  if ((allowed as readonly string[]).includes(text)) return text as T
  throw new MirrorError('usage-invalid', `${name}: "${text}" is not one of ${allowed.join(', ')}`)
}

/** A whole number from 1 to 999,999,999. Throws `usage-invalid`. */
export function atLeastOne(text: string, name: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new MirrorError('usage-invalid', `${name}: "${text}" is not a whole number of at least 1`)
}

/** Throws `usage-invalid` where the half-open range is empty. */
export function checkRange(since: number | null, until: number | null): void {
  if (since !== null && until !== null && since >= until) {
    throw new MirrorError('usage-invalid', '--since is not before --until', { hint: 'Swap them.' })
  }
}
