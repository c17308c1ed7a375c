// `latest.json` of a destination: read, and made to name what was published.
import { isMirrorError, MirrorError } from '../../errors.ts'
import { holdsAllOf } from './feed.ts'
import { jsonBytes, type Latest, type LatestEntry, type Manifest, parseLatest } from './manifest.ts'
import { LATEST, type Store } from './store.ts'

/** What a destination's `latest.json` says; null where there is none. Throws `snapshot-damaged`, `snapshot-newer`. */
export async function readLatest(store: Store): Promise<Latest | null> {
  return latestOf(store, await store.read(LATEST))
}

function latestOf(store: Store, bytes: Buffer | null): Latest | null {
  return bytes === null ? null : parseLatest(bytes, `${store.place}/${LATEST}`)
}

/**
 * What `latest.json` says after `entry` was published, `before` being what it said until then. Exports may overlap: how
 * far each goes in the mirror's changes counts, not which ends last, so that readers are never taken back.
 */
function latestAfter(before: Latest | null, kind: Manifest['kind'], entry: LatestEntry): Latest {
  const { full, changes } = before ?? { full: null, changes: null }
  if (kind === 'full') {
    if (full !== null && full.cut > entry.cut) return { schemaVersion: 1, full, changes }
    const isAhead = changes !== null && changes.cut > entry.cut && holdsAllOf(entry, changes)
    return { schemaVersion: 1, full: entry, changes: isAhead ? changes : null }
  }
  const known = Math.max(full?.cut ?? 0, changes?.cut ?? 0)
  return { schemaVersion: 1, full, changes: known > entry.cut ? changes : entry }
}

/**
 * Has `latest.json` name what was published, unless it names what goes further. Throws what the store throws: then the
 * snapshot is gone and `withdrawn` was called, or the message names the snapshot.
 */
export async function nameInLatest(
  store: Store,
  kind: Manifest['kind'],
  entry: LatestEntry,
  withdrawn: () => Promise<void>,
): Promise<void> {
  try {
    await store.update(LATEST, (before) => jsonBytes(latestAfter(latestOf(store, before), kind, entry)))
  } catch (error) {
    const { snapshotId } = entry
    if (!(await isWithdrawn(store, snapshotId))) throw notLatest(`${store.place}/${snapshotId}`, error)
    await withdrawn()
    throw error
  }
}

/**
 * Removes a snapshot that `latest.json` could not name: it would lie there unknown, with one more after every attempt.
 * False where that failed, or where `latest.json` may name it all the same, because only the answer was lost.
 */
async function isWithdrawn(store: Store, snapshotId: string): Promise<boolean> {
  try {
    const latest = await readLatest(store)
    if ([latest?.full, latest?.changes].some((entry) => entry?.snapshotId === snapshotId)) return false
    await store.remove(snapshotId)
    return true
  } catch {
    return false
  }
}

function notLatest(path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = isMirrorError(error) ? error.code : 'snapshot-unwritable'
  return new MirrorError(code, `${path} is published, but ${LATEST} may not name it: ${error.message}`, {
    facts: { path, ...(isMirrorError(error) && error.facts) },
    hint: `Look into why ${LATEST} cannot be replaced, then export once more; that snapshot can be removed.`,
    cause: error,
  })
}
