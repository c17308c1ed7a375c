#!/usr/bin/env bash
# Makes the release of this commit twice, in two clones that share nothing but the commit: another folder, another time zone,
# another umask, packages installed anew. Every byte has to be the same. `npm run test:release`; needs debhelper, five minutes.
set -euo pipefail
command -v dh >/dev/null || {
  echo 'skipped: debhelper is not installed'
  exit 0
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for name in $(compgen -e | grep -i '^npm_'); do unset "$name"; done
# The clone may move on while this takes its time.
commit=$(git -C "$root" rev-parse HEAD)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_release() { # make_release FOLDER
  git clone --quiet --no-hardlinks "$root" "$1"
  git -C "$1" checkout --quiet --detach "$commit"
  (cd "$1" && npm ci --prefer-offline >/dev/null && npm run --silent release)
}
(umask 022 && TZ=UTC make_release "$work/one")
(umask 077 && TZ=Pacific/Kiritimati LC_ALL=C make_release "$work/of/another-name")
(cd "$work/one/release" && sha256sum --check --quiet SHA256SUMS)
diff -r "$work/one/release" "$work/of/another-name/release"
ls -l "$work/one/release"
echo "equal, byte by byte"
