// s3rver as the store of the tests. It knows neither conditions nor the listing and ending of uploads nor encryption: these are
// added here as Amazon describes them.
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { type Answer, ask, type Backend, failure, type Request } from './backend.ts'

export async function s3rverBackend(): Promise<Backend> {
  const directory = mkdtempSync(join(tmpdir(), 'task-mirror-s3-'))
  const s3rver = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    // It signs the path of a bucket with a slash at its end, where the library signs it without.
    allowMismatchedSignatures: true,
    directory,
    configureBuckets: [{ name: 'lake', configs: [] }],
  })
  const { port } = await s3rver.run()
  const keys = () => objectsIn(directory)
  const object = (key: string) => readFileSync(join(directory, 'lake', `${key}._S3rver_object`))
  const uploads = new Map<string, string>()

  async function answer(request: Request): Promise<Answer> {
    const { method, headers } = request
    const { pathname, searchParams: query } = new URL(request.url, 'http://x')
    const key = decodeURIComponent(pathname.replace('/lake/', ''))
    const uploadId = query.get('uploadId')
    if (method === 'PUT' && headers['if-none-match'] === '*' && keys().includes(key)) {
      return failure(412, 'PreconditionFailed')
    }
    if (method === 'PUT' && headers['if-match'] !== undefined) {
      if (!keys().includes(key)) return failure(404, 'NoSuchKey')
      const tag = createHash('md5').update(object(key)).digest('hex')
      if (headers['if-match'] !== `"${tag}"`) return failure(412, 'PreconditionFailed')
    }
    if (method === 'GET' && query.has('uploads')) return listOf(uploads, query)
    if (uploadId !== null && !uploads.has(uploadId)) return failure(404, 'NoSuchUpload')
    if (method === 'DELETE' && uploadId !== null) {
      uploads.delete(uploadId)
      return { status: 204, headers: {}, body: Buffer.alloc(0) }
    }
    const result = await ask(port, request)
    const begun = /<UploadId>(\w+)<\/UploadId>/.exec(result.body.toString())?.[1]
    if (query.has('uploads') && begun) uploads.set(begun, key)
    if (method === 'POST' && uploadId !== null && result.status === 200) uploads.delete(uploadId)
    const encryption = headers['x-amz-server-side-encryption']
    if (encryption !== undefined) result.headers['x-amz-server-side-encryption'] = encryption
    return result
  }

  return {
    answer,
    keys: async () => keys(),
    object: async (key) => object(key),
    uploads: async () => [...uploads.values()],
    async stop() {
      s3rver.httpServer.closeAllConnections()
      await new Promise((resolve) => s3rver.httpServer.close(resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** As many uploads as a page holds. */
const PAGE = 2

/** A page in the order of keys, behind the markers, as Amazon gives them, whose pages hold a thousand. */
function listOf(uploads: Map<string, string>, query: URLSearchParams): Answer {
  const [prefix, key, marker] = ['prefix', 'key-marker', 'upload-id-marker'].map((name) => query.get(name) ?? '')
  const behind = [...uploads]
    .filter(([id, one]) => one.startsWith(prefix!) && (one > key! || (one === key && marker !== '' && id > marker!)))
    .sort(([a, one], [b, other]) => (`${one} ${a}` < `${other} ${b}` ? -1 : 1))
  const page = behind.slice(0, PAGE)
  const [id, last] = page.at(-1) ?? []
  const isTruncated = behind.length > PAGE
  const markers = `<NextKeyMarker>${last}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`
  const items = page.map(([id, key]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`)
  const parts = [`<IsTruncated>${isTruncated}</IsTruncated>`, isTruncated ? markers : '', ...items].join('')
  const body = `<?xml version="1.0"?><ListMultipartUploadsResult>${parts}</ListMultipartUploadsResult>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
}

function objectsIn(directory: string): string[] {
  const bucket = join(directory, 'lake')
  return readdirSync(bucket, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('._S3rver_object'))
    .map((name) => name.replace('._S3rver_object', ''))
    .sort()
}
