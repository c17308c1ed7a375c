// What a run of bench:peers found, as the tables of README.md and docs/comparison.md. Pure.
import { busyNote, markdownTable } from '../document.ts'

/** One run of one contender. */
export interface Run {
  ms: number
  /** User and system time of all its processes, ms; null where it failed. */
  cpuMs: number | null
  /** Of all its processes together, MB. */
  peakMb: number
  requests: number
  /** Its last words where it failed. */
  failed: string | null
  /** It said by itself that something may be missing. */
  isPartial: boolean
}

/** A run in a world, and what its table held afterwards. */
export interface Rows {
  run: Run
  /** Listed from before the run to its end, and not stored. */
  missing: number
  /** Came while it read, and not stored. */
  newMissing: number
  /** Stored with another status than the service shows. */
  stale: number
  /** Stored, and no longer listed. */
  gone: number
  /** By kind of number: tasks whose digits did not come back. */
  lost: Record<string, number>
}

export interface PeerResult {
  name: string
  setting: string
  speed: { first: Run; again: Run; far: Run; rows: number }[]
  worlds: Record<string, { first: Rows; again: Rows | null }>
}

export interface Results {
  at: string
  machine: string
  cores: number
  /** Load average before and after what has seconds. */
  load: (number | null)[]
  tasks: number
  farTasks: number
  latencyMs: number
  repeats: number
  versions: Record<string, string>
  peers: PeerResult[]
}

const FAILED = 'fails'

/** One line per peer; where its two settings differ, the usual one first. */
export function readmeTable(results: Results): string {
  const { tasks, peers } = results
  const loop = peers.find(({ name }) => name.startsWith('a plain loop'))!
  const names = [...new Set(peers.map(({ name }) => name))]
  const lines = names.map((name) => {
    const both = peers.filter((peer) => peer.name === name)
    const cell = (of: (peer: PeerResult) => string) => [...new Set(both.map(of))].join(' / ')
    return [
      name,
      cell((peer) => ratio(median(loop, 'first') / median(peer, 'first'))),
      cell((peer) =>
        firstOf(
          peer,
          (speed) => speed.again,
          ({ requests }) => count(requests),
        ),
      ),
      cell((peer) => missingIn(peer, 'capped')),
      cell((peer) => missingIn(peer, 'deletes')),
      cell(digitsOf),
    ]
  })
  return [
    `Measured on ${results.at.slice(0, 10)}, ${count(tasks)} tasks, a service on the same machine. Two values: the usual settings / the best ones. ${busyNote(results.load, results.cores)}`.trim(),
    '',
    markdownTable(
      [
        '',
        'speed, plain loop = 1',
        'requests of a second run, nothing new',
        'rows missing, pages capped at 100',
        'rows missing, list moves',
        'digits',
      ],
      lines,
    ),
  ].join('\n')
}

export function comparisonTables(results: Results): string {
  const { peers, tasks, farTasks, latencyMs, repeats, load } = results
  const speed = peers.map((peer) => [
    nameOf(peer),
    timed(peer, 'first'),
    timed(peer, 'again'),
    firstOf(
      peer,
      (speed) => speed.again,
      ({ requests }) => count(requests),
    ),
    timed(peer, 'far'),
    `${Math.round(Math.max(...peer.speed.flatMap(({ first, again, far }) => [first, again, far]).map(({ peakMb }) => peakMb)))} MB`,
    firstOf(
      peer,
      (speed) => speed.first,
      () => count(tasks - peer.speed[0]!.rows),
    ),
  ])
  const rows = peers.map((peer) => [
    nameOf(peer),
    both(peer, 'capped', ({ missing }) => missing),
    both(peer, 'inserts', ({ missing }) => missing),
    both(peer, 'deletes', ({ missing }) => missing),
    afterChanges(peer),
  ])
  const kinds = Object.keys({ ...peers[0]?.worlds.digits?.first.lost, ...peers[0]?.worlds.long?.first.lost })
  const digits = peers.map((peer) => [nameOf(peer), ...kinds.map((kind) => lostOf(peer, kind))])
  const loads = load.map((value) => value ?? '?').join(' to ')
  return [
    `Measured on ${results.at.slice(0, 10)}: ${results.machine}, load average ${loads}, medians of ${repeats}. In brackets processor time. ${busyNote(load, results.cores)}`.trim(),
    `${Object.values(results.versions).join('; ')}.`,
    '',
    markdownTable(
      [
        `speed, ${count(tasks)} tasks`,
        'first sync',
        'second, nothing new',
        'its requests',
        `${count(farTasks)} at ${latencyMs} ms`,
        'peak memory',
        'rows missing',
      ],
      speed,
    ),
    markdownTable(
      [
        'rows, after the first run / after the second',
        'pages capped at 100: missing',
        'one insert in ten requests: missing',
        'one deletion in ten requests: missing',
        '50 finish, 20 come, 30 go between the runs',
      ],
      rows,
    ),
    markdownTable(['digits lost, of 500 tasks each', ...kinds], digits),
  ].join('\n')
}

