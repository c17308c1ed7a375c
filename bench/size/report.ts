// What a run of bench:size found, as its part of docs/scale.md. Pure.
import { busyNote, markdownTable } from '../document.ts'
import type { Answer, Layout } from './duckdb.ts'

export interface Size {
  at: string
  machine: string
  cores: number
  /** Load average at the beginning and at the end. */
  load: (number | null)[]
  tasks: number
  mirrorBytes: number
  phases: { name: string; ms: number; cpuMs: number | null; peakMb: number | null; more: string }[]
  layout: Layout
  feedBytes: number
  duckdb: Answer[]
  /** Null where it could not be had. */
  spark: { version: string; answers: Answer[] } | null
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
    `(${bytes(layout.groupPlainBytes)} before compression). ${busyNote(size.load, size.cores)}`.trim(),
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
    'A month is one file: the others are not opened. Spark counts the rows of the row groups that statistics and bloom filters leave,',
    'DuckDB those that were found.',
    '',
    outlook(size),
  ].join('\n')
}

/** What 100 million and a billion tasks would be, by the figures of this run. */
function outlook({ tasks, mirrorBytes, layout, phases, duckdb }: Size): string {
  // Processor time, where it is known: seconds depend on what else the machine does.
  const timeOf = (name: string) => {
    const { cpuMs, ms } = phases.find((phase) => phase.name.startsWith(name))!
    return (cpuMs ?? ms) / 1000
  }
  const by = (wanted: number) => {
    const times = wanted / tasks
    return {
      mirror: bytes(mirrorBytes * times),
      snapshot: bytes(layout.bytes * times),
      files: count(Math.ceil((layout.bytes * times) / 256e6)),
      sync: duration(timeOf('first sync') * times),
      export: duration(timeOf('snapshot') * times),
      question: duration(duckdb[0]!.seconds * times),
    }
  }
  const one = by(1e8)
  const ten = by(1e9)
  const feed = seconds(timeOf('feed'))
  return [
    `Calculated from this, **100 million tasks** are a mirror of ${one.mirror} and a snapshot of ${one.snapshot} (at least ${one.files} files). One machine with a`,
    `local disk of three times the mirror holds them. A first sync takes ${one.sync} of processor time, and more because the index of ids no longer fits`,
    `into memory; a full snapshot ${one.export}; a feed of ${count(10_000)} changes ${feed}; a question about everything ${one.question}.`,
    '',
    `**A billion tasks** would be ${ten.mirror} of mirrors and ${ten.snapshot} of Parquet (${ten.files} files). One mirror would need ${ten.sync} of processor time for a first`,
    `sync and ${ten.export} for a snapshot: keep [one per account](#many-accounts), on several machines. Publish full snapshots seldom; a lake table`,
    'takes in the feeds by `MERGE`, and its engine compacts its files (`rewrite_data_files` in Iceberg, `OPTIMIZE` in Delta). A question',
    `about everything would take two cores ${ten.question}.`,
    '',
  ].join('\n')
}

function duration(value: number): string {
  if (value < 120) return `${Math.round(value)} s`
  if (value < 7200) return `${Math.round(value / 60)} min`
  return value < 172_800 ? `${Math.round(value / 3600)} h` : `${Math.round(value / 86_400)} days`
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
