// Limits of processor time that hold on any machine: so much as a fixed piece of work takes longer here than on the machine
// they were found on.

/** Processor time of that piece of work there, ms. */
const REFERENCE_MS = 12
const TRIES = 5

let slowness: number | null = null

/** `ms` of processor time of a machine of 2026, as ms of this one; never less. */
export function allowedMs(ms: number): number {
  slowness ??= Math.max(1, measured() / REFERENCE_MS)
  return ms * slowness
}

/** The quickest of some tries: what came in between is none of the work. */
function measured(): number {
  return Math.min(...Array.from({ length: TRIES }, () => processorMs(work)))
}

/** What limits are about: JSON, strings and expressions. */
function work(): void {
  const items = Array.from({ length: 4_000 }, (_, id) => ({ id: `${id}`, text: '\\"x'.repeat(20), at: id * 1.5 }))
  JSON.parse(JSON.stringify(items).replaceAll(/x(?=\\)/g, 'y'))
}

/** Processor time of this thread while `work` is done, ms. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
