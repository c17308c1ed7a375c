// The text of `doctor`. Pure.
import type { Check } from '../../doctor/check.ts'
import { asCalled, countText } from '../../shown.ts'
import { pairs } from './layout.ts'

/** `command`: how the user calls this program. */
export function doctorText(checks: readonly Check[], width?: number, command = 'task-mirror'): string {
  const lines = pairs(
    checks.map(({ name, state, found, todo }) => [
      `${state.padEnd(5)}  ${name}`,
      todo === null ? found : `${found}\nto do: ${asCalled(todo, command)}`,
    ]),
    width,
  )
  const wrong = checks.filter(({ state }) => state === 'wrong').length
  return `${lines}\n\n${wrong === 0 ? 'Nothing is wrong.' : `${countText(wrong, 'thing is', 'things are')} wrong.`}`
}
