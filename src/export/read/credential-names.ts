// Which names of headers and parameters are those of credentials, by the words in them; in doubt they are. Pure.

/** Words that make any name that of a credential; with an s or digits behind them too. */
const WORDS: ReadonlySet<string> = new Set([
  ...'auth oauth bearer otp jwt csrf xsrf passphrase pwd pass credential'.split(' '),
  ...'cookie session sessionid sid signature sig accesskey authkey secretkey privatekey'.split(' '),
])

/** Endings of words that have the same effect, such as `accesstoken`, `passwords` and `authentification`. */
const ENDING = /(?:token|apikey|secret|password|passwd|authenti(?:fi)?cation|authori[sz]ation)$/

/** Words before `key` that make it the name of something else. */
const OTHER_KEYS: ReadonlySet<string> = new Set(
  'idempotency surrogate cache websocket socket partition sort primary foreign routing'.split(' '),
)

/** Longest name that is looked at: no header or parameter that matters is longer. */
const LONGEST = 256

/** `name` as it stands, any case: `X-Auth-Token`, `apiKey`, `X-Amz-Signature`. */
export function isCredentialName(name: string): boolean {
  if (name.length > LONGEST) return false
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
  while (words.length > 1 && /^\d+$/.test(words.at(-1)!)) words.pop()
  const last = singular(words.at(-1) ?? '')
  // `keys` by itself may be the keys of anything.
  if (last === 'key' && (words.length > 1 || !words[0]!.endsWith('s'))) return !OTHER_KEYS.has(words.at(-2) ?? '')
  return words.some((word) => WORDS.has(word) || WORDS.has(singular(word)) || ENDING.test(singular(word)))
}

/** `apikeys`, `key2` as `apikey`, `key`. */
function singular(word: string): string {
  return word.replace(/\d+$/, '').replace(/s$/, '')
}
