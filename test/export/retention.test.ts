import { expect, test } from 'vitest'
import { expired, type Kept } from '../../src/export/publish/retention.ts'

/** `F1` a full one after a complete walk, `P1` after a partial one, `C1<F1` changes that build on F1; `...r` of `--since 7d`. */
function published(text: string): Kept[] {
  return text.split(' ').map((word) => {
    const [name, buildsOn = null] = word.split('<') as [string, string?]
    const verdict = name.startsWith('P') ? 'partial' : 'complete'
    return {
      snapshotId: name,
      kind: name.startsWith('C') ? 'changes' : 'full',
      buildsOn,
      lastFullWalk: { verdict, finishedAt: 0, ageMs: 0 },
      filters: {
        ...(name.endsWith('x') && { statuses: ['X'] }),
        ...(name.endsWith('r') && { since: Number(name[1]) }),
      },
      format: 'parquet',
    }
  })
}

test.each([
  ['F1 F2 F3', 1, 'F1 F2'],
  ['F1 F2 F3', 2, 'F1'],
  ['F1 F2 F3', 9, ''],
  ['F1 C1<F1 C2<C1 C3<C2', 1, ''],
  ['F1 C1<F1 F2', 2, ''],
  ['F1 C1<F1 F2 C2<F2', 2, 'F1 C1'],
  ['F1 C1<F1 F2 C2<C1', 1, ''],
  ['F1 P2 P3', 1, 'P2'],
  ['F1 F2 P3 P4', 2, 'F1'],
  ['F1x F2 F3', 1, 'F2'],
  ['F1r F2r F3r', 1, 'F1r F2r'],
  ['C1 C2<C1 C3', 1, 'C1 C2'],
])('of %s, keeping %i lets go "%s"', (text, keep, gone) => {
  expect(expired(published(text), keep, []).join(' ')).toBe(gone)
})

test('what latest.json names stays with all that it builds on, also where a clock that was set back dates it earlier', () => {
  const inOrderOfNames = published('C2<C1 C3<C2 F1 C1<F1')
  expect(expired(inOrderOfNames, 1, ['F1', undefined])).toEqual(['C2', 'C3'])
  expect(expired(inOrderOfNames, 1, ['F1', 'C3'])).toEqual([])
})
