// The service of a mirror that was kept: the account as it stood when the mirror was made.
import { serveTexts } from '../support/text-service.ts'

/** The account of a kept mirror, as `NAME.service.json` holds it. */
export interface Service {
  /** JSON texts in list order. */
  list: string[]
  /** JSON texts by id, where the detail differs from the listed form. */
  details: Record<string, string>
}

export const idOf = (text: string): unknown => (JSON.parse(text) as { id?: unknown }).id

/** Serves the account as it stood when the mirror was made, in windows of at most 100. */
export function serve({ list, details }: Service) {
  const byId = new Map<unknown, string>([
    ...list.map((text) => [idOf(text), text] as const),
    ...Object.entries(details),
  ])
  return serveTexts({
    list: (skip, take) => list.slice(skip, skip + Math.min(take, 100)),
    detail: (id) => byId.get(id),
  })
}
