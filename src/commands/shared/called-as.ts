// How this program is called by whoever runs it: what is printed to be typed next has to work as it stands.
import type { Environment } from '../../config/keys.ts'

/** npm tells what it starts which of its own commands it is; the program may then be in no PATH but npm's. */
export function calledAs(env: Environment): string {
  return env.npm_command === undefined ? 'task-mirror' : 'npx task-mirror'
}
