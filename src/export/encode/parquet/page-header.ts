// What stands before each page of a column. The library's own function does the same, but loads its reader as well.
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'

type PageEncoding = 'PLAIN' | 'PLAIN_DICTIONARY'

/** The numbers that the format has for them. */
const PAGE = { DATA_PAGE: 0, DICTIONARY_PAGE: 2 }
const ENCODING = { PLAIN: 0, PLAIN_DICTIONARY: 2, RLE: 3 }

/** Sizes of a page in bytes. */
interface PageSizes {
  plain: number
  packed: number
}

/** For a page of version 1; nulls count as values. */
export function writeDataPageHeader(
  writer: ByteWriter,
  { plain, packed }: PageSizes,
  values: number,
  encoding: PageEncoding,
): void {
  serializeTCompactProtocol(writer, {
    field_1: PAGE.DATA_PAGE,
    field_2: plain,
    field_3: packed,
    // Definition and repetition levels are in the third and fourth.
    field_5: { field_1: values, field_2: ENCODING[encoding], field_3: ENCODING.RLE, field_4: ENCODING.RLE },
  })
}

export function writeDictionaryPageHeader(writer: ByteWriter, { plain, packed }: PageSizes, values: number): void {
  serializeTCompactProtocol(writer, {
    field_1: PAGE.DICTIONARY_PAGE,
    field_2: plain,
    field_3: packed,
    field_7: { field_1: values, field_2: ENCODING.PLAIN_DICTIONARY },
  })
}
