// `~` is a shell's: a file or folder that a program is told to make there would be called so. Imports nothing.

/** Whether `path` begins with what a shell would have put the home folder for. */
export function beginsAtHome(path: string): boolean {
  return /^~(\/|$)/.test(path)
}

/** What was expected instead. */
export const WHOLE_PATH = 'the whole path, as "~" is not expanded here (a folder really called ~ is ./~)'
