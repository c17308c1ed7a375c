// Several pieces of work at once; service/pacing.ts decides how many requests the service bears.
import pMap from 'p-map'

/** Does `work` for all `items`, `concurrency` at once. After an error it begins no more, and throws it in the end. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = []
  const once = async (item: T): Promise<void> => {
    // p-map would throw at once, while other work still writes to the mirror.
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
