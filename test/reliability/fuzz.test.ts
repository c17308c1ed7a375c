// Fuzzing of everything that meets the text of others: answers of the service, headers, URLs, what is printed, the
// configuration. Real texts are damaged, others made up; nothing may crash, and no step take longer than 200 ms of
// processor time. 5 s together; a minute with SOAK=1. A failure names its seed: FC_SEED repeats it.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { loadConfig } from '../../src/config/load.ts'
import { isMirrorError, MirrorError } from '../../src/errors.ts'
import { Redactor, redactionOf } from '../../src/export/read/redact.ts'
import { redactUrl } from '../../src/export/read/redact-url.ts'
import { hostOf } from '../../src/host.ts'
import { rowOf } from '../../src/mirror/row-bytes.ts'
import { sameContent, shapeTask, taskText } from '../../src/mirror/shape.ts'
import { readDetail, readItemText } from '../../src/service/decode/wire.ts'
import { printable } from '../../src/shown.ts'
import { listedTask, parseAll, prepareWindow, withHashes } from '../../src/sync/writer/prepare.ts'
import fc from '../support/fc.ts'
import { taskText as anyTask, objectText, pageText, parses, valueText } from '../support/json-text.ts'
import { allowedMs, processorMs } from '../support/processor.ts'
import { makeScratch } from '../support/scratch.ts'
import { SOAK } from '../support/soak.ts'

const DONE = new Set(['DONE'])
const LIMIT_MS = 200
const SOAK_MS = 12_000

/** As the service sent them when the mirror of 0.1.0 was made. */
const REAL = (
  JSON.parse(readFileSync(new URL('../golden/0.1.0.service.json', import.meta.url), 'utf8')) as { list: string[] }
).list.filter((text) => text.length < 20_000)
const EXAMPLE = readFileSync(new URL('../../config/task-mirror.example.json', import.meta.url), 'utf8')

const TOKENS = [
  ...['e5', '\\u0041', '\\ud800', 'true', 'null', '"id":', '"data":{', '"__proto__":1,', '1e400'],
  ...['://', '?token=x', '&sig=y', '%41', '//', '\\\\', 'Cookie: a=b\r\n', '"authorization":"x",', '9'.repeat(20)],
  ...'"\\{}[],:0-. \n\r\t\u0000\u001b\u0085é\u202e@#%',
]

/** One of `texts` with something taken out, put in, doubled or repeated, several times. */
function damaged(texts: readonly string[]): fc.Arbitrary<string> {
  const blow = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 200 })),
    insert: fc.oneof(fc.constantFrom(...TOKENS), fc.string({ unit: 'binary', maxLength: 3 })),
    times: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat({ max: 2_000 }) }),
  })
  return fc.tuple(fc.constantFrom(...texts), fc.array(blow, { maxLength: 4 })).map(([text, blows]) => {
    let result = text
    for (const { at, remove, insert, times } of blows) {
      const place = Math.floor(at * result.length)
      result = result.slice(0, place) + insert.repeat(times) + result.slice(place + remove)
    }
    return result
  })
}

/** `runs` of them, which take about a second; in a soak as many as its time is enough for. */
function fuzz<T>(runs: number, input: fc.Arbitrary<T>, work: (value: T) => void): void {
  const most = allowedMs(LIMIT_MS)
  const timed = (value: T): void => {
    const took = processorMs(() => work(value))
    expect(took, 'ms of processor time').toBeLessThan(most)
  }
  const soak = { interruptAfterTimeLimit: SOAK_MS, markInterruptAsFailure: false, numRuns: 1_000_000_000 }
  fc.assert(fc.property(input, timed), SOAK ? soak : { numRuns: runs })
}

/** What `work` gives, or the reason for which it refuses. Anything but a `MirrorError` is a crash. */
function outcome<T>(work: () => T): T | { refused: unknown } {
  try {
    return work()
  } catch (error) {
    if (error instanceof MirrorError) return { refused: error.facts.reason ?? error.code }
    throw error
  }
}

