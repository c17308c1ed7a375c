# Prints the rows of a Parquet file as pyarrow reads them: JSON, every value as text, moments as epoch milliseconds.
import json
import sys

import pyarrow
import pyarrow.parquet

table = pyarrow.parquet.read_table(sys.argv[1])
columns = []
for name in table.column_names:
    column = table.column(name)
    if pyarrow.types.is_timestamp(column.type):
        column = column.cast(pyarrow.int64())
    columns.append([None if value is None else str(value) for value in column.to_pylist()])
json.dump([list(row) for row in zip(*columns)], sys.stdout)
