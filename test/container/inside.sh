#!/usr/bin/env bash
# Runs the image's entry point as PID 1 of a namespace of its own, with a read-only root file system, without a container
# engine. The exit code is that of the program.
# usage: inside.sh ROOT DATA UID ENVIRONMENT ARGUMENT...      ENVIRONMENT: a file with one NAME=value per line
set -euo pipefail
export root=$1 data=$2 uid=$3 environment=$4
shift 4
# shellcheck disable=SC2016 # expanded inside
exec unshare --mount --pid --fork --kill-child=KILL bash -c '
  set -e
  mount --bind "$root" "$root"
  mount --bind "$data" "$root/data"
  mount -t proc proc "$root/proc"
  mount -o remount,bind,ro "$root"
  mapfile -t variables <"$environment"
  exec env -i "${variables[@]}" chroot --userspec="$uid:0" "$root" \
    /usr/bin/env --chdir=/data node /app/dist/cli.js "$@"
' inside "$@"
