// What errors of SQLite and of the file system mean for a mirror.
import { expect, test } from 'vitest'
import { explain } from '../../src/mirror/explain.ts'

test.each([
  ['SQLITE_FULL', 'disk-full'],
  // The file that readers share beside the mirror cannot grow.
  ['SQLITE_IOERR_SHMSIZE', 'disk-full'],
  ['ENOSPC', 'disk-full'],
  ['EDQUOT', 'disk-full'],
  ['SQLITE_CORRUPT_INDEX', 'mirror-damaged'],
  ['SQLITE_NOTADB', 'mirror-damaged'],
  ['SQLITE_READONLY_DIRECTORY', 'mirror-unwritable'],
  ['EROFS', 'mirror-unwritable'],
  ['SQLITE_BUSY_SNAPSHOT', 'mirror-locked'],
  ['SQLITE_IOERR_WRITE', 'mirror-unwritable'],
  ['SQLITE_IOERR_READ', 'mirror-unreadable'],
])('%s is %s', (code, expected) => {
  // A path that may be read.
  const path = new URL(import.meta.url).pathname
  const error = explain(path, Object.assign(new Error('no'), { code }))
  expect(error).toMatchObject({ code: expected, facts: { path }, hint: expect.stringMatching(/\.$/) })
})
