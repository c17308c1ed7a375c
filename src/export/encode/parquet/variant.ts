// JSON text as Parquet's VARIANT, by hyparquet-writer. What a double cannot carry is rounded.
import type { SchemaElement, SchemaTree } from 'hyparquet'
import type { ByteWriter } from 'hyparquet-writer'
import { writeColumn } from 'hyparquet-writer/src/column.js'
import { encodeNestedValues } from 'hyparquet-writer/src/dremel.js'
import { schemaPathResolver } from 'hyparquet-writer/src/schema.js'
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import { encodeVariantColumn } from 'hyparquet-writer/src/variant.js'
import { COMPRESSORS } from './codecs.ts'
import type { Codec } from './engine.ts'

/** Writes the leaves of the column `name`; null is a missing value, the text `null` JSON's own. */
export function writeVariant(
  writer: ByteWriter,
  name: string,
  texts: readonly (string | null)[],
  { schema, codec, pageSize }: { schema: SchemaElement[]; codec: Codec; pageSize: number },
): PageIndexes[] {
  const values = texts.map((text) => (text === null ? undefined : JSON.parse(text)))
  const rows = encodeVariantColumn(values, undefined, { name, required: false })
  const resolve = schemaPathResolver(schema)
  return ['metadata', 'value'].map((leaf) => {
    const path: SchemaTree[] = resolve([name, leaf])
    const schemaPath = path.map((node) => node.element)
    return writeColumn({
      writer,
      column: {
        columnName: `${name}.${leaf}`,
        element: schemaPath.at(-1)!,
        schemaPath,
        codec,
        compressors: COMPRESSORS,
        // Statistics repeat values in the clear.
        stats: false,
        columnIndex: false,
        offsetIndex: true,
        pageSize,
      },
      pageData: encodeNestedValues(path, rows as never),
    })
  })
}
