// Reads JSON that the mirror stores: text that is no JSON is damage, like a page that cannot be read.
import { MirrorError } from '../errors.ts'
import { DAMAGED_HINT } from './explain.ts'

/** Throws `mirror-damaged` by itself, because not all who read rows do so within `explaining`. */
export function storedJson<T>(text: string, parse: (text: string) => unknown = JSON.parse): T {
  try {
    return parse(text) as T
  } catch {
    // No cause: it would quote the text, which may hold a credential.
    throw new MirrorError('mirror-damaged', 'The mirror is damaged: a text that it keeps as JSON is not JSON', {
      hint: DAMAGED_HINT,
    })
  }
}
