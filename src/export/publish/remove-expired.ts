// Applies `--keep` after a publication; which snapshots go is decided by `expired`.
import { ageOf } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'
import { begunAt } from '../../mirror/tables/snapshots.ts'
import { parseManifest } from './manifest.ts'
import { readLatest } from './publish-dataset.ts'
import { expired, type Kept } from './retention.ts'
import { readManifest, type Store } from './store.ts'

/**
 * Removes what `keep` lets go. What has no readable manifest is left alone: it is being written, or it is not ours.
 * The new snapshot is published: what keeps old ones from going is said, never thrown. One that is dated later than `now`
 * (epoch ms), because a clock was wrong, counts as older than all others: it would be the newest for ever.
 */
export async function removeExpired(
  store: Store,
  keep: number,
  now: number,
): Promise<{ removed: string[]; notRemoved: string | null }> {
  const removed: string[] = []
  try {
    const published: Kept[] = []
    const ids = await store.snapshotIds()
    const isDated = (id: string) => ageOf(begunAt(id), now) !== null
    for (const id of [...ids.filter((id) => !isDated(id)), ...ids.filter(isDated)]) {
      const found = await readManifest(store, id)
      if (found === null) continue
      const manifest = parseManifest(found.bytes, `${store.place}/${found.name}`)
      if (manifest.snapshotId === id) published.push(manifest)
    }
    const latest = await readLatest(store)
    const named = [latest?.full?.snapshotId, latest?.changes?.snapshotId]
    for (const id of expired(published, keep)) {
      if (named.includes(id)) continue
      await store.remove(id)
      removed.push(id)
    }
    return { removed, notRemoved: null }
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error
    return { removed, notRemoved: `Old snapshots were not all removed: ${error.message}` }
  }
}
