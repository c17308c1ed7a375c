// Entry of the export's second thread: one cut, asked for one key range after the other.
import { Moved, serve } from '../../threads/serve.ts'
import { codeOf } from '../formats.ts'
import { Redactor } from '../read/redact.ts'
import { type CutReader, openCut } from '../read/rows.ts'
import { keyRangePacker, type PackKeyRange } from './pieces.ts'
import type { SecondWork } from './second-thread.ts'

let cut: CutReader | null = null
let redactor: Redactor | null = null
let packer: Promise<PackKeyRange> | null = null

const work: SecondWork = {
  load: async (format) => void (await codeOf(format)),

  open(path, filters) {
    cut?.close()
    cut = openCut(path, filters)
  },

  async begin(packing, redact) {
    redactor = new Redactor(redact)
    // No pauses: nobody else waits for this thread.
    packer = keyRangePacker(cut as CutReader, redactor, packing, async () => {})
    await packer
  },

  async pack(keyRange) {
    // If `begin` failed, this throws its error once more.
    const pack = await (packer as Promise<PackKeyRange>)
    const packed = await pack(keyRange)
    return { packed, counts: (redactor as Redactor).counts() }
  },
}

let before: Promise<unknown> = Promise.resolve()
serve((method, args) => {
  const answer = before.then(async () => {
    const result = await (work[method as keyof SecondWork] as (...given: unknown[]) => unknown)(...args)
    return method === 'pack' ? packedMoved(result as Awaited<ReturnType<SecondWork['pack']>>) : null
  })
  before = answer.catch(() => {})
  return answer
})

/** Transfers the memory behind the result instead of copying it. */
function packedMoved(result: Awaited<ReturnType<SecondWork['pack']>>): Moved {
  const { packed } = result.packed
  return new Moved(result, packed === null ? [] : [packed.content.bytes.buffer as ArrayBuffer])
}
