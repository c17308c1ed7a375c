"""`check_datasette.py FOLDER`: Datasette on the mirror with the generated datasette.yaml, as docs/tools.md starts it. Every canned
query must be answered within its time limit and every facet be counted; counts must be those of the mirror."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from importlib.metadata import version

import yaml

lake = os.path.abspath(sys.argv[1])
with open(f"{lake}/datasette.yaml") as file:
    database = yaml.safe_load(file)["databases"]["tasks"]
mirror = sqlite3.connect(f"file:{lake}/tasks.sqlite?mode=ro", uri=True)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
base = f"http://127.0.0.1:{port}"
limits = ["--setting", "sql_time_limit_ms", "5000", "--setting", "facet_time_limit_ms", "5000"]
command = ["datasette", "-i", f"{lake}/tasks.sqlite", "-m", f"{lake}/datasette.yaml", *limits, "-p", str(port)]
server = subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


# Of the last answer, in seconds.
spent = 0.0


def tell(what: str, way: str, faults: list[str], seconds: float) -> None:
    answer = {
        "engine": "Datasette",
        "version": version("datasette"),
        "mask": "mirror",
        "what": what,
        "way": way,
        "faults": faults,
        "seconds": round(seconds, 1),
    }
    print(json.dumps(answer), flush=True)


def ask(page: str, **parameters: str) -> dict:
    global spent
    begun = time.monotonic()
    with urllib.request.urlopen(f"{base}{page}?{urllib.parse.urlencode(parameters)}", timeout=60) as response:
        answer = json.load(response)
    spent = time.monotonic() - begun
    return answer


def check(what: str, names: list[str], faults_of) -> None:
    """Asks all; a line for what is wrong, or one for all."""
    seconds, wrong = {}, False
    for name in names:
        try:
            faults = faults_of(name)
        except Exception as error:  # An answer that does not come is a finding.
            faults = [f"{type(error).__name__}: {error}"]
        seconds[name] = spent
        if faults:
            wrong = True
            tell(what, name, faults, seconds[name])
    slowest = max(seconds, key=seconds.get)
    if not wrong:
        tell(what, f"all {len(names)}, the slowest, `{slowest}`, in {seconds[slowest]:.1f} s", [], seconds[slowest])


def query(name: str) -> list[str]:
    answer = ask(f"/tasks/{name}.json", _shape="objects", path="$.requestId")
    expected = len(mirror.execute(database["queries"][name]["sql"], {"path": "$.requestId"}).fetchall())
    if answer.get("error") or not answer.get("ok", True):
        return [str(answer.get("error"))]
    return [] if len(answer["rows"]) == expected else [f"{len(answer['rows'])} rows, not {expected}"]


def facets(table: str) -> list[str]:
    answer = ask(f"/tasks/{table}.json", _shape="objects", _size="1")
    faults = [f"facet {name} timed out" for name in answer.get("facets_timed_out", [])]
    for name in database["tables"][table]["facets"]:
        counted = answer["facet_results"].get(name, {}).get("results", [])
        best = mirror.execute(f"SELECT count(*) FROM {table} WHERE {name} IS NOT NULL GROUP BY {name} ORDER BY 1 DESC LIMIT 1").fetchone()
        if (counted[0]["count"] if counted else None) != (best[0] if best else None):
            faults.append(f"{name}: {counted[:1]}, not {best}")
    return faults


try:
    for _ in range(600):
        try:
            ask("/-/versions.json")
            break
        except OSError:
            time.sleep(0.1)
    check("canned queries", list(database["queries"]), query)
    check("facets", [table for table, told in database["tables"].items() if told.get("facets")], facets)
finally:
    server.kill()
    server.wait()
