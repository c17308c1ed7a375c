// A part of `npm run test:soak`: the first SOAK_WORLDS small worlds (100,000) of every scope, and of each with a reading and a change more,
// and with two readings more of which one brings nothing by mistake; SOAK_WORLDS=Infinity goes to the end of each. And the conditions that
// take too long for every test run. Each search has a number; SOAK_FROM (1) goes on with that one. The exit code is 1 where a false claim
// was accepted, or nothing needs a condition.
import { LONG, QUICK } from './scopes.ts'
import { type Scope, search } from './small-worlds.ts'

const most = Number(process.env.SOAK_WORLDS ?? 100_000)
const from = Number(process.env.SOAK_FROM ?? 1)
let searches = 0
let worlds = 0
let claims = 0
function searched(scope: Scope): void {
  searches += 1
  if (searches < from) return
  const result = search(scope, undefined, most)
  worlds += result.worlds
  claims += result.claims
  const end = result.worlds >= most ? 'so far' : 'all'
  const excused = JSON.stringify(result.excused)
  console.log(
    `${searches} ${scope.name}: ${result.worlds} worlds (${end}), ${result.claims} claims, broken assumptions ${excused}`,
  )
  if (result.found === null) return
  console.log(`FALSE CLAIM\n${result.found.steps.join('\n')}`)
  process.exitCode = 1
}

for (const [name, { needs: _, known: __, ...scope }] of Object.entries(QUICK)) {
  searched({ name, ...scope })
  searched({ name: `${name}, larger`, ...scope, readings: scope.readings + 1, changes: scope.changes + 1 })
}
for (const [name, { needs: _, known: __, ...scope }] of Object.entries({ ...QUICK, ...LONG }))
  searched({ name: `${name}, and a mistake`, ...scope, readings: scope.readings + 2, mistakes: 1 })
for (const [name, { needs, ...scope }] of Object.entries(LONG)) {
  searched({ name, ...scope })
  for (const condition of needs) {
    if (search({ name, ...scope }, condition).found !== null) continue
    console.log(`Nothing needs "${condition}"`)
    process.exitCode = 1
  }
}
console.log(`${worlds} worlds, ${claims} claims offered`)
