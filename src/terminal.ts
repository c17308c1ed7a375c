// What the program knows of a terminal: whether it takes colours, and a status line that log lines do not break.

import { printable } from './shown.ts'

/** Whether to send colours: NO_COLOR and FORCE_COLOR (https://no-color.org, https://force-color.org), TERM=dumb. */
export function wantsColour(isTTY: boolean, env: NodeJS.ProcessEnv): boolean {
  if ((env.NO_COLOR ?? '') !== '') return false
  const force = env.FORCE_COLOR
  if (force !== undefined) return force !== '0' && force !== 'false'
  return isTTY && env.TERM !== 'dumb'
}

/** Whether a line can be redrawn in place. */
export function canRedraw(isTTY: boolean, env: NodeJS.ProcessEnv): boolean {
  return isTTY && env.TERM !== 'dumb'
}

/** A terminal whose size was never set reports 0. */
export function knownWidth(columns: number | undefined): number | undefined {
  return columns === 0 ? undefined : columns
}

export interface StatusLine {
  /** Replaces the status line by `text` (one line). */
  show(text: string): void
  /** Removes the status line. */
  clear(): void
  /** Writes whole lines above the status line. */
  write(lines: string): void
}

const ERASE = '\r\u001b[2K'

export function createStatusLine(write: (text: string) => void): StatusLine {
  let last = ''
  return {
    show(text) {
      if (text === last) return
      last = text
      write(`${ERASE}${printable(text)}`)
    },
    clear() {
      if (last !== '') write(ERASE)
      last = ''
    },
    write(lines) {
      write(last === '' ? lines : `${ERASE}${lines}${printable(last)}`)
    },
  }
}
