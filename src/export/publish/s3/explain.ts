// What an error of the object storage, or of its library, means for the snapshot.
import { isMirrorError, MirrorError } from '../../../errors.ts'

interface StorageError extends Error {
  code?: string
  $metadata?: { httpStatusCode?: number; attempts?: number }
}

const DENIED =
  /^(AccessDenied|AllAccessDisabled|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|Forbidden)$/

/** `place` is for the message, `signal` ends the work. An error that is not the storage's comes back as it is. */
export function explainS3(place: string, error: unknown, signal?: AbortSignal): unknown {
  if (isMirrorError(error) || !(error instanceof Error)) return error
  const { name, code, message, $metadata: metadata } = error as StorageError
  // After an abort, reading a body says only that its connection has gone.
  if (signal?.aborted || name === 'AbortError') {
    return new MirrorError('interrupted', `The work at ${place} was interrupted`, {
      hint: 'Run the same command again.',
    })
  }
  const status = metadata?.httpStatusCode
  const detail = { facts: { place, system: code ?? name, status, attempts: metadata?.attempts }, cause: error }
  const unwritable = (what: string, hint: string) =>
    new MirrorError('snapshot-unwritable', `${place} cannot be used: ${what}`, { ...detail, hint })
  if (name === 'NoSuchBucket') return unwritable('there is no such bucket', 'Create the bucket, or name another one.')
  if (/ProviderError/.test(name)) {
    return unwritable(
      'no credentials were found',
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile with AWS_PROFILE.',
    )
  }
  if (/^Region is missing/.test(message)) return unwritable('no region is set', 'Set AWS_REGION.')
  if (/^Region not accepted/.test(message))
    return unwritable(
      'its region is not the name of one',
      'Set AWS_REGION to the region of the bucket, such as us-east-1.',
    )
  if (status === 301 || status === 307) {
    return unwritable(
      'the bucket is in another region',
      'Set AWS_REGION to the region of the bucket: redirects are not followed.',
    )
  }
  if (DENIED.test(name) || status === 401 || status === 403) {
    return unwritable(
      `the storage refuses access (${name})`,
      'Check the credentials; they need to list, read, write and delete below the prefix.',
    )
  }
  // Neither an answer of the storage nor trouble with the network: it is a bug, and is not explained away.
  if (status === undefined && code === undefined && !/Timeout|Network|Socket/i.test(name)) return error
  return unwritable(
    `${message || name}${status === undefined ? '' : ` (HTTP ${status})`}`,
    'Check the endpoint and the network, and run the same command again.',
  )
}

/** The name of what the storage answered with, such as `NoSuchKey`; empty for anything else. */
export function s3ErrorName(error: unknown): string {
  const answered = unexplained(error)
  return answered instanceof Error ? answered.name : ''
}

/** The HTTP status of the answer; 0 for anything else. */
export function s3Status(error: unknown): number {
  return (unexplained(error) as StorageError | null)?.$metadata?.httpStatusCode ?? 0
}

const unexplained = (error: unknown): unknown => (isMirrorError(error) ? unexplained(error.cause) : error)
