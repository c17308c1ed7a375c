// moto's server as the store of the tests: it knows conditions, uploads and encryption by itself, so nothing is added. Started by
// `npm run test:s3`; a test has it for itself.
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { ask, type Backend } from './backend.ts'

export async function motoBackend(url: string): Promise<Backend> {
  const { status } = await fetch(`${url}/moto-api/reset`, { method: 'POST' })
  if (status !== 200) throw new Error(`moto's server did not forget what was before: HTTP ${status}`)
  const credentials = { accessKeyId: 'made-up', secretAccessKey: 'made-up' }
  const client = new S3Client({ endpoint: url, region: 'us-east-1', forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: 'lake' }))
  return {
    answer: (request) => ask(Number(new URL(url).port), request),
    async keys() {
      const found: string[] = []
      for (let token: string | undefined; ; ) {
        const page = await client.send(new ListObjectsV2Command({ Bucket: 'lake', ContinuationToken: token }))
        found.push(...(page.Contents ?? []).map(({ Key }) => Key as string))
        token = page.NextContinuationToken
        if (token === undefined) return found.sort()
      }
    },
    async object(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: 'lake', Key: key }))
      return Buffer.from((await Body?.transformToByteArray()) as Uint8Array)
    },
    async uploads() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: 'lake' }))
      return Uploads.map(({ Key }) => Key as string)
    },
    stop: async () => client.destroy(),
  }
}
