// What object storage must promise: encryption that is answered for, and no plain http beyond this machine.
import type { S3Client, ServerSideEncryption } from '@aws-sdk/client-s3'
import { MirrorError } from '../../../errors.ts'
import { refusePlainHttp } from '../../../http-policy.ts'
import type { S3Settings } from '../store.ts'

export interface Encryption {
  /** Parameters of every call that begins an object. */
  asked: { ServerSideEncryption?: ServerSideEncryption; SSEKMSKeyId?: string }
  /** Throws `snapshot-unwritable` where the answer to such a call does not say that the object is encrypted so. */
  check(answer: { ServerSideEncryption?: string | undefined }): void
}

/** Storages without encryption ignore the header in silence: only their answer tells. `place` is for the message. */
export function encryptionOf(
  settings: Pick<S3Settings, 'encryption' | 'kmsKeyId'> | undefined,
  place: string,
): Encryption {
  const { encryption = null, kmsKeyId = null } = settings ?? {}
  if (encryption === null) return { asked: {}, check: () => undefined }
  const wanted: ServerSideEncryption = encryption === 'sse-s3' ? 'AES256' : 'aws:kms'
  const key = encryption === 'sse-kms' && kmsKeyId !== null ? { SSEKMSKeyId: kmsKeyId } : {}
  return {
    asked: { ServerSideEncryption: wanted, ...key },
    check({ ServerSideEncryption: said }) {
      if (said === wanted) return
      throw new MirrorError('snapshot-unwritable', `${place} was not encrypted as export.s3.encryption asks`, {
        facts: { place, asked: wanted, answered: said ?? null },
        hint: 'Use a storage that encrypts, or set export.s3.encryption to null. What was written is removed.',
      })
    },
  }
}

/** Checks where each request of `client` goes, whatever profile or variable named the endpoint. */
export function refuseInsecure(client: S3Client, insecureHosts: readonly string[]): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const to = args.request as Pick<URL, 'protocol' | 'hostname'>
      refusePlainHttp(to, {
        what: 'tasks',
        setting: 'AWS_ENDPOINT_URL_S3',
        allowance: 'export.s3.insecureHosts to a list with its host',
        isAllowed: insecureHosts.includes(to.hostname),
      })
      return next(args)
    },
    { step: 'finalizeRequest', name: 'taskMirrorHttpPolicy', priority: 'high' },
  )
}
