"""`write_table.py RESULTS DOCUMENT ABOUT`: puts the answers of all engines, a line of JSON each, as a table between the marks of a
document. Ends with 1 where something published could be opened in no way."""

import json
import re
import sys
from datetime import date

BEGIN, END = "<!-- npm run test:engines -->", "<!-- end -->"
OPENED = {"file": "one file", "folder": "folder by month", "feeds": "snapshot and 3 feeds"}

with open(sys.argv[1]) as file:
    answers = [json.loads(line) for line in file]

groups: dict[tuple, list[dict]] = {}
for answer in answers:
    groups.setdefault((answer["engine"], answer["version"], answer["what"]), []).append(answer)

rows, failed = [], []
for (engine, version, what), tried in groups.items():
    masks = {answer["mask"] for answer in tried}
    right = [answer for answer in tried if not answer["faults"]]
    wrong = {answer["way"]: "; ".join(answer["faults"]) for answer in tried if answer["faults"]}
    if {answer["mask"] for answer in right} == masks:
        result = f"answered: {right[0]['way']}" if engine == "Datasette" else f"same, by `{right[0]['way']}`"
    else:
        result = "**differs**"
        failed.append(f"{engine}: {what}")
    notes = [f"not by `{way}`: {re.sub(r'[^ ,]*/[^ ,]*/', '', fault)}" for way, fault in wrong.items()]
    cells = [f"{engine} {version}", OPENED.get(what, what), "<br>".join([result, *notes])]
    rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")

about = f"""Run on {date.today()}: {sys.argv[3]}, with credentials replaced and with `--no-redact`. `same` means: number
of rows, types, all values, sums by status and by month and, where the engine reads JSON, a field of the bodies. `MONTH` is `pyarrow.schema([("created_month", pyarrow.string())])`."""
table = "\n".join([about, "", "| engine | opened | result |", "| --- | --- | --- |", *rows])
print(table)
with open(sys.argv[2]) as file:
    before, rest = file.read().split(BEGIN)
with open(sys.argv[2], "w") as file:
    file.write(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END, 1)[1]}")
if failed:
    sys.exit(f"opened in no way: {', '.join(failed)}")
