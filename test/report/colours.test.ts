// Colours of the charts: seen on their background, and told apart by readers who lack one kind of cones. Distances are taken
// in Oklab (Ottosson 2020), what such readers see is simulated as Machado, Oliveira and Fernandes (2009) do at full severity.
import { expect, test } from 'vitest'
import { STYLE } from '../../src/report/style.ts'

type Triple = [number, number, number]
type Matrix = [Triple, Triple, Triple]

const SEEN_BY: Record<string, Matrix> = {
  everybody: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopes: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopes: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopes: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}
const LMS: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
]
const LAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
]
const times = (matrix: Matrix, [x, y, z]: Triple): Triple => matrix.map(([a, b, c]) => a * x + b * y + c * z) as Triple

function linear(hex: string): Triple {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
  return parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as Triple
}

function oklab(light: Triple): Triple {
  const clipped = light.map((c) => Math.min(1, Math.max(0, c))) as Triple
  return times(LAB, times(LMS, clipped).map(Math.cbrt) as Triple)
}

function contrast(one: string, other: string): number {
  const luminance = (hex: string) => linear(hex).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i]!, 0)
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const schemes = [...STYLE.matchAll(/:root \{([^}]*)\}/g)]
  .slice(0, 2)
  .map(([, text]) =>
    Object.fromEntries([...text!.matchAll(/--(\w+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name!, hex!])),
  )
const OUTCOMES = ['c2xx', 'c3xx', 'c4xx', 'c429', 'c5xx', 'cnone', 'cother', 'copen']

test.each([
  ['light', 0],
  ['dark', 1],
] as const)('%s: every colour of a chart stands out from the paper by 3 to 1', (_, scheme) => {
  const colours = schemes[scheme]!
  for (const name of [...OUTCOMES, 'good', 'bad', 'one', 'two', 'three'])
    expect(contrast(colours[name]!, colours.paper!), name).toBeGreaterThan(3)
  for (const name of ['text', 'soft']) expect(contrast(colours[name]!, colours.panel!), name).toBeGreaterThan(4.5)
})

test.each(
  ['light', 'dark'].flatMap((name, scheme) => Object.keys(SEEN_BY).map((readers) => [name, readers, scheme] as const)),
)('%s: %s tell the outcomes apart', (_, readers, scheme) => {
  const seen = (name: string) => oklab(times(SEEN_BY[readers]!, linear(schemes[scheme]![name]!)))
  const distance = (one: string, other: string) => Math.hypot(...seen(one).map((part, i) => part - seen(other)[i]!))
  const sets = [OUTCOMES, ['good', 'bad', 'two'], ['one', 'two', 'three'], ['c5xx', 'copen']]
  for (const names of sets)
    for (const one of names)
      for (const other of names) if (one < other) expect(distance(one, other), `${one} ${other}`).toBeGreaterThan(0.1)
})
