// Reads the Prometheus text format with a parser by somebody else.
import { createRequire } from 'node:module'

interface Family {
  name: string
  metrics: { value: string; labels?: Record<string, string> }[]
}

const parse: (text: string) => Family[] = createRequire(import.meta.url)('parse-prometheus-text-format')

/** Values by name and labels' values, such as `task_mirror_tasks live`. */
export function samplesOf(text: string): Map<string, number> {
  return new Map(
    parse(text).flatMap(({ name, metrics }) =>
      metrics.map(({ value, labels = {} }) => [[name, ...Object.values(labels)].join(' '), Number(value)] as const),
    ),
  )
}
