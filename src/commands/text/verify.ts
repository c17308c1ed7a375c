// The text of `verify`. Pure.
import prettyBytes from 'pretty-bytes'
import type { SnapshotVerified } from '../../export/verify/verify.ts'
import type { ProofVerified } from '../../mirror/maintenance/proof.ts'
import type { MirrorVerified } from '../../mirror/maintenance/verify.ts'
import { countText, grouped, moment } from '../../shown.ts'
import type { ServiceVerified } from '../../sync/one-off/verify.ts'
import { pairs, table } from './layout.ts'

export function mirrorText({ path, rows, tombstones, faults }: MirrorVerified, width?: number): string {
  const lines = pairs(
    [
      ['mirror', path],
      ['checked', `${countText(rows, 'task')}, ${grouped(tombstones)} of them deleted`],
      [
        'result',
        faults.length === 0
          ? 'nothing wrong'
          : countText(faults.length, 'invariant does', 'invariants do').concat(' not hold'),
      ],
    ],
    width,
  )
  if (faults.length === 0) return lines
  const found = faults.map(({ check, count, message, examples }) => [check, count, message, examples.join(', ')])
  return `${lines}\n\n${table(['check', 'rows', 'what is wrong', 'such as'], found, { widest: 100, width, sentences: [2, 3] })}`
}

export function proofText({ path, walks, faults }: ProofVerified, width?: number): string {
  const result =
    faults.length > 0
      ? `${countText(faults.length, 'walk is', 'walks are')} not proven`
      : walks.length > 0
        ? 'proven'
        : 'no proof'
  const parts = [
    pairs(
      [
        ['mirror', path],
        ['result', result],
      ],
      width,
    ),
  ]
  if (walks.length > 0) {
    const rows = walks.map(({ walkId, kind, finishedAt, tasks, sha256, proven }) => [
      walkId,
      kind,
      whenOf(finishedAt),
      proven.answers,
      proven.windows,
      tasks,
      restsOn(proven),
      sha256.slice(0, 12),
    ])
    const head = ['walk', 'kind', 'ended', 'answers', 'windows', 'tasks', 'rests on', 'sha256']
    parts.push(table(head, rows, { widest: 100, width, sentences: [6] }))
  }
  if (faults.length > 0) {
    const found = faults.map(({ walkId, message }) => [walkId, message])
    parts.push(table(['walk', 'what does not hold'], found, { widest: 100, width, sentences: [1] }))
  }
  return parts.join('\n\n')
}

/** A moment outside the calendar is shown as a number. */
function whenOf(at: number): string {
  return Math.abs(at) <= 8.64e15 ? moment(at) : `${at}`
}

/** What the links of a walk rest on beside what one answer shows: docs/proof.md, "Assumptions". */
function restsOn({ rests, end }: ProofVerified['walks'][number]['proven']): string {
  const links = Object.entries(rests).map(([basis, times]) => `${basis} (${times})`)
  const all = [...links, ...(end.length === 0 ? [] : [`end: ${end.join(', ')}`])]
  return all.length === 0 ? 'what answers show' : all.join('; ')
}

const SHOWN = 20

export function serviceText(result: ServiceVerified, width?: number): string {
  const { sampled, equal, different, notCompared, missing, unanswered, total } = result
  const open = different.filter(({ wasOpen }) => wasOpen).length
  const maybe = open === 0 ? '' : `, ${grouped(open)} of them open in the mirror: sync and verify again`
  const lines = pairs(
    [
      ['sample', `${countText(sampled, 'live task')}, ${grouped(equal)} equal digit for digit`],
      ['different', different.length === 0 ? null : `${countText(different.length, 'task')}${maybe}`],
      [
        'not compared',
        notCompared.length === 0 ? null : `${notCompared.join(', ')}: other from read to read, or in the list alone`,
      ],
      ['missing', missing.length === 0 ? null : countText(missing.length, 'task')],
      ['unanswered', unanswered.length === 0 ? null : countText(unanswered.length, 'task')],
      ['of all', sampled === 0 ? null : ofAllText(result)],
      [
        'in the list',
        total.service === null ? `cannot tell: ${total.why}` : `${countText(total.service, 'item')}; ${total.why}`,
      ],
      [
        'in the mirror',
        `${countText(total.mirror, 'live task')}${total.hidden === 0 ? '' : ` (${grouped(total.hidden)} not listed, but found by id)`}, ${grouped(total.setAside)} set aside`,
      ],
    ],
    width,
  )
  const rows = [
    ...different.map(({ id, fields }) => [id, 'different', fields.join(', ')]),
    ...missing.map(({ id, answer }) => [id, 'missing', answer]),
    ...unanswered.map(({ id, answer }) => [id, 'unanswered', answer]),
  ]
  if (rows.length === 0) return lines
  const more =
    rows.length > SHOWN ? `\n${countText(rows.length - SHOWN, 'more task', 'more tasks')}; --json has all of them.` : ''
  return `${lines}\n\n${table(['task', 'is', 'what'], rows.slice(0, SHOWN), { widest: 100, width, sentences: [2] })}${more}`
}

/** What the sample says of all live tasks. A sample of all of them leaves nothing to chance. */
function ofAllText({ sampled, equal, differAtMost, total }: ServiceVerified): string {
  if (sampled < total.mirror)
    return `at most ${percent(differAtMost)} are not as the service has them (95 % confidence)`
  if (equal === sampled) return 'each was compared, and is as the service has it'
  return `each was compared: ${percent(differAtMost)} are not as the service has them`
}

/** Rounded up: a bound must not promise too much. */
function percent(share: number): string {
  return `${Math.ceil(share * 1_000) / 10} %`
}

export function snapshotText({ place, snapshots, problems }: SnapshotVerified, width?: number): string {
  const rows = snapshots.map(({ snapshotId, kind, files, rows, bytes }) => [
    snapshotId,
    kind,
    files,
    rows,
    prettyBytes(bytes),
  ])
  const result = problems.length === 0 ? 'nothing wrong' : countText(problems.length, 'problem')
  const parts = [`${place}: ${countText(snapshots.length, 'snapshot')} checked, ${result}`]
  if (rows.length > 0) parts.push(table(['snapshot', 'kind', 'files', 'rows', 'size'], rows, { widest: 100, width }))
  const notes = snapshots.flatMap(({ snapshotId, deep }) => {
    if (deep === null) return []
    if (deep.notComparable !== null) return [`${snapshotId}: no row was compared. ${deep.notComparable}.`]
    return deep.known ? [] : [`${snapshotId}: the mirror has no row about it; it may have been restored or made anew.`]
  })
  if (notes.length > 0) parts.push(notes.join('\n'))
  if (problems.length > 0) {
    const found = problems
      .slice(0, SHOWN)
      .map(({ snapshotId, file, check, message }) => [snapshotId ?? '', file ?? '', check, message])
    const more =
      problems.length > SHOWN ? `\n${countText(problems.length - SHOWN, 'more problem')}; --json has all of them.` : ''
    parts.push(
      `${table(['snapshot', 'file', 'check', 'what is wrong'], found, { widest: 100, width, sentences: [3] })}${more}`,
    )
  }
  return parts.join('\n\n')
}
