"""`check_engines.py ENGINE FOLDER`: opens what make-lake.ts published with one engine and compares it with the mirror: a line of JSON for
everything that was tried. `check_engines.py` alone names the engines."""

import json
import os
import sys
import time

# No answer may depend on where the reader sits. Before any engine is loaded.
os.environ["TZ"] = "Asia/Kathmandu"
time.tzset()

from digest import differences  # noqa: E402
from engines import ENGINES, Found  # noqa: E402


def faults(found: Found, expected: dict, columns: list[dict]) -> list[str]:
    told = differences(found.rows, expected, columns)
    for name, answer in (("by_status", "byStatus"), ("by_month", "byMonth")):
        if getattr(found, name) is None:
            continue
        rows = sorted((str(key), *map(int, rest)) for key, *rest in getattr(found, name))
        truth = sorted((str(key), *rest) for key, *rest in expected[answer])
        if rows != truth:
            told.append(f"{name} has {[row for row in rows if row not in truth]}, not {[row for row in truth if row not in rows]}")
    if found.request_ids not in (None, expected["requestIds"]):
        told.append(f"{found.request_ids} bodies with requestId, not {expected['requestIds']}")
    return told


def check(name: str, lake: str) -> None:
    engine = ENGINES[name]()
    with open(f"{lake}/expected.json") as file:
        expected = json.load(file)
    published = expected["publications"]
    for mask in ("masked", "plain"):
        folders = [f"{lake}/{mask}/{one['published'][mask]}" for one in published]
        first, last = published[0][mask], published[-1][mask]
        openings = {
            "file": (engine.file, f"{lake}/{mask}.parquet", last["all"]),
            # The full snapshot without masks was published with its tombstones.
            "folder": (engine.folder, folders[0], first["live" if mask == "masked" else "all"]),
            "feeds": (engine.feeds, folders, last["live"]),
        }
        for what, (ways, path, truth) in openings.items():
            for line, way in ways(path):
                begun = time.monotonic()
                try:
                    found = way()
                    told = faults(found, truth, expected["columns"])
                    if what == "folder" and found.by_month is None and name != "pyiceberg":
                        told.append("no column created_month")
                except Exception as error:  # An engine that gives up is a finding, not the end.
                    told = [f"{type(error).__name__}: {' '.join(str(error).replace(f'{lake}/', '').split())[:160]}"]
                seconds = round(time.monotonic() - begun, 1)
                answer = {
                    "engine": name,
                    "version": engine.version,
                    "mask": mask,
                    "what": what,
                    "way": line,
                    "faults": told,
                    "seconds": seconds,
                }
                print(json.dumps(answer), flush=True)
                if not told:
                    break


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(*ENGINES)
    else:
        check(sys.argv[1], os.path.abspath(sys.argv[2]))
