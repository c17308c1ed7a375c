// The service of a mirror that was kept: the account as it stood when the mirror was made.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The account of a kept mirror, as `NAME.service.json` holds it. */
export interface Service {
  /** JSON texts in list order. */
  list: string[]
  /** JSON texts by id, where the detail differs from the listed form. */
  details: Record<string, string>
}

export const idOf = (text: string): unknown => (JSON.parse(text) as { id?: unknown }).id

/** Serves the account as it stood when the mirror was made, in windows of at most 100. */
export async function serve({ list, details }: Service) {
  const byId = new Map<unknown, string>([
    ...list.map((text) => [idOf(text), text] as const),
    ...Object.entries(details),
  ])
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.setHeader('content-type', 'application/json')
    if (request.method === 'POST') {
      const { skip, take } = JSON.parse(Buffer.concat(chunks).toString()) as { skip: number; take: number }
      const items = list.slice(skip, skip + Math.min(take, 100)).join(',')
      response.end(`{"statusCode":200,"message":"OK","body":{"items":[${items}]}}`)
      return
    }
    const item = byId.get(decodeURIComponent(request.url!.split('/').pop()!))
    response.statusCode = item === undefined ? 404 : 200
    response.end(
      item === undefined
        ? '{"statusCode":404,"message":"Not found"}'
        : `{"statusCode":200,"message":"OK","body":{"item":${item}}}`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