test('the decoder: two ways read the same, and what comes in comes out', () => {
  const pages = REAL.map((_, at) => pageText(REAL.slice(at, at + 3)))
  const made = fc.array(fc.oneof(anyTask, valueText, damaged(REAL)), { maxLength: 4 }).map(pageText)
  fuzz(300, fc.oneof(damaged(pages), made), (text) => {
    const raw = Buffer.from(text)
    const window = outcome(() => prepareWindow(raw, DONE))
    const parsed = outcome(() => parseAll(raw, DONE))
    if ('refused' in window || 'refused' in parsed) {
      expect(window).toEqual(parsed)
      return
    }
    const [one, other] = [withHashes(window), withHashes(parsed)]
    expect(Buffer.from(one.hashes)).toEqual(Buffer.from(other.hashes))
    expect([one.ids, one.moments, one.flags]).toEqual([other.ids, other.moments, other.flags])
    const unfit = new Set(one.unfit.map(([index]) => index))
    for (let index = 0; index < one.count; index += 1) {
      if (unfit.has(index)) continue
      const row = rowOf(listedTask(one, index).bytes)
      const again = readItemText(taskText(row))
      expect(again.kind === 'task' && sameContent(shapeTask(again.task), row)).toBe(true)
    }
    outcome(() => readDetail(raw))
  })
})

test('the redactor: headers and extra of any form', () => {
  const headers = REAL.flatMap((text) => {
    const { data, result } = JSON.parse(text) as Record<string, { header?: unknown } | undefined>
    return [data?.header, result?.header].flatMap((header) => (header === undefined ? [] : [JSON.stringify(header)]))
  })
  const redactor = new Redactor(redactionOf(DEFAULTS.export.redactHeaders))
  fuzz(2_000, fc.oneof(damaged(headers), valueText, objectText(fc.constant([]))), (text) => {
    for (const redact of [(given: string) => redactor.header(given), (given: string) => redactor.extra(given)]) {
      const redacted = outcome(() => redact(text))
      if (typeof redacted !== 'string') expect(redacted.refused).toBe('mirror-damaged')
      else if (parses(text)) expect(parses(redacted), redacted).toBe(true)
    }
  })
})

test('URLs: the host stays, user and password go', () => {
  const urls = REAL.flatMap((text) => (JSON.parse(text) as { data?: { url?: string } }).data?.url ?? [])
  const secret = urls.map((url) => url.replace('://', '://user:CANARY@'))
  fuzz(
    5_000,
    fc.oneof(damaged(urls), damaged(secret), fc.webUrl({ withQueryParameters: true }), fc.string()),
    (url) => {
      const before = URL.parse(url)
      const redacted = redactUrl(url)
      if (before === null) return
      expect(hostOf(redacted)).toBe(hostOf(url))
      if (before.password !== '') expect(URL.parse(redacted)?.password).toBe('')
    },
  )
})

test('what is printed: nothing in it is obeyed', () => {
  fuzz(5_000, fc.oneof(damaged(REAL), fc.string({ unit: 'binary' })), (text) => {
    expect(printable(text)).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u)
    // Nothing is printed with line breaks of others beside its strings.
    if (parses(text) && !text.includes('\r')) expect(JSON.parse(printable(text))).toEqual(JSON.parse(text))
  })
})

test('the configuration: any file is read or refused with its name', () => {
  using scratch = makeScratch()
  const file = scratch.path('task-mirror.json')
  fuzz(500, fc.oneof(damaged([EXAMPLE, '{}', '{"service":{"baseUrl":"https://a.example"}}']), valueText), (text) => {
    writeFileSync(file, text)
    try {
      loadConfig({ file, env: {}, overrides: [] })
    } catch (error) {
      expect(isMirrorError(error, 'config-invalid'), String(error)).toBe(true)
      expect((error as Error).message).toContain(file)
    }
  })
})
