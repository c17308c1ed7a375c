#!/usr/bin/env bash
# `npm run test:engines [-- TASKS]`: what is published, opened by the engines people use (from PyPI and Maven's repository), and the lake
# table that Spark keeps. With 200,000 tasks it writes the table in docs/scale.md. ENGINES_CACHE names a folder in which
# packages stay for the next time; ENGINES_ONLY="engines merge" what is run. Ends with 0, and says why, where they cannot be had.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
tasks=${1:-200000}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cache=${ENGINES_CACHE:-$work}
# Spark leaves its copies of jars behind where it is killed.
export TMPDIR=$work SPARK_LOCAL_DIRS=$work ENGINES_CACHE=$cache PYTHONDONTWRITEBYTECODE=1
here=test/engines

skip() {
  echo "skipped: $1"
  exit 0
}

mkdir -p "$cache"
command -v java >/dev/null || skip 'no Java, which Spark needs'
if ! cmp -s $here/requirements.txt "$cache/installed"; then
  python3 -m venv "$cache/venv" >"$work/log" 2>&1 || skip "no Python with venv ($(tail -n 1 "$work/log"))"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r $here/requirements.txt >"$work/log" 2>&1 ||
    skip "the engines could not be installed from PyPI ($(tail -n 1 "$work/log"))"
  cp $here/requirements.txt "$cache/installed"
fi
python=$cache/venv/bin/python
failed=0

for part in ${ENGINES_ONLY:-engines merge}; do
  if [ "$part" = engines ]; then
    about=$(node $here/make-lake.ts "$work/lake" "$tasks") || exit 1
    for engine in $("$python" $here/check_engines.py); do
      "$python" $here/check_engines.py "$engine" "$work/lake" 2>"$work/log" >"$work/answers" || { echo "$engine:"; tail -n 5 "$work/log"; failed=1; }
      tee -a "$work/results" <"$work/answers"
    done
    "$python" $here/check_datasette.py "$work/lake" | tee -a "$work/results" || failed=1
    document=docs/scale.md
    [ "$tasks" -ge 200000 ] || { cp docs/scale.md "$work/scale.md" && document=$work/scale.md; }
    "$python" $here/write_table.py "$work/results" "$document" "$about" || failed=1
    rm -rf "$work/lake"
  else
    "$python" $here/check_manifest.py || failed=1
    "$python" $here/check_merge.py "$work" || failed=1
  fi
done
exit $failed
