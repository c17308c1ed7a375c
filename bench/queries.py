"""Runs every statement of docs/queries.md as it stands there, and writes below each how long it took.

    python bench/queries.py FOLDER     # holds task-mirror.sqlite and lake/, published with --partition-by month

Needs duckdb, pytz, pandas and polars beside Python's own sqlite3, which is the one that Datasette uses. Each is run three
times; the shortest is told. DuckDB's extension for SQLite is downloaded by DuckDB: where that is not possible the page says so.
"""

import datetime
import os
import re
import sqlite3
import sys
import time
from pathlib import Path

import duckdb
import pandas
import polars

PAGE = Path(__file__).parent.parent / "docs" / "queries.md"
BLOCK = re.compile(r"^```(sql|python) ([a-z-]+)\n(.*?)^```\n(?:\n\*(?:\d{4}-|Not run )[^\n]*\*\n)?", re.M | re.S)

os.chdir(sys.argv[1])
mirror = sqlite3.connect("file:task-mirror.sqlite?mode=ro", uri=True)
tasks = mirror.execute("SELECT count(*) FROM tasks").fetchone()[0]
duck = duckdb.connect()
names = {}
runners = {
    "sqlite": lambda text: mirror.execute(text, {"path": "$.n"} if ":path" in text else {}).fetchall(),
    "duckdb": lambda text: duck.execute(text).fetchall(),
    "duckdb-sqlite": lambda text: duckdb.connect().execute("INSTALL sqlite; LOAD sqlite; " + text).fetchall(),
    "pandas": lambda text: exec(text, names),
    "polars": lambda text: exec(text, names),
}
versions = {
    "sqlite": f"SQLite {sqlite3.sqlite_version}",
    "duckdb": f"DuckDB {duckdb.__version__}",
    "duckdb-sqlite": f"DuckDB {duckdb.__version__}",
    "pandas": f"pandas {pandas.__version__}, SQLite {sqlite3.sqlite_version}",
    "polars": f"polars {polars.__version__}",
}
slowest = 0.0


def timed(run, text):
    started = time.perf_counter()
    run(text)
    return time.perf_counter() - started


def told(match):
    global slowest
    language, kind, text = match.groups()
    fence = f"```{language} {kind}\n{text}```\n"
    today = datetime.date.today().isoformat()
    try:
        took = min(timed(runners[kind], text) for _ in range(3))
    except duckdb.IOException as error:
        print("not run", kind, str(error).splitlines()[0], file=sys.stderr)
        return f"{fence}\n*Not run by hand: the extension could not be downloaded there.*\n"
    slowest = max(slowest, took)
    seconds = "under 0.01" if took < 0.01 else f"{took:.2g}"
    return f"{fence}\n*{today}, {tasks:,} tasks: {seconds} s ({versions[kind]}).*\n"


text = PAGE.read_text()
PAGE.write_text(BLOCK.sub(told, text))
print(f"slowest: {slowest:.2g} s")
