// How long a walk goes on where the list moves under it, or answers bring nothing new.

/** What may have failed only because the list had just moved is tried so often. */
export const TRIES = 4

/** Requests that may be made in vain by a walk of which so many windows brought something new. */
export function inVain(windows: number): number {
  return 240 + 4 * windows
}
