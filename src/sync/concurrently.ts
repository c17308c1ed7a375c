// Several pieces of work at once; how many requests the service bears is decided by service/pacing.ts.
import pMap from 'p-map'

/** `work` for all `items`, `concurrency` at once. After an error none is begun, then it is thrown. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = []
  const once = async (item: T): Promise<void> => {
    // p-map would throw at once, while others still write to the mirror.
    if (errors.length > 0) return
    try {
      await work(item)
    } catch (error) {
      errors.push(error)
    }
  }
  await pMap(items, once, { concurrency })
  if (errors.length > 0) throw errors[0]
}
