// Several pieces of work at once, such as look-ups by id. How many the service bears at present is not decided here: requests
// wait for their turn in the client (service/pacing.ts).
import pMap from 'p-map'

/**
 * Does `work` for all `items`, at most `concurrency` of them at once. Where one throws, no other is begun; what is under way
 * is waited for, then the first error is thrown.
 */
export async function forEachAtOnce<T>(
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
