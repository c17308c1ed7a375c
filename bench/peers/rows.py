"""Prints the rows of a peer's table as lines of JSON: [id, status, all values as one text]. `rows.py FILE TABLE`.

Run by the peer's own Python, because a file of DuckDB is read by the DuckDB that wrote it.
"""

import json
import sys

path, table = sys.argv[1:3]
if path.endswith(".duckdb"):
    import duckdb

    cursor = duckdb.connect(path, read_only=True).execute(f"SELECT * FROM {table}")
else:
    import sqlite3

    cursor = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(f"SELECT * FROM {table}")
names = [column[0].lower().replace("_", "") for column in cursor.description]
row_id, status = names.index("id"), names.index("systemstatus")
while rows := cursor.fetchmany(1000):
    for row in rows:
        print(json.dumps([row[row_id], row[status], " ".join(str(value) for value in row)]))
