#!/bin/sh
# `best.sh BASE_URL FOLDER PAGE`: the same with a paginator of our own that goes on by the number that came, and without a key.
set -eu
here=$(dirname "$0")
echo "{\"base_url\": \"$1\", \"page\": $3, \"tolerant\": true}" > "$2/tap.json"
echo "{\"path_to_db\": \"$2/tasks.sqlite\", \"load_method\": \"overwrite\"}" > "$2/target.json"
python "$here/tap.py" --config "$2/tap.json" | target-sqlite --config "$2/target.json"
