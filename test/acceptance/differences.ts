// What a copy lacks, has too much, or tells otherwise than the service. Pure: scripts use it as well as tests.
import { canonical } from '../support/json-canon.ts'

export interface Differences {
  /** Ids the service holds and the copy does not. */
  missing: string[]
  /** Ids the copy holds and the service does not. */
  extra: string[]
  /** Both have it, but not the same text. */
  altered: { service: string; copy: string }[]
  tasks: number
}

/** `lines` are tasks as JSON texts; equal means the same members, and numbers with the same digits. */
export function differences(expected: ReadonlyMap<string, string>, lines: Iterable<string>): Differences {
  const left = new Map(expected)
  const found: Differences = { missing: [], extra: [], altered: [], tasks: 0 }
  for (const copy of lines) {
    found.tasks += 1
    const { id } = JSON.parse(copy) as { id: string }
    const service = left.get(id)
    left.delete(id)
    if (service === undefined) found.extra.push(id)
    else if (service !== copy && canonical(service) !== canonical(copy)) found.altered.push({ service, copy })
  }
  return { ...found, missing: [...left.keys()] }
}
