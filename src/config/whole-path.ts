// Only a shell expands `~`: a program told to make `~/file` would make a folder called `~`. Imports nothing.

/** Whether `path` begins with `~`, which a shell would have replaced by the home folder. */
export function beginsAtHome(path: string): boolean {
  return /^~(\/|$)/.test(path)
}

/** What was expected instead, for messages. */
export const WHOLE_PATH = 'the whole path, as "~" is not expanded here (a folder really called ~ is ./~)'
