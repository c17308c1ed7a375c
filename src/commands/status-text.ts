// The text of `status`. Pure.
import prettyMilliseconds from 'pretty-ms'
import type { MirrorStatus, RunRow } from '../mirror/status.ts'
import { counted, grouped, moment, pairs, table } from './layout.ts'

export interface StatusFacts {
  path: string
  ageMs: number | null
  maxAge: number | null
  stale: boolean
  found: MirrorStatus
  now: number
}

export function statusText({ path, ageMs, maxAge, stale, found, now }: StatusFacts): string {
  const { tasks, owed, lastFullWalk, notBefore, frontier } = found
  const limit = maxAge === null ? '' : `, ${stale ? 'older than' : 'within'} ${spoken(maxAge)}`
  const lines = pairs([
    ['mirror', path],
    ['service', found.baseUrl],
    ['fresh', ageMs === null ? 'no complete walk yet' : `as of ${spoken(ageMs)} ago${limit}`],
    ['tasks', `${grouped(tasks.live)} live (${grouped(tasks.open)} open), ${grouped(tasks.deleted)} deleted`],
    ['set aside', tasks.setAside === 0 ? 'none' : `${counted(tasks.setAside, 'item')}; see task-mirror rejected`],
    ['owed', owedText(owed)],
    ['full walk', lastFullWalk === null ? 'none yet' : fullWalkText(lastFullWalk, now)],
    ['order', found.order ?? 'not known yet'],
    ['frontier', frontier === null ? null : moment(frontier)],
    ['not before', notBefore !== null && notBefore > now ? `${moment(notBefore)}, as the service asked` : null],
  ])
  return found.runs.length === 0 ? lines : `${lines}\n\n${runsTable(found.runs)}`
}

function owedText({ details, candidates }: MirrorStatus['owed']): string | null {
  const parts = []
  if (details > 0) parts.push(counted(details, 'detail'))
  if (candidates > 0) parts.push(counted(candidates, 'deletion to prove', 'deletions to prove'))
  return parts.length === 0 ? null : parts.join(', ')
}

function fullWalkText(walk: NonNullable<MirrorStatus['lastFullWalk']>, now: number): string {
  const reason = walk.reason === null ? '' : ` (${walk.reason})`
  return `${walk.verdict}${reason}, ended ${spoken(Math.max(0, now - walk.finishedAt))} ago`
}

function runsTable(runs: readonly RunRow[]): string {
  return table(
    ['run', 'started', 'command', 'outcome', 'verdict', 'requests', 'inserted', 'updated', 'deleted', 'exit'],
    runs.map((run) => [
      run.id,
      moment(run.startedAt),
      run.command,
      run.outcome ?? 'running or killed',
      run.verdict ?? '',
      run.requests,
      run.inserted,
      run.updated,
      run.deleted,
      run.exitCode,
    ]),
  )
}

function spoken(ms: number): string {
  return prettyMilliseconds(ms < 1000 ? ms : Math.round(ms / 1000) * 1000, { unitCount: 2 })
}
