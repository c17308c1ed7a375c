// Files of lines that are not read to their end: a fault early on, or a reader that has seen enough.
import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import type { Compression } from '../../src/export/encode/compression.ts'
import { codeOf } from '../../src/export/formats.ts'
import { COLUMNS } from '../../src/export/read/columns.ts'
import { makeScratch } from '../support/scratch.ts'

/** How often this process has the file open. */
const handlesOf = (path: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  }).length

// Nothing that is compressed gets much shorter: the file is larger than what is read at once.
const lines = Array.from({ length: 2_000 }, (_, i) => `{"id":"${i}","x":"${randomBytes(1024).toString('hex')}"}\n`)
const text = Buffer.from(lines.join(''))

// Other systems have no list of what a process has open.
test.runIf(process.platform === 'linux').each<[Compression, (bytes: Buffer) => Buffer]>([
  ['none', (bytes) => bytes],
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
])('a file in compression %s that is not read to its end is closed', async (compression, pack) => {
  using scratch = makeScratch()
  const path = scratch.path('lines')
  const encoding = { compression, columns: COLUMNS, engine: 'hyparquet', switches: {} } as const
  writeFileSync(path, pack(text))
  await expect((await codeOf('csv')).countRows(path, encoding)).rejects.toThrow('its first line is another one')
  for await (const rows of (await codeOf('ndjson')).read(path, encoding)) if (rows.length > 0) break
  writeFileSync(path, text.subarray(1))
  await expect((await codeOf('ndjson')).countRows(path, { ...encoding, compression: 'gzip' })).rejects.toThrow('header')
  await vi.waitFor(() => expect(handlesOf(path)).toBe(0))
})
