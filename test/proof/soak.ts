// A part of `npm run test:soak`: the small worlds with a reading and a change more, up to SOAK_WORLDS (1,000,000) of each
// scope, and what takes too long for every test run. The exit code is 1 where a false claim was accepted.
import { LONG, QUICK } from './scopes.ts'
import { search } from './small-worlds.ts'

const most = Number(process.env.SOAK_WORLDS ?? 1_000_000)
let worlds = 0
let claims = 0
for (const [name, { needs, ...scope }] of Object.entries({ ...QUICK, ...LONG })) {
  const larger = name in LONG ? scope : { ...scope, readings: scope.readings + 1, changes: scope.changes + 1 }
  const result = search({ name, ...larger }, undefined, most)
  worlds += result.worlds
  claims += result.claims
  const excused = JSON.stringify(result.excused)
  const end = result.worlds >= most ? 'so far' : 'all'
  console.log(`${name}: ${result.worlds} worlds (${end}), ${result.claims} claims, broken assumptions ${excused}`)
  if (result.found !== null) {
    console.log(`FALSE CLAIM\n${result.found.steps.join('\n')}`)
    process.exitCode = 1
  }
  if (!(name in LONG)) continue
  for (const condition of needs) {
    if (search({ name, ...scope }, condition).found !== null) continue
    console.log(`Nothing needs "${condition}"`)
    process.exitCode = 1
  }
}
console.log(`${worlds} worlds, ${claims} claims offered`)
