// The text of a listed task that shows less than its detail: without some fields, or with long bodies cut. Pure.
import { isObject, parseExact } from '../json.ts'
import type { JsonObject, JsonValue } from '../task.ts'
import type { SimulatorOptions } from './options.ts'

/** Whether listed tasks show all that a whole task does. */
export function isListWhole({ listOmits, listNulls, listBodyBytes }: SimulatorOptions): boolean {
  return listOmits.length + listNulls.length === 0 && listBodyBytes === 0
}

/** `text`: a whole task as JSON. */
export function listedTextOf(
  text: string,
  { listOmits, listNulls, listBodyBytes, listLongBodies }: SimulatorOptions,
): string {
  const task = parseExact(text) as JsonObject
  for (const path of listOmits) leaveOut(task, path.split('.'))
  for (const path of listNulls) leaveOut(task, path.split('.'), null)
  for (const part of ['data', 'result']) {
    const holder = task[part]
    if (listBodyBytes === 0 || !isObject(holder) || holder.body === undefined) continue
    const body = bodyText(holder.body)
    if (Buffer.byteLength(body) <= listBodyBytes) continue
    if (listLongBodies === 'cut') holder.body = beginning(body, listBodyBytes)
    else delete holder.body
    if (listLongBodies === 'mark') task.truncated = true
  }
  return JSON.stringify(task)
}

const bodyText = (body: JsonValue): string => (typeof body === 'string' ? body : JSON.stringify(body))

function leaveOut(value: JsonValue | undefined, [name, ...below]: string[], instead?: null): void {
  if (!isObject(value) || name === undefined || !Object.hasOwn(value, name)) return
  if (below.length > 0) leaveOut(value[name], below, instead)
  else if (instead === null) value[name] = null
  else delete value[name]
}

/** As many whole characters as fit into `bytes` bytes of UTF-8. */
function beginning(text: string, bytes: number): string {
  const cut = Buffer.from(text).subarray(0, bytes).toString()
  return cut.replace(/\ufffd+$/, '')
}
