// The store that a target stands for. The library of an object store is loaded only where one is named.
import { MirrorError } from '../../errors.ts'
import type { ExportOptions } from '../options.ts'
import { COLUMNS } from '../read/columns.ts'
import { FolderStore } from './folder.ts'
import { filesInUse } from './in-use.ts'
import type { Store } from './store.ts'
import type { DatasetTarget } from './target.ts'

type StoreOptions = Pick<ExportOptions, 'partitionValues' | 'env' | 's3' | 'signal' | 'inUse'> & {
  dbPath?: string
}

/** Throws `usage-invalid`. */
export async function storeAt(target: Pick<DatasetTarget, 'kind' | 'out'>, options: StoreOptions): Promise<Store> {
  const fixed = Object.entries(options.partitionValues ?? {}).map(([name, value]) => fixedPartition(name, value))
  const out = [target.out.replace(/(.)\/+$/, '$1'), ...fixed].join('/')
  if (target.kind === 'folder') {
    return new FolderStore(out, options.dbPath === undefined ? [] : filesInUse(options.dbPath, options.inUse))
  }
  const { S3Store } = await import('./s3/store.ts')
  return new S3Store(out, { env: options.env ?? {}, settings: options.s3, signal: options.signal })
}

/** Characters that no file system, URL or reader of Hive partitions writes in another way. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/

function fixedPartition(name: string, value: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || !PLAIN.test(value)) {
    throw new MirrorError('usage-invalid', `--partition-value: "${name}=${value}" is not a name and a plain value`, {
      hint: 'Write it as account=acme: a name in small letters, a value of letters, digits and . _ @ + -',
    })
  }
  if (COLUMNS.some((column) => column.name === name) || /^created_(month|day)$/.test(name)) {
    throw new MirrorError('usage-invalid', `--partition-value: ${name} is a column of its own`, {
      hint: 'Take another name, such as account.',
    })
  }
  return `${name}=${value}`
}
