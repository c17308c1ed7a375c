#!/bin/sh
# `shell.sh BASE_URL FILE`: the tools every Debian has packages for. A window by curl, its items by jq, into a table by
# sqlite-utils; nested values become JSON text. jq 1.6 rounds what a double cannot hold. One window after another, no
# seams, no retries.
set -eu
page=$(mktemp)
trap 'rm -f "$page"' EXIT
take=1000
skip=0
while :; do
  curl -sSf -X POST -H 'content-type: application/json' -d "{\"skip\":$skip,\"take\":$take}" -o "$page" "$1/tasks/list"
  count=$(jq '.body.items | length' "$page")
  if [ "$count" -gt 0 ]; then
    jq -c '.body.items[]' "$page" | sqlite-utils insert "$2" tasks - --nl --pk id --replace
  fi
  [ "$count" -eq "$take" ] || break
  skip=$((skip + take))
done
