// List and detail compared, on the writing side: the sample, what it shows of all tasks, and rows that owe a detail.
import { compareForms, differingFields, type FormDifference, isLess } from '../../mirror/forms/differences.ts'
import { type JudgedSample, judgeSample } from '../../mirror/forms/form-votes.ts'
import { canHaveMore } from '../../mirror/forms/forms.ts'
import { rowBytes } from '../../mirror/row-bytes.ts'
import { shapeTask } from '../../mirror/shape.ts'
import { type Facts, readFacts, writeFacts } from '../../mirror/tables/facts.ts'
import type { Detail } from '../../service/decode/wire.ts'
import type { Task } from '../../task.ts'
import { type ComparedTask, comparedOf, FormSample, itemOf, MOST_SIGNS, type SampledItem } from './form-sample.ts'
import { isAnother, isFinal, storedTask } from './intake.ts'
import type { Writing } from './writing.ts'

/** What a comparison has shown, by the last reads of list and detail. */
export interface ComparedForms {
  /** How many tasks were compared, and whether one of them was final. */
  tasks: number
  hasFinal: boolean
  /** Names of fields that the list leaves out, and of all that differ. */
  missing: string[]
  differing: string[]
  /** Facts that have changed. */
  learned: Facts
  /** How many final tasks had no result. */
  unfinished: number
  /** Something that had said nothing of a task's state says something now. */
  isOver: boolean
}

/** So many rows of the mirror are compared where no item of the list can be. */
const HELD = 6
/** Rows looked through in one transaction. */
const SWEEP = 2_000

export function formIntake(writing: Writing, details: Map<number, Detail>) {
  const { db, tables, compared } = writing

  return {
    /** Listed items are chosen from now on; `isFull`: those of a full walk, too. `seed`: of the random choice. */
    beginSample(isFull: boolean, seed: number): void {
      writing.sample = new FormSample(readFacts(db), isFull, seed)
    },

    /**
     * The items that were chosen; they are compared until `endSample`. If no final task was ever compared, a few rows of
     * the mirror are added: a run that was cut off may have taken in what this one does not meet.
     */
    sampled(): Pick<SampledItem, 'id' | 'place' | 'isFinal'>[] {
      const items = writing.sample?.items() ?? []
      writing.sample = null
      for (const item of fewHeld(writing, items)) if (!items.some(({ id }) => id === item.id)) items.push(item)
      compared.clear()
      for (const item of items) {
        const known = tables.tasks.find(item.id)
        compared.set(item.id, { ...comparedOf(item), held: known && storedTask(tables.tasks.read(known.seq)) })
      }
      return items.map(({ id, place, isFinal: final }) => ({ id, place, isFinal: final }))
    },

    /** Notes the parsed answer, which stays held, as a sampled task's detail. True where it differs from the list. */
    noteDetail(taskId: string, handle: number): boolean {
      const forms = compared.get(taskId)
      const item = details.get(handle)?.item
      if (forms === undefined || item?.kind !== 'task' || item.task.id !== taskId) return false
      if (isAnother(writing, tables.tasks.find(taskId), shapeTask(item.task))) return false
      forms.details.push(item.task)
      return compareForms(forms.listed[0] as Task, item.task).length > 0
    },

    /** Stores what the sample showed; that it was compared only where enough of it was answered. */
    endSample(isAnswered: boolean, now: number): ComparedForms {
      const tasks = [...compared.values()].filter(({ details: found }) => found.length > 0)
      compared.clear()
      const judged = judgeSample(tasks, writing.rules.forms)
      const { isOver, unfinished } = judged
      for (let from: number | null = isOver ? 0 : null; from !== null; )
        from = writing.commit(() => tables.tasks.forgetListed(from as number, SWEEP))
      const learned = learnedBy(judged, tasks, isAnswered ? now : null, readFacts(db))
      writing.commit(() => writeFacts(db, learned, now))
      writing.renewRules()
      const names = (counts?: (each: FormDifference) => boolean): string[] => {
        const differing = ({ listed, details: found }: ComparedTask) =>
          differingFields(listed.at(-1) as Task, found.at(-1) as Task, counts)
        return [...new Set(tasks.flatMap(differing))].sort()
      }
      return {
        tasks: tasks.length,
        hasFinal: tasks.some((task) => task.isFinal),
        missing: names(({ kind }) => isLess(kind)),
        differing: names(),
        learned,
        unfinished,
        isOver,
      }
    },

    /** Owes details of the next rows that can have more than the list shows. Returns where to go on, or null. */
    sweep(from: number, now: number): number | null {
      return writing.commit(() => {
        const { rules } = writing
        const { seqs, next } = tables.tasks.withoutDetail(from, SWEEP)
        for (const seq of seqs) {
          const task = storedTask(tables.tasks.read(seq))
          if (canHaveMore(task, isFinal(task, rules.finalStatuses), rules.forms))
            tables.owed.owe(task.id, 'detail', now)
        }
        writeFacts(db, { summary_sweep: next ?? undefined } as Facts, now)
        return next
      })
    },
  }
}

/** The facts that a comparison changes. `at`: when it was, epoch ms; null where too little of it was answered. */
export function learnedBy(
  { forms: { summary, uneven }, final, open, unfinished }: Omit<JudgedSample, 'isOver'>,
  tasks: Pick<ComparedTask, 'signs'>[],
  at: number | null,
  known: Facts,
): Facts {
  const learned: Facts = { uneven_fields: uneven.length > 0 ? uneven : undefined }
  if (at !== null && final + open + unfinished > 0) {
    const before = { final: 0, open: 0, longest: {}, ...known.forms_compared }
    const longest = new Map<string, number>(Object.entries(before.longest))
    for (const { signs } of tasks)
      for (const [sign, size] of signs)
        if (longest.has(sign) || longest.size < MOST_SIGNS) longest.set(sign, Math.max(size, longest.get(sign) ?? 0))
    learned.forms_compared = {
      at,
      final: before.final + final,
      open: before.open + open,
      longest: Object.fromEntries(longest),
    }
  }
  // The next sync looks for rows that owe a detail because of them.
  if (JSON.stringify(summary) !== JSON.stringify(known.summary_fields ?? []))
    Object.assign(learned, { summary_fields: summary, summary_sweep: 1 })
  return learned
}

/**
 * Rows of the mirror for which no detail has been taken in, to be compared beside `items`: final ones where none is among
 * those, and others where there are few.
 */
function fewHeld({ db, tables, rules }: Writing, items: readonly SampledItem[]): SampledItem[] {
  const before = readFacts(db).forms_compared
  if ((before?.final ?? 0) > 0) return []
  const hasFinal = items.some((item) => item.isFinal)
  const held: SampledItem[] = []
  let finals = hasFinal ? 0 : HELD
  let others = before === undefined ? HELD - items.length : 0
  for (const seq of tables.tasks.withoutDetail(0, SWEEP).seqs) {
    if (finals <= 0 && others <= 0) break
    const row = tables.tasks.read(seq)
    const final = isFinal(storedTask(row), rules.finalStatuses)
    if (final && finals > 0) finals -= 1
    else if (others > 0) others -= 1
    else continue
    // A walk that meets tasks for the first time stores them in the order of the list.
    held.push(itemOf({ id: row.id, final, bytes: rowBytes(row) }, seq - 1))
  }
  return held
}
