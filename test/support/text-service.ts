// The service, of JSON texts that are sent byte for byte.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Listening, listening } from './listening.ts'

export interface TextService {
  /** The items of a window; null is answered with 500. */
  list(skip: number, take: number): readonly string[] | null
  /** undefined is answered with 404. */
  detail(id: string): string | undefined
}

export function serveTexts({ list, detail }: TextService): Promise<Listening> {
  return listening(
    createServer(async (request, response) => {
      const says = (status: number, body: string) =>
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(`{"statusCode":${status},"message":"","body":{${body}}}`)
      const asked = await text(request)
      if (request.method === 'GET') {
        const item = detail(decodeURIComponent(request.url!.split('/').at(-1)!))
        return item === undefined ? says(404, '') : says(200, `"item":${item}`)
      }
      const { skip, take } = JSON.parse(asked) as { skip: number; take: number }
      const items = list(skip, take)
      return items === null ? says(500, '') : says(200, `"items":[${items.join(',')}]`)
    }),
  )
}
