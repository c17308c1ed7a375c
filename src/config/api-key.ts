// The API key: from TASK_MIRROR_API_KEY or TASK_MIRROR_API_KEY_FILE, never from a flag; it appears in no message.

import { MirrorError } from '../errors.ts'
import { openToOthers, readNamedFile } from '../small-file.ts'
import { beginsAtHome, WHOLE_PATH } from './whole-path.ts'

export interface ApiKey {
  /** null where none is set. */
  key: string | null
  /** The environment variable it came from. */
  origin: string | null
  /** What the user should know of where the key was kept, one sentence; null where nothing is wrong. */
  warning: string | null
}

/** No key is as long as this. */
const MOST_BYTES = 16 * 1024

/** Throws `config-invalid` where both variables are set, the file cannot be read or the key cannot be sent. */
export function readApiKey(env: NodeJS.ProcessEnv): ApiKey {
  const direct = env.TASK_MIRROR_API_KEY
  const file = env.TASK_MIRROR_API_KEY_FILE
  if (given(direct) && given(file)) {
    throw invalid('TASK_MIRROR_API_KEY and TASK_MIRROR_API_KEY_FILE are both set', 'Unset one of them.')
  }
  if (given(file)) {
    const { text, warning } = readKeyFile(file)
    return {
      key: checked(text, `The file named by TASK_MIRROR_API_KEY_FILE (${file})`),
      origin: 'TASK_MIRROR_API_KEY_FILE',
      warning,
    }
  }
  if (direct === undefined) return { key: null, origin: null, warning: null }
  return { key: checked(direct, 'TASK_MIRROR_API_KEY'), origin: 'TASK_MIRROR_API_KEY', warning: null }
}

function given(value: string | undefined): value is string {
  return value !== undefined && value !== ''
}

function readKeyFile(path: string): { text: string; warning: string | null } {
  const refuse = (what: string, cause?: unknown) => {
    const hint = cause === undefined ? 'Name the right file.' : 'Check the path and who may read it.'
    return invalid(`The file named by TASK_MIRROR_API_KEY_FILE (${path}) ${what}`, hint, cause)
  }
  if (beginsAtHome(path)) {
    throw invalid(`TASK_MIRROR_API_KEY_FILE: expected ${WHOLE_PATH}, got "${path}"`, 'Name the right file.')
  }
  const { bytes, stats } = readNamedFile(path, { most: MOST_BYTES, pipe: true, refuse })
  return { text: bytes.toString(), warning: openToOthers('the API key', path, stats) }
}

function checked(text: string, source: string): string {
  const key = text.replace(/\r?\n$/, '')
  const hint = 'Put the key alone into it, on one line.'
  if (key === '') throw invalid(`${source} is empty`, hint)
  const odd = key.search(/[^\x20-\x7e]/)
  if (odd !== -1) {
    throw invalid(`${source} holds a line break, a control character or one beyond ASCII at position ${odd + 1}`, hint)
  }
  if (key.trim() !== key) throw invalid(`${source} begins or ends with a space`, hint)
  return key
}

function invalid(message: string, hint: string, cause?: unknown): MirrorError {
  return new MirrorError('config-invalid', message, { hint, cause })
}