function nameOf({ name, setting }: PeerResult): string {
  return `${name}, ${setting}`
}

function median({ speed }: PeerResult, which: 'first' | 'again' | 'far'): number {
  const sorted = speed.map((turn) => turn[which].ms).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function timed(peer: PeerResult, which: 'first' | 'again' | 'far'): string {
  const cpu = peer.speed.map((turn) => turn[which].cpuMs ?? Number.NaN).sort((a, b) => a - b)
  const cpuMs = cpu[Math.floor(cpu.length / 2)] ?? Number.NaN
  return firstOf(
    peer,
    (speed) => speed[which],
    () => `${number(median(peer, which) / 1000)} s (${number(cpuMs / 1000)} s)`,
  )
}

function firstOf(peer: PeerResult, which: (speed: PeerResult['speed'][number]) => Run, text: (run: Run) => string) {
  const run = which(peer.speed[0]!)
  return peer.speed.some((speed) => which(speed).failed !== null) ? FAILED : text(run)
}

function missingIn(peer: PeerResult, world: string): string {
  const { run, missing } = peer.worlds[world]!.first
  return run.failed === null ? told(count(missing), run) : FAILED
}

function both(peer: PeerResult, world: string, of: (rows: Rows) => number): string {
  const { first, again } = peer.worlds[world]!
  return [first, ...(again === null ? [] : [again])]
    .map((rows) => (rows.run.failed === null ? told(count(of(rows)), rows.run) : FAILED))
    .join(' / ')
}

function afterChanges(peer: PeerResult): string {
  const { run, stale, newMissing, missing, gone } = peer.worlds.changed!.again!
  if (run.failed !== null) return FAILED
  return told(`${stale} stale, ${newMissing + missing} missing, ${gone} stored though deleted`, run)
}

function told(text: string, { isPartial }: Run): string {
  return isPartial ? `${text} (says partial)` : text
}

function lostOf(peer: PeerResult, kind: string): string {
  const found = [peer.worlds.digits!.first, peer.worlds.long!.first].find(({ lost }) => kind in lost)!
  return found.run.failed === null ? count(found.lost[kind]!) : FAILED
}

/** In a word or two: which kinds of numbers lose digits. */
function digitsOf(peer: PeerResult): string {
  const { digits, long } = peer.worlds
  if (digits!.first.run.failed !== null) return FAILED
  const lost = Object.entries(digits!.first.lost).filter(([, tasks]) => tasks > 0)
  if (lost.some(([kind]) => kind.startsWith('integers'))) return 'rounded from 17 on'
  if (long!.first.run.failed !== null) return 'fails at 30'
  if (Object.values(long!.first.lost).some((tasks) => tasks > 0)) return 'rounded at 30'
  return lost.length > 0 ? 'integers kept' : 'all kept'
}

function count(value: number): string {
  return value.toLocaleString('en')
}

function ratio(value: number): string {
  return value.toFixed(2)
}

function number(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value))
}
