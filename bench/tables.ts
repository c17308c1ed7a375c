// Results as tables for people; Markdown, so that they can be put into docs/performance.md as they are.
import type { Spread } from './measure.ts'
import type { Bar, Row } from './stage.ts'

export function rowTables(rows: readonly Row[]): string {
  const groups = [...new Set(rows.map(({ group }) => group))]
  return groups
    .map((group) =>
      table(
        [group, 'time', 'of', 'tasks/s', 'CPU', 'peak', 'requests', 'read', 'bytes/task'],
        rows.filter((row) => row.group === group).map(cells),
      ),
    )
    .join('\n')
}

function cells({ name, ms, cpuMs, peakMb, requests, wireBytes, tasksPerSecond, bytesPerTask }: Row): string[] {
  return [
    name,
    `${time(ms.median)} ${spread(ms)}`,
    String(ms.of),
    tasksPerSecond === null ? '' : Math.round(tasksPerSecond).toLocaleString('en'),
    cpuMs === null ? '' : time(cpuMs.median),
    peakMb === null ? '' : `${Math.round(peakMb.most)} MB`,
    requests === null ? '' : String(Math.round(requests.median)),
    wireBytes === null ? '' : `${(wireBytes.median / 1e6).toFixed(1)} MB`,
    bytesPerTask === null ? '' : String(Math.round(bytesPerTask)),
  ]
}

export function barTable(bars: readonly Bar[]): string {
  return table(
    ['bar', 'measured', 'asked', ''],
    bars.map(({ name, value, unit, atLeast, atMost, met }) => [
      name,
      `${number(value)} ${unit}`,
      atLeast !== undefined ? `>= ${number(atLeast)}` : atMost !== undefined ? `<= ${number(atMost)}` : '',
      atLeast === undefined && atMost === undefined ? '' : met ? 'met' : 'missed',
    ]),
  )
}

function table(head: readonly string[], body: readonly string[][]): string {
  const widths = head.map((name, i) => Math.max(3, name.length, ...body.map((line) => line[i]!.length)))
  const line = (texts: readonly string[]) => `| ${texts.map((text, i) => text.padEnd(widths[i]!)).join(' | ')} |\n`
  return line(head) + line(widths.map((width) => '-'.repeat(width))) + body.map(line).join('')
}

function time(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`
}

function spread({ least, most, of }: Spread): string {
  return of === 1 ? '' : `(${time(least)} - ${time(most)})`
}

function number(value: number): string {
  return value < 10 ? value.toFixed(2) : String(Math.round(value))
}
