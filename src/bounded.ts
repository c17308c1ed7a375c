// Collections of bounded size.

/** Deletes what was added first, until `most` entries are left. */
export function keepLatest<K>(
  kept: { readonly size: number; keys(): Iterable<K>; delete(key: K): boolean },
  most: number,
): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return
    kept.delete(key)
  }
}
