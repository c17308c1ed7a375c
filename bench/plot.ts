// `node bench/plot.ts RESULTS.json SVG`: cost per task over the number of tasks, one line per step of `run.ts --scale`.
import { readFileSync, writeFileSync } from 'node:fs'
import type { Row } from './stage.ts'

const WIDTH = 720
const HEIGHT = 400
const LEFT = 60
const RIGHT = 230
const TOP = 50
const BOTTOM = 50
const COLOURS = ['#868e96', '#1c7ed6', '#2b8a3e', '#e8590c', '#9c36b5']

interface Point {
  tasks: number
  /** Microseconds per task. */
  cost: number
}

const [from, to] = process.argv.slice(2) as [string, string]
const { about, rows } = JSON.parse(readFileSync(from, 'utf8')) as {
  about: { at: string; cores: number }
  rows: Row[]
}
writeFileSync(to, chart(linesOf(rows), `${about.at.slice(0, 10)}, ${about.cores} cores`))

function linesOf(all: readonly Row[]): Map<string, Point[]> {
  const lines = new Map<string, Point[]>()
  for (const { group, name, tasks, ms } of all) {
    if (!group.startsWith('scale') || tasks === null) continue
    const points = lines.get(name) ?? []
    points.push({ tasks, cost: (ms.median * 1000) / tasks })
    lines.set(name, points)
  }
  return lines
}

function chart(lines: ReadonlyMap<string, Point[]>, when: string): string {
  const points = [...lines.values()].flat()
  const sizes = [...new Set(points.map(({ tasks }) => tasks))].sort((a, b) => a - b)
  const most = Math.max(...points.map(({ cost }) => cost))
  const step = [1, 2, 5, 10, 20, 50, 100, 200].find((width) => most / width <= 6) ?? 500
  const top = Math.ceil(most / step) * step
  const [low = 1, high = 10] = [Math.log10(sizes[0]!), Math.log10(sizes.at(-1)!)]
  const x = (tasks: number) => round(LEFT + ((Math.log10(tasks) - low) / (high - low || 1)) * (WIDTH - LEFT - RIGHT))
  const y = (cost: number) => round(HEIGHT - BOTTOM - (cost / top) * (HEIGHT - TOP - BOTTOM))
  const marks: string[] = []
  for (let cost = 0; cost <= top; cost += step) {
    marks.push(`<path class="grid" d="M${LEFT} ${y(cost)}H${WIDTH - RIGHT}"/>`)
    marks.push(`<text x="${LEFT - 8}" y="${y(cost) + 4}" text-anchor="end">${cost}</text>`)
  }
  for (const size of sizes) {
    marks.push(
      `<text x="${x(size)}" y="${HEIGHT - BOTTOM + 22}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
    )
  }
  // Names at the ends of the lines, moved apart where they would cover each other.
  const ends = [...lines].map(([name, line], i) => ({ name, line, i, at: y(line.at(-1)!.cost) + 4 }))
  ends.sort((a, b) => a.at - b.at)
  ends.forEach((end, i) => {
    if (i > 0) end.at = Math.max(end.at, ends[i - 1]!.at + 16)
  })
  for (const { name, line, i, at } of ends) {
    const colour = COLOURS[i % COLOURS.length]!
    const path = line.map(({ tasks, cost }) => `${x(tasks)} ${y(cost)}`).join('L')
    marks.push(`<path class="line" stroke="${colour}" d="M${path}"/>`)
    for (const { tasks, cost } of line)
      marks.push(`<circle cx="${x(tasks)}" cy="${y(cost)}" r="3.5" fill="${colour}"/>`)
    marks.push(`<text x="${WIDTH - RIGHT + 12}" y="${at}" style="fill:${colour}">${name}</text>`)
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Microseconds per task over the number of tasks">
<style>text{font:13px system-ui,sans-serif;fill:#495057}.title{font-weight:600}.grid{stroke:#ced4da;stroke-width:.5}.line{fill:none;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#adb5bd}.grid{stroke:#495057}}</style>
<text class="title" x="${LEFT}" y="24">Microseconds per task, by number of tasks</text>
<text x="${WIDTH - 12}" y="24" text-anchor="end">${when}</text>
${marks.join('\n')}
</svg>
`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
