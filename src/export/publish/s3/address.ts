// `s3://bucket/prefix` and what the environment says about reaching it.
import { Agent } from 'node:https'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import { MirrorError } from '../../../errors.ts'
import { TLS } from '../../../http-policy.ts'

interface S3Address {
  bucket: string
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string
}

/** Throws `usage-invalid`. */
export function s3Address(url: string): S3Address {
  const [, bucket, path = ''] = /^s3:\/\/([^/]+)\/*(.*)$/i.exec(url) ?? []
  const prefix = path.replace(/\/+$/, '')
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
  const isBucket = bucket !== undefined && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)
  if (!isBucket || prefix.split('/').some((part) => /^\.{0,2}$/.test(part) && prefix !== '')) {
    throw new MirrorError('usage-invalid', `"${url}" is not a place in object storage`, {
      hint: 'Write it as s3://bucket/prefix; a bucket has 3 to 63 small letters, digits, dots and hyphens.',
    })
  }
  return { bucket, prefix }
}

/**
 * How to reach the storage. Credentials, profiles and `AWS_ENDPOINT_URL(_S3)` are read by the library itself. Other
 * stores than Amazon's mostly know buckets only as the first part of the path, and any region.
 */
export function s3ClientConfig(env: NodeJS.ProcessEnv): S3ClientConfig {
  const hasEndpoint = Boolean(env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL)
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || (hasEndpoint ? 'us-east-1' : undefined)
  const pathStyle = env.AWS_S3_FORCE_PATH_STYLE
  return {
    ...(region === undefined ? {} : { region }),
    ...(env.AWS_MAX_ATTEMPTS ? {} : { maxAttempts: 8 }),
    forcePathStyle: pathStyle ? /^(1|true|yes)$/i.test(pathStyle) : hasEndpoint,
    // A redirect to another region is refused as any other: explain.ts says to set the region.
    followRegionRedirects: false,
    // Other stores refuse the checksums that the library adds by default since 3.729. Bodies are signed all the same.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      ...{ connectionTimeout: 10_000, requestTimeout: 120_000, throwOnRequestTimeout: true },
      httpsAgent: new Agent({ keepAlive: true, maxSockets: 50, ...TLS }),
    },
  }
}
