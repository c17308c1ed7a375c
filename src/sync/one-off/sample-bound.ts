// What a random sample says of all: the exact binomial bound of Clopper and Pearson, one-sided. Pure.

const CONFIDENCE = 0.95
const STEPS = 60

/** At 95 %, at most this share (0 to 1) of `all` differs, as `bad` of `sampled` do; exact where all were sampled. */
export function shareAtMost(sampled: number, bad: number, all: number): number {
  if (sampled === 0 || bad >= sampled) return 1
  if (sampled >= all) return bad / sampled
  let [low, high] = [bad / sampled, 1]
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2
    if (chanceOfAtMost(bad, sampled, middle) > 1 - CONFIDENCE) low = middle
    else high = middle
  }
  return high
}

/** The chance of at most `bad` hits in `sampled` draws, each a hit with the chance `share`. */
function chanceOfAtMost(bad: number, sampled: number, share: number): number {
  // By logarithms: the first term alone can be smaller than any double.
  let log = sampled * Math.log1p(-share)
  let sum = Math.exp(log)
  for (let hits = 1; hits <= bad; hits += 1) {
    log += Math.log(sampled - hits + 1) - Math.log(hits) + Math.log(share) - Math.log1p(-share)
    sum += Math.exp(log)
  }
  return sum
}
