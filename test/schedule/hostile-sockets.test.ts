// A thousand sockets that want to keep the status server busy: silent ones, slow ones, ones that ask and never read. The
// health check answers all the while. SOAK=1 holds it to five seconds, for 30 s each; on an idle machine it takes far less.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { startServer } from '../../src/schedule/server.ts'
import { few, SOAK } from '../support/soak.ts'

const HOSTILE = 1000
/** How soon is a question to a machine that has nothing else to do: elsewhere every check is answered, sooner or later. */
const LIMIT_MS = SOAK ? 5000 : Number.POSITIVE_INFINITY
const LASTS_MS = SOAK ? 30_000 : 300

const KINDS = [
  'silent',
  'half a head',
  'a byte now and then',
  'asks and never reads',
  'asks ten times at once and never reads',
  'asks a hundred times at once',
  'asks, reads it all and comes again at once',
  'half a head, then a hundred',
  'a body without end',
  null,
]

// The last is all of them at once.
test.each(few(KINDS, (kind) => kind === null || kind === 'asks a hundred times at once'))(
  'the health check answers beside 1,000 sockets: %s',
  async (kind) => {
    const page = { html: 'x'.repeat(300_000), policy: '' }
    const server = await startServer(
      '127.0.0.1:0',
      { hosts: [], token: null },
      { health: () => ({ ok: true, reason: null }), metrics: async () => 'up 1\n', page: () => page },
    )
    const workerData = { port: Number(new URL(server.url).port), kind, count: HOSTILE }
    const attackers = new Worker(new URL('./hostile-sockets.ts', import.meta.url), { workerData })
    try {
      await once(attackers, 'message')
      const times: number[] = []
      const until = performance.now() + LASTS_MS
      while (performance.now() < until) {
        const begun = performance.now()
        const answer = await fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })
        expect(await answer.json()).toEqual({ ok: true, reason: null })
        times.push(performance.now() - begun)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      times.sort((a, b) => a - b)
      const longest = times.at(-1) as number
      if (SOAK)
        console.log(
          `${kind}: ${times.length} checks, median ${times[times.length >> 1]?.toFixed(0)} ms, longest ${longest.toFixed(0)} ms`,
        )
      expect(longest).toBeLessThan(LIMIT_MS)
    } finally {
      await attackers.terminate()
      await server.close()
    }
  },
)
