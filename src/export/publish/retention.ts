// Which snapshots `--keep` lets go, decided by manifests alone, and how they are removed after a publication.
import { ageOf } from '../../clock.ts'
import { isMirrorError, MirrorError } from '../../errors.ts'
import { begunAt } from '../../mirror/tables/snapshots.ts'
import { seriesOf } from './feed.ts'
import { readLatest } from './latest.ts'
import { type Manifest, parseManifest } from './manifest.ts'
import { readManifest, type Store } from './store.ts'

/** What the decision needs of a manifest. */
export type Kept = Pick<Manifest, 'snapshotId' | 'kind' | 'buildsOn' | 'lastFullWalk' | 'filters' | 'format'>

/**
 * Names of the snapshots to remove so that the newest `keep` stay. These stay as well: whatever a kept one builds on,
 * the last full one of each kind (format and filters, but for bounds of createdAt), the last of these that followed a
 * complete walk, what the next feed of each kind goes on from, and those that `latest.json` names (`named`).
 * `published`: the oldest publication first, by clocks that may have been set back.
 */
export function expired(published: readonly Kept[], keep: number, named: readonly (string | undefined)[]): string[] {
  const byId = new Map(published.map((one) => [one.snapshotId, one]))
  const kept = new Set<string>()
  const hold = (one: Kept | undefined) => {
    for (let at = one; at !== undefined && !kept.has(at.snapshotId); ) {
      kept.add(at.snapshotId)
      at = at.buildsOn === null ? undefined : byId.get(at.buildsOn)
    }
  }
  for (const one of published.slice(-keep)) hold(one)
  for (const one of published) if (named.includes(one.snapshotId)) hold(one)
  const last = new Map<string, Kept>()
  for (const one of published) {
    last.set(`next ${one.format} ${seriesOf(one.filters)}`, one)
    if (one.kind !== 'full') continue
    // `--since 7d` is another moment every time.
    const { since: _, until: __, ...filters } = one.filters
    const series = JSON.stringify([one.format, filters])
    last.set(series, one)
    if (one.lastFullWalk?.verdict === 'complete') last.set(`complete ${series}`, one)
  }
  for (const one of last.values()) hold(one)
  return published.map((one) => one.snapshotId).filter((id) => !kept.has(id))
}

/**
 * Removes what `keep` lets go. What has no manifest is left alone: it is being written, or it is not ours. So is what
 * has a damaged one, which is reported. The new snapshot is published by now: what keeps old ones from being removed is
 * reported, never thrown. A snapshot dated later than `now` (epoch ms), by a wrong clock, counts as older than all
 * others: else it would be the newest for ever.
 */
export async function removeExpired(
  store: Store,
  keep: number,
  now: number,
): Promise<{ removed: string[]; notRemoved: string | null }> {
  const removed: string[] = []
  let why: string | null = null
  try {
    const published: Kept[] = []
    const ids = await store.snapshotIds()
    const isDated = (id: string) => ageOf(begunAt(id), now) !== null
    for (const id of [...ids.filter((id) => !isDated(id)), ...ids.filter(isDated)]) {
      try {
        const found = await readManifest(store, id)
        if (found === null) continue
        const manifest = parseManifest(found.bytes, `${store.place}/${found.name}`)
        if (manifest.snapshotId === id) published.push(manifest)
      } catch (error) {
        // A damaged manifest must not keep all others from being removed for ever.
        if (!isMirrorError(error, 'snapshot-damaged')) throw error
        why ??= error.message
      }
    }
    const latest = await readLatest(store)
    const named = [latest?.full?.snapshotId, latest?.changes?.snapshotId]
    for (const id of expired(published, keep, named)) {
      await store.remove(id)
      removed.push(id)
    }
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error
    why = error.message
  }
  return { removed, notRemoved: why && `Old snapshots were not all removed: ${why}` }
}
