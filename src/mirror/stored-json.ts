// JSON as the mirror keeps it: other text in its place is damage, like a page that cannot be read.
import { MirrorError } from '../errors.ts'
import { DAMAGED_HINT } from './explain.ts'

/** Throws `mirror-damaged`: itself, for not all who read rows do so within `explaining`. */
export function storedJson<T>(text: string, parse: (text: string) => unknown = JSON.parse): T {
  try {
    return parse(text) as T
  } catch {
    // Without the cause, which quotes the text: it may hold a credential.
    throw new MirrorError('mirror-damaged', 'The mirror is damaged: a text that it keeps as JSON is not JSON', {
      hint: DAMAGED_HINT,
    })
  }
}
