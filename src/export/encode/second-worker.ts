// Entry of the export's second thread: one cut, asked for one key range after the other.
import { parentPort, workerData } from 'node:worker_threads'
import { isMirrorError } from '../../errors.ts'
import { codeOf, type Format } from '../formats.ts'
import { makeRedactor, type Redactor } from '../read/redact.ts'
import { type CutReader, openCut } from '../read/rows.ts'
import type { Packed } from './packed.ts'
import { keyRangePacker, type PackKeyRange } from './pieces.ts'
import type { Answer, Ask } from './second-thread.ts'

const port = parentPort as NonNullable<typeof parentPort>
let cut: CutReader | null = null
let redactor: Redactor | null = null
let pack: PackKeyRange | null = null

// Before the first question is taken, and while the main thread loads the same.
await codeOf(workerData as Format)

let before: Promise<void> = Promise.resolve()
port.on('message', (question: Ask) => {
  before = before.then(() => answer(question))
})

async function answer(question: Ask): Promise<void> {
  try {
    const result = await done(question)
    const reply: Answer = { result, counts: redactor?.counts() ?? {} }
    port.postMessage(reply, result === null || result.packed === null ? [] : [bufferOf(result.packed)])
  } catch (error) {
    port.postMessage(failure(error))
  }
}

async function done(question: Ask) {
  if (question.kind === 'pack') return (pack as PackKeyRange)(question.keyRange)
  if (question.kind === 'open') {
    cut?.close()
    cut = openCut(question.path, question.filters)
  } else {
    redactor = makeRedactor(question.redact)
    // Nobody else is waiting on this thread.
    pack = await keyRangePacker(cut as CutReader, redactor, question.packing, async () => {})
  }
  return null
}

/** The memory behind it, which is handed over rather than copied. */
function bufferOf({ content }: Packed): ArrayBuffer {
  return content.bytes.buffer as ArrayBuffer
}

function failure(error: unknown): Answer {
  if (isMirrorError(error)) {
    const { code, message, hint, facts } = error
    return { error: { code, message, facts, ...(hint !== undefined && { hint }) } }
  }
  const crash = error instanceof Error ? error : new Error(String(error))
  return { crash: { message: crash.message, stack: crash.stack } }
}
