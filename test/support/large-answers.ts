// A service in a thread of its own that answers every window and every id with one large body.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

export interface LargeAnswers {
  url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** `list` is what a window from 0 on is answered with, `detail` what any id is; both are JSON texts. */
export async function serveLarge(list: string, detail = '{"statusCode":404}'): Promise<LargeAnswers> {
  const worker = new Worker(SERVER, { eval: true, workerData: { list, detail } })
  const [port] = (await once(worker, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  }
}

const SERVER = `
const { createServer } = require('node:http')
const { parentPort, workerData } = require('node:worker_threads')
const list = Buffer.from(workerData.list)
const detail = Buffer.from(workerData.detail)
const empty = Buffer.from('{"statusCode":200,"message":"OK","body":{"items":[]}}')
createServer((request, response) => {
  let asked = ''
  request.on('data', (chunk) => { asked += chunk })
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(request.method === 'GET' ? detail : JSON.parse(asked).skip === 0 ? list : empty)
  })
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })
`
