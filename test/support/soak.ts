// What `npm test` leaves to the soak. Of every promise it keeps one case or a few, one of each kind; `SOAK=1`
// (`npm run test:soak`) runs the same files with all of them.

/** Whether this is the soak. */
export const SOAK = process.env.SOAK !== undefined && process.env.SOAK !== '' && process.env.SOAK !== '0'

/** All of them in the soak, otherwise those that are quick, or enough. */
export function few<T>(all: readonly T[], isEnough: (one: T, index: number) => boolean): T[] {
  return all.filter((one, index) => SOAK || isEnough(one, index))
}
