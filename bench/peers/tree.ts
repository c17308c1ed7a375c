// The memory of a process and all it started, seen together: a pipe of three programs needs what all three need at once.
import { readdirSync, readFileSync } from 'node:fs'

const EVERY_MS = 50
const PAGE_BYTES = 4096

/** Watches process `pid` and all below it; the answer ends that and gives the most resident memory seen at once, MB. */
export function watchMemory(pid: number): () => number {
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid))
  }, EVERY_MS)
  return () => {
    clearInterval(timer)
    return most / 2 ** 20
  }
}

function residentBytes(root: number): number {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(name))
  }
  let bytes = 0
  for (const pid of parents.keys()) if (isBelow(pid, root, parents)) bytes += residentOf(pid)
  return bytes
}

function isBelow(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  let at: number | undefined = pid
  // No chain of parents is longer than the list of processes.
  for (let steps = 0; at !== undefined && steps <= parents.size; steps += 1) {
    if (at === root) return true
    at = parents.get(at)
  }
  return false
}

function parentOf(pid: string): number {
  try {
    // Behind the name, which may hold anything: state, then the parent.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1])
  } catch {
    return 0
  }
}

function residentOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
  } catch {
    return 0
  }
}
