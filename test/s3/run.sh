#!/usr/bin/env bash
# `npm run test:s3`: the whole S3 suite against moto's server, which knows conditions, uploads in parts and encryption by itself, and
# what it answers beside s3rver and Amazon's reference.
# moto comes from PyPI, into a scratch folder; where Python or PyPI is missing, this says so and ends with 0.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
work=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

skip() {
  echo "skipped: $1"
  exit 0
}

python3 -m venv "$work/venv" >"$work/log" 2>&1 || skip "no Python with venv ($(tail -n 1 "$work/log"))"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r test/s3/requirements.txt >"$work/log" 2>&1 ||
  skip "moto could not be installed from PyPI ($(tail -n 1 "$work/log"))"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$work/venv/bin/moto_server" -H 127.0.0.1 -p "$port" >"$work/server" 2>&1 &
server=$!
for _ in $(seq 300); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  sleep 0.1
done
MOTO_URL=http://127.0.0.1:$port npx vitest run --config test/s3/vitest.config.ts
