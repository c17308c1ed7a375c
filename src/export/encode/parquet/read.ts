// Reads Parquet files back with hyparquet, row group by row group. Values as the mirror has them: text, bigint or null.
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'

const DECOMPRESSORS = {
  ZSTD: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes),
  GZIP: (bytes: Uint8Array): Uint8Array => gunzipSync(bytes),
}

/** Keeps U+FEFF as the first character of a text: by default a decoder drops it as a byte order mark. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

const PARSERS = {
  /** Moments stay the 64-bit integers that they are. */
  timestampFromMilliseconds: (millis: bigint): bigint => millis,
  /** A null has no bytes. */
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && utf8.decode(bytes),
}

/** Looks into the file; throws an `Error` for what is no Parquet file, and the file system's errors. */
export async function openParquet(path: string) {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  return {
    rows: Number(metadata.num_rows),
    /** Names and texts of the footer. */
    about: Object.fromEntries((metadata.key_value_metadata ?? []).map(({ key, value = '' }) => [key, value])),
    async *rowGroups(): AsyncGenerator<Record<string, unknown>[]> {
      let rowStart = 0
      for (const { num_rows } of metadata.row_groups) {
        const rowEnd = rowStart + Number(num_rows)
        if (rowEnd === rowStart) continue
        yield await parquetReadObjects({
          file,
          metadata,
          rowStart,
          rowEnd,
          compressors: DECOMPRESSORS,
          parsers: PARSERS as never,
        })
        rowStart = rowEnd
      }
    },
  }
}
