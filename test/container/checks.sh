# Sourced by the container tests, which print `ok NAME` or `FAILED NAME` for each step and `N passed, N failed` at the end:
# check, finish, a container of the base image, a simulated service.
# shellcheck shell=bash

# The Node of the clone, also without npm; and none of what npm tells its scripts: its ignore-scripts would reach the installer
# of the base image.
export PATH=$PWD/node_modules/.bin:$PATH
for name in $(compgen -e | grep -i '^npm_config_'); do unset "$name"; done
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
base=docker.io/library/node:24-bookworm-slim
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

have_base() {
  buildah images -q "$base" 2>/dev/null | grep -q . && return
  buildah pull -q "$base" >/dev/null 2>&1 && return
  command -v debootstrap >/dev/null || skip "$base cannot be pulled, and debootstrap is not there to make a stand-in"
  check base-image bash "$here/base-image.sh" "$base"
  [ "$failed" -eq 0 ] || finish
}

# Sets `url` to a service with the key `secret`.
start_simulator() { # start_simulator FLAG...
  node dist/cli.js simulate --port 0 --key secret --json "$@" >"$work/simulator" 2>/dev/null &
  simulator=$!
  for _ in $(seq 100); do grep -q url "$work/simulator" && break; sleep 0.1; done
  url=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).url' "$work/simulator")
}
