// Which names of headers and parameters are those of credentials, by the words in them; in doubt they are. Pure.

/** Words that make any name that of a credential. */
const WORDS: ReadonlySet<string> = new Set([
  ...'auth authorization authentication bearer otp jwt token tokens csrf xsrf csrftoken xsrftoken'.split(' '),
  ...'secret secrets password passwd passphrase pwd pass credential credentials'.split(' '),
  ...'cookie cookie2 cookies session sessionid sid signature sig'.split(' '),
  ...'apikey accesskey authkey secretkey authtoken accesstoken idtoken refreshtoken'.split(' '),
])

/** Words before `key` that make it the name of something else. */
const OTHER_KEYS: ReadonlySet<string> = new Set(
  'idempotency surrogate cache websocket partition sort primary foreign routing'.split(' '),
)

/** No header or parameter that matters is longer; what is would only cost time. */
const LONGEST = 256

/** `name` as it stands, any case: `X-Auth-Token`, `apiKey`, `X-Amz-Signature`. */
export function isCredentialName(name: string): boolean {
  if (name.length > LONGEST) return false
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  const last = words.at(-1) ?? ''
  if (last === 'key') return !OTHER_KEYS.has(words.at(-2) ?? '')
  return words.some((word) => WORDS.has(word) || word.endsWith('token') || word.endsWith('apikey'))
}
