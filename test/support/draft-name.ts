// The hidden names of drafts, for tests that leave some behind.
import { draftPath } from '../../src/export/publish/drafts.ts'

const [, near] = /\.task-mirror-((?:[0-9a-f]+-)?)\d+-[0-9a-f]+\.tmp$/.exec(draftPath('x'))!

/** What a process of this machine, outside of other containers, calls its draft of `name`. */
export const draftName = (name: string, pid: number): string => `.${name}.task-mirror-${near}${pid}-0.tmp`
