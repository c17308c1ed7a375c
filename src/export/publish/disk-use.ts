// How much of this machine's disk publications take. Looks only at those in the mirror's rows, never through folders.
import { type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Publication } from '../../mirror/tables/snapshots.ts'

export interface DiskUse {
  /** Files, and snapshots of datasets, that are still there. */
  snapshots: number
  bytes: number
}

/** `published`: the last first. What lies in an object store is left out. */
export function diskUse(published: readonly Publication[]): DiskUse {
  const use: DiskUse = { snapshots: 0, bytes: 0 }
  const files = new Set<string>()
  for (const { id, path, bytes } of published) {
    if (!path.startsWith('/') || files.has(path)) continue
    const there = statsOf(path)
    if (there?.isFile()) {
      files.add(path)
      use.snapshots += 1
      use.bytes += there.size
    } else if (there !== undefined && statsOf(join(path, id))?.isDirectory()) {
      use.snapshots += 1
      use.bytes += bytes
    }
  }
  return use
}

/** Undefined where nothing is there, or nothing that may be looked at. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
