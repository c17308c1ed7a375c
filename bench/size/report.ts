// What a run of bench:size found, as its part of docs/scale.md. Pure.
import { markdownTable } from '../document.ts'
import type { Answer, Layout } from './duckdb.ts'

export interface Size {
  at: string
  machine: string
  /** Load average at the beginning and at the end. */
  load: (number | null)[]
  tasks: number
  mirrorBytes: number
  phases: { name: string; ms: number; cpuMs: number | null; peakMb: number | null; more: string }[]
  layout: Layout
  feedBytes: number
  duckdb: Answer[]
  /** Null where it could not be had. */
  spark: { version: string; answers: Answer[]; peakMb: number | null } | null
}

export function sizeTables(size: Size): string {
  const { layout, tasks, mirrorBytes, spark } = size
  const loads = size.load.map((value) => value ?? '?').join(' to ')
  const plural = (value: number, one: string) => `${count(value)} ${one}${value === 1 ? '' : 's'}`
  const read = (answer: Answer | undefined) =>
    answer === undefined
      ? ['', '', '']
      : [`${seconds(answer.seconds)}`, `${answer.numFiles ?? '?'} of ${layout.files}`, count(answer.numOutputRows ?? 0)]
  const inSpark = (name: string) => spark?.answers.find((answer) => answer.name === name)
  return [
    `Measured on ${size.at.slice(0, 10)} by \`npm run bench:size\`: ${count(tasks)} tasks, ${size.machine}, load average ${loads}.`,
    `Mirror ${bytes(mirrorBytes)} (${Math.round(mirrorBytes / tasks)} bytes a task). Snapshot ${bytes(layout.bytes)} in`,
    `${plural(layout.files, 'file')} of ${plural(layout.partitions, 'month')}, the largest ${bytes(layout.largestFile)};`,
    `${plural(layout.rowGroups, 'row group')} of ${count(Math.round(layout.groupRows))} rows, ${bytes(layout.groupBytes)} each`,
    `(${bytes(layout.groupPlainBytes)} before compression).`,
    '',
    markdownTable(
      ['step', 'time', 'processor', 'peak memory', ''],
      size.phases.map(({ name, ms, cpuMs, peakMb, more }) => [
        name,
        seconds(ms / 1000),
        cpuMs === null ? '' : seconds(cpuMs / 1000),
        peakMb === null ? '' : `${Math.round(peakMb)} MB`,
        more,
      ]),
    ),
    markdownTable(
      [
        'question',
        'DuckDB',
        'files read',
        'rows from the scan',
        spark === null ? 'Spark' : `Spark ${spark.version}`,
        'files read',
        'rows from the scan',
      ],
      size.duckdb.map((answer) => {
        const isOfAll = answer.name.startsWith('current state')
        const [time, files, rows] = read(answer) as [string, string, string]
        return [answer.name, time, isOfAll ? '' : files, rows, ...read(inSpark(answer.name))]
      }),
    ),
  ].join('\n')
}

function seconds(value: number): string {
  return `${value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : Math.round(value)} s`
}

function bytes(value: number): string {
  return value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${(value / 1e6).toFixed(1)} MB`
}

function count(value: number): string {
  return value.toLocaleString('en')
}
