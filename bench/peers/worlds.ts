// The services beside which a peer is judged by its rows: lists that are capped, move or change, and numbers with many
// digits. The simulator answers; what is right afterwards is read from its account.
import { startSimulator } from '../../src/simulator/server.ts'

export interface World {
  /** Base address. */
  url: string
  /** Requests so far. */
  requests(): number
  /** Ids of the list as it is, with their status. */
  listed(): Map<string, string>
  /** Changes the account between two runs, where the world has such changes. */
  change(): void
  /** For each id the digits its row has to hold, by kind; empty where the world has none. */
  digits: Map<string, Record<string, string>>
  close(): Promise<void>
}

export interface WorldKind {
  name: string
  tasks: number
  /** The most a window holds; the best settings are told. */
  page: number
  options: Parameters<typeof startSimulator>[0]
  /** Whether a second run follows. */
  isReadTwice: boolean
  /** What happens between the first and the second run. */
  changes?: { finished: number; inserted: number; deleted: number }
  /** Which numbers each task carries. */
  numbers?: Record<string, (n: bigint) => string>
}

/** Kinds of worlds for `tasks` tasks in the ones that move. */
export function worldKinds(
  tasks: number,
): Record<'capped' | 'inserts' | 'deletes' | 'changed' | 'digits' | 'long', WorldKind> {
  return {
    capped: {
      name: 'pages capped at 100',
      tasks: Math.min(tasks, 20_000),
      page: 100,
      options: { capItems: 100 },
      isReadTwice: false,
    },
    inserts: {
      name: 'one insert in ten requests',
      tasks,
      page: 1000,
      options: { insertsPerRequest: 0.1, openInserts: 0 },
      isReadTwice: false,
    },
    deletes: {
      name: 'one deletion in ten requests',
      tasks,
      page: 1000,
      options: { deletesPerRequest: 0.1 },
      isReadTwice: true,
    },
    changed: {
      name: 'changes between two runs',
      tasks: Math.min(tasks, 5000),
      page: 1000,
      options: { openFraction: 0.02 },
      isReadTwice: true,
      changes: { finished: 50, inserted: 20, deleted: 30 },
    },
    digits: {
      name: 'digits',
      tasks: 500,
      page: 1000,
      options: {},
      isReadTwice: false,
      numbers: {
        'integers of 17 digits': (n) => `"orderNo":${90_071_992_547_409_931n + 16n * n}`,
        'a zero behind the point': (n) => `"ratio":${70_010n + n}.0`,
        '19 decimals': (n) => `"share":0.${1_234_567_890_123_400_001n + n}`,
      },
    },
    long: {
      name: 'integers of 30 digits',
      tasks: 500,
      page: 1000,
      options: {},
      isReadTwice: false,
      numbers: { 'integers of 30 digits': (n) => `"serial":${123_456_789_012_345_678_901_234_567_001n + n}` },
    },
  }
}

export async function startWorld(kind: WorldKind): Promise<World> {
  const simulator = await startSimulator({
    seed: 7,
    tasks: kind.tasks,
    openFraction: 0,
    newest: Date.now() - 3_600_000,
    compression: 'none',
    ...kind.options,
  })
  const { account } = simulator
  const digits = new Map<string, Record<string, string>>()
  if (kind.numbers !== undefined) {
    account.ids().forEach((id, place) => {
      const members = Object.entries(kind.numbers!).map(([name, member]) => [name, member(BigInt(place))] as const)
      digits.set(id, Object.fromEntries(members.map(([name, member]) => [name, member.split(':')[1]!])))
      account.replaceText(
        id,
        withNumbers(
          account.get(id)!,
          members.map(([, member]) => member),
        ),
      )
    })
  }
  return {
    url: simulator.url,
    requests: () => simulator.requests,
    listed: () => new Map(account.ids().map((id) => [id, statusOf(account.get(id)!)])),
    change() {
      if (kind.changes === undefined) return
      account.finish(kind.changes.finished)
      account.insert(kind.changes.inserted, { where: 'front' })
      account.remove(kind.changes.deleted)
    },
    digits,
    close: () => simulator.close(),
  }
}

/** The text of a task with members put first into the body of its result. */
function withNumbers(text: string, members: readonly string[]): string {
  return text.replace('"result":{"body":{', (start) => `${start}${members.join(',')},`)
}

function statusOf(text: string): string {
  return /"systemStatus":"([^"]*)"/.exec(text)![1]!
}
