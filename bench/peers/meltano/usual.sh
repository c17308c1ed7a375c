#!/bin/sh
# `usual.sh BASE_URL FOLDER`: the tap, piped into target-sqlite, which replaces the table at every run: it has no upsert.
set -eu
here=$(dirname "$0")
echo "{\"base_url\": \"$1\", \"page\": 1000, \"tolerant\": false}" > "$2/tap.json"
echo "{\"path_to_db\": \"$2/tasks.sqlite\", \"load_method\": \"overwrite\"}" > "$2/target.json"
python "$here/tap.py" --config "$2/tap.json" | target-sqlite --config "$2/target.json"
