#!/bin/sh
# `usual.sh BASE_URL FOLDER`: a window by curl, its items by jq, into a table by sqlite-utils; a short window is the last.
set -eu
cd "$2"
take=1000
skip=0
while :; do
  curl -sSf -X POST -H 'content-type: application/json' -d "{\"skip\":$skip,\"take\":$take}" -o page.json "$1/tasks/list"
  count=$(jq '.body.items | length' page.json)
  if [ "$count" -gt 0 ]; then
    jq -c '.body.items[]' page.json | sqlite-utils insert tasks.sqlite tasks - --nl --pk id --replace
  fi
  [ "$count" -eq "$take" ] || break
  skip=$((skip + take))
done
