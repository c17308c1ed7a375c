// A first look at the envelope of an answer that is no success. Pure; whole tasks are not read here.

interface Envelope {
  /** null where it is missing or no integer. */
  statusCode: number | null
  /** Cut to 200 characters; empty where it is no string. */
  message: string
}

const NOTHING: Envelope = { statusCode: null, message: '' }

/** `statusCode` and `message` of an error body; anything that is no JSON object has neither. Never throws. */
export function readEnvelope(raw: Uint8Array | null): Envelope {
  if (raw === null) return NOTHING
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw))
  } catch {
    return NOTHING
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NOTHING
  const { statusCode, message } = value as Record<string, unknown>
  return {
    statusCode: Number.isSafeInteger(statusCode) ? (statusCode as number) : null,
    message: typeof message === 'string' ? message.slice(0, 200) : '',
  }
}
