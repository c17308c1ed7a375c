// The text of `probe`. Pure.
import prettyMilliseconds from 'pretty-ms'
import { countText, grouped } from '../../shown.ts'
import type { Finding } from '../../sync/probe/answers.ts'
import { type ProbeResult, QUESTIONS } from '../../sync/probe/probe.ts'
import { table } from './layout.ts'

export function probeText({ answers, requests, durationMs }: ProbeResult, width?: number): string {
  const rows = Object.entries(QUESTIONS).map(([name, question]) => {
    const finding = answers[name as keyof typeof QUESTIONS]
    return [question, answerText(name, finding), finding.seen]
  })
  const options = { widest: 110, sentences: [0, 1, 2], width }
  const asked = `${countText(requests, 'request')} in ${prettyMilliseconds(durationMs)}; stored in service_facts.`
  return `${table(['question', 'answer', 'what was seen'], rows, options)}\n\n${asked}`
}

function answerText(name: string, { value }: Finding): string {
  if (value === null) return name === 'limits' ? 'not seen' : 'cannot tell'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' ? grouped(value) : value
}
