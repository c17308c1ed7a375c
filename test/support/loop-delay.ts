// How long this thread goes without looking at its events: what a signal or a health check has to wait for.
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface LoopDelay {
  /** Longest step, ms on the clock: other programs on the machine count too. */
  longestMs: number
  /** Longest step, ms of this thread's processor time: it is the program's own. */
  longestCpuMs: number
}

/** Measures while `work` is done. */
export async function loopDelayOf(work: () => Promise<unknown>): Promise<LoopDelay> {
  const histogram = monitorEventLoopDelay({ resolution: 10 })
  let longestCpuMs = 0
  let last = threadMs()
  const look = () => {
    const now = threadMs()
    longestCpuMs = Math.max(longestCpuMs, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  histogram.enable()
  try {
    await work()
    look()
  } finally {
    histogram.disable()
    clearInterval(timer)
  }
  return { longestMs: Math.round(histogram.max / 1e6), longestCpuMs: Math.round(longestCpuMs) }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
