import { expect, test } from 'vitest'
import { partitionOf, staysIn } from '../../src/export/read/partition.ts'
import fc from '../support/fc.ts'

const at = (text: string) => BigInt(Date.parse(text))

test.each<[string, 'month' | 'day', string, string]>([
  ['2026-11-20T10:00:00Z', 'month', 'created_month=2026-11', '2026-12-01T00:00:00Z'],
  ['2026-12-31T23:59:59.999Z', 'month', 'created_month=2026-12', '2027-01-01T00:00:00Z'],
  ['2028-02-29T00:00:00Z', 'day', 'created_day=2028-02-29', '2028-03-01T00:00:00Z'],
  ['1969-12-31T23:59:59.999Z', 'day', 'created_day=1969-12-31', '1970-01-01T00:00:00Z'],
  ['0050-03-01T00:00:00Z', 'month', 'created_month=0050-03', '0050-04-01T00:00:00Z'],
])('%s by %s is in %s until %s', (moment, by, folder, until) => {
  const partition = partitionOf(at(moment), by)
  expect(partition).toMatchObject({ folder, until: at(until) })
})

test('what has no date is where Hive puts NULL: no createdAt, before year 1, after year 9999', () => {
  for (const moment of [null, -(2n ** 63n), 2n ** 63n - 1n, 253_402_300_800_000n]) {
    expect(partitionOf(moment, 'month').folder).toBe('created_month=__HIVE_DEFAULT_PARTITION__')
  }
  expect(partitionOf(253_402_300_799_999n, 'day').folder).toBe('created_day=9999-12-31')
})

test('a row stays in the open partition exactly where it would open the same one', () => {
  const moment = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: 0n, max: 4_000_000_000_000n }),
    fc.constant(null),
  )
  fc.assert(
    fc.property(fc.array(moment, { minLength: 2, maxLength: 2 }), fc.constantFrom('month', 'day'), (pair, by) => {
      // Rows come in the order of SQLite: nulls first.
      const [first, second] = pair.sort((a, b) => (a === null ? -1 : b === null ? 1 : a < b ? -1 : 1))
      const open = partitionOf(first!, by)
      const next = partitionOf(second!, by)
      const isSameRun = open.folder === next.folder && open.until === next.until
      expect(staysIn(open, second!)).toBe(isSameRun)
    }),
  )
})
