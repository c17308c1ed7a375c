// List and detail compared, on the writing side: the sample, what it shows of all tasks, and rows that owe a detail.
import { compareForms, differingFields, missingFields } from '../../mirror/forms/differences.ts'
import { judgeSample, withoutEven } from '../../mirror/forms/form-votes.ts'
import { canHaveMore, type Forms } from '../../mirror/forms/forms.ts'
import { rowBytes } from '../../mirror/row-bytes.ts'
import { type Facts, readFacts, writeFacts } from '../../mirror/tables/facts.ts'
import type { Detail } from '../../service/decode/wire.ts'
import type { Task } from '../../task.ts'
import { learnedBy } from '../learned-forms.ts'
import { comparedOf, FormSample, itemOf, type SampledItem, type SampleRequest } from './form-sample.ts'
import { isFinal, storedTask } from './intake.ts'
import type { Writing } from './writing.ts'

/** An item to be asked for by id. */
type SampleTask = Pick<SampledItem, 'id' | 'place' | 'isFinal'>

/** How the tasks that were compared differ. */
export interface ComparedForms {
  /** How many there were, and whether one of them was final. */
  tasks: number
  hasFinal: boolean
  /** Names of fields that the list leaves out, and of all that differ. */
  missing: string[]
  differing: string[]
  /** What is known of all tasks, this comparison included. */
  forms: Forms
}

/** So many rows of the mirror are compared where no item of the list can be. */
const HELD = 6
/** Rows looked through in one transaction. */
const SWEEP = 2_000

export function formIntake(writing: Writing, details: Map<number, Detail>) {
  const { db, tables, compared } = writing

  return {
    beginSample(request: SampleRequest): void {
      writing.sample = new FormSample(request)
    },

    /**
     * The items that were chosen; they are compared until `endSample`. If none was ever compared, a few rows of the
     * mirror are added: a run that was cut off may have taken in what the list no longer shows, and may not have shown
     * whole.
     */
    sampled(): SampleTask[] {
      const items = writing.sample.items()
      writing.sample = new FormSample()
      const held = readFacts(db).forms_compared === undefined ? fewHeld(writing) : []
      for (const item of held) if (items.length < HELD && !items.some(({ id }) => id === item.id)) items.push(item)
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
      forms.details.push(item.task)
      return compareForms(forms.listed[0] as Task, item.task).length > 0
    },

    /** Stores what the sample showed (`learnedBy`). Returns changed facts, and how many final tasks had no result. */
    endSample(isTold: boolean, now: number): { learned: Facts; unfinished: number } {
      const sample = [...compared.values()]
      compared.clear()
      const judged = judgeSample(sample, writing.rules.forms)
      const { final, open, unfinished } = judged
      const forms = withoutEven(judged.forms, sample)
      const answered = sample.filter(({ details: found }) => found.length > 0)
      const bodies = answered.map((task) => task.bodies)
      const signs = answered.flatMap((task) => task.signs)
      // What was taken for a way to show a task may have been another state of it.
      const isOver =
        forms.uneven.length < judged.forms.uneven.length || forms.summary.length < judged.forms.summary.length
      for (let from: number | null = isOver ? 0 : null; from !== null; )
        from = writing.commit(() => tables.tasks.forgetListed(from as number, SWEEP))
      const counted = { final, open, unfinished }
      const learned = learnedBy({ at: now, isTold, ...counted, forms, bodies, signs }, readFacts(db))
      writing.commit(() => writeFacts(db, learned, now))
      writing.renewRules()
      return { learned, unfinished }
    },

    /** What the comparison has shown, by the last reads of list and detail. Stores nothing, and ends the comparison. */
    comparedForms(): ComparedForms {
      const tasks = [...compared.values()].filter(({ details: found }) => found.length > 0)
      compared.clear()
      const names = (of: (listed: Task, detail: Task) => string[]): string[] =>
        [...new Set(tasks.flatMap((task) => of(task.listed.at(-1) as Task, task.details.at(-1) as Task)))].sort()
      return {
        tasks: tasks.length,
        hasFinal: tasks.some((task) => task.isFinal),
        missing: names(missingFields),
        differing: names(differingFields),
        forms: judgeSample(tasks, writing.rules.forms).forms,
      }
    },

    /** Owes details of the next rows that can have more than the list shows. Returns where to go on, or null. */
    sweep(from: number, now: number): number | null {
      return writing.commit(() => {
        const { seqs, next } = tables.tasks.withoutDetail(from, SWEEP)
        for (const seq of seqs) {
          const task = storedTask(tables.tasks.read(seq))
          if (canHaveMore(task, writing.rules.forms)) tables.owed.owe(task.id, 'detail', now)
        }
        writeFacts(db, { summary_sweep: next ?? undefined } as Facts, now)
        return next
      })
    },
  }
}

/** Some rows of the mirror for which no detail has been taken in. */
function fewHeld({ tables, rules }: Writing): SampledItem[] {
  return tables.tasks.withoutDetail(0, HELD).seqs.map((seq) => {
    const row = tables.tasks.read(seq)
    return itemOf({ id: row.id, final: isFinal(storedTask(row), rules.finalStatuses), bytes: rowBytes(row) }, 0)
  })
}
