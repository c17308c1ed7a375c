// Which snapshots `--keep` lets go. Pure: knows manifests, never files.
import type { Manifest } from './manifest.ts'

/** What the decision needs of a manifest. */
export type Kept = Pick<Manifest, 'snapshotId' | 'kind' | 'buildsOn' | 'lastFullWalk' | 'filters' | 'format'>

/**
 * Names of the snapshots to remove so that the newest `keep` stay. Beyond those stay: whatever a kept one builds on, the
 * last full one of every kind (format and filters), and the last of these that followed a complete walk.
 * `published` is in the order of publication, oldest first.
 */
export function expired(published: readonly Kept[], keep: number): string[] {
  const byId = new Map(published.map((one) => [one.snapshotId, one]))
  const kept = new Set<string>()
  const hold = (one: Kept | undefined) => {
    for (let at = one; at !== undefined && !kept.has(at.snapshotId); ) {
      kept.add(at.snapshotId)
      at = at.buildsOn === null ? undefined : byId.get(at.buildsOn)
    }
  }
  for (const one of published.slice(-keep)) hold(one)
  const last = new Map<string, Kept>()
  for (const one of published) {
    if (one.kind !== 'full') continue
    const sort = JSON.stringify([one.format, one.filters])
    last.set(sort, one)
    if (one.lastFullWalk?.verdict === 'complete') last.set(`complete ${sort}`, one)
  }
  for (const one of last.values()) hold(one)
  return published.map((one) => one.snapshotId).filter((id) => !kept.has(id))
}
