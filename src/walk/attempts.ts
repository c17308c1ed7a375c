// How long a walk goes on where the list moves under it, or answers bring nothing new.

/** How often to try what may have failed only because the list had just moved. */
export const TRIES = 4

/** How many requests a walk may make in vain, by the number of its windows that brought something new. */
export function inVain(windows: number): number {
  return 240 + 4 * windows
}
