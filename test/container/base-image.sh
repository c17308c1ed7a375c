#!/usr/bin/env bash
# Makes a stand-in for docker.io/library/node:24-bookworm-slim out of Debian's packages and npm's Node, for a machine
# that has buildah but no image registry. Needs root and debootstrap; takes about a minute.
# usage: base-image.sh IMAGE
set -euo pipefail
image=${1:?usage: base-image.sh IMAGE}
major=$(sed -E 's/.*:([0-9]+).*/\1/' <<<"$image")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

debootstrap --variant=minbase bookworm "$work/root" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; exit 1; }
(cd "$work" && npm init -y >/dev/null && npm install --no-save --loglevel=error "node@$major" npm@11 >/dev/null)
mkdir -p "$work/root/usr/local/lib/node_modules" "$work/root/etc/ssl/certs"
cp "$(find "$work/node_modules" -path '*/bin/node' -size +10M | head -n 1)" "$work/root/usr/local/bin/node"
cp -r "$work/node_modules/npm" "$work/root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$work/root/usr/local/bin/npx"
# The build trusts whom this machine trusts.
cp -L "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$work/root/etc/ssl/certs/ca-certificates.crt"
chroot "$work/root" /usr/sbin/groupadd -g 1000 node
chroot "$work/root" /usr/sbin/useradd -m -u 1000 -g 1000 node
rm -rf "$work"/root/var/cache/apt/* "$work"/root/var/lib/apt/lists/*

container=$(buildah from scratch)
buildah copy -q "$container" "$work/root" / >/dev/null
buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
buildah commit -q "$container" "$image" >/dev/null
buildah rm "$container" >/dev/null
