#!/usr/bin/env bash
# The suite on the oldest Node that package.json allows and on a newer one than the clone brings along. `npm run test:nodes
# [TEST...]`: all tests, or those named; a part of `npm run test:soak`. Exit code 1 where one fails on any of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for name in $(compgen -e | grep -i '^npm_'); do unset "$name"; done
oldest=$(node -p 'require("./package.json").engines.node.replace(">=", "")')
newer=26.10.0
machine=$(node -p 'process.platform + "-" + process.arch')
case $machine in
linux-x64 | linux-arm64) ;;
*)
  echo "skipped: npm has no package of Node $oldest and $newer for $machine"
  exit 0
  ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Run by root, tests about file rights start this Node as another user, who must be able to reach it.
chmod 755 "$work"
failed=0
for version in "$oldest" "$newer"; do
  npm install --silent --no-save --no-package-lock --prefix "$work/$version" "node-$machine@$version"
  bin=$work/$version/node_modules/node-$machine/bin
  [ "$("$bin/node" --version)" = "v$version" ] || {
    echo "not Node $version" >&2
    exit 1
  }
  echo "Node $version"
  # First in PATH: the built command line is run by it, too.
  PATH=$bin:$PATH "$bin/node" node_modules/vitest/vitest.mjs run "$@" || failed=1
done
exit "$failed"
