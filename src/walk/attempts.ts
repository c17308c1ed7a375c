// How long a walk goes on where the list moves under it, or answers bring nothing new.

/** What may have failed only because the list had just moved is tried so often. */
export const TRIES = 4

/** Requests that may be made in vain while the end, or the head, of a list that filled so many windows is looked for. */
export function inVain(windows: number): number {
  return 240 + 4 * windows
}
