#!/usr/bin/env bash
# Installs the Debian package on a system without Node, and uses it as its documents say: by hand, from Debian's cron, through
# an upgrade, a removal and a purge. `npm run test:container`; prints as image.sh does.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=test/container/checks.sh
source test/container/checks.sh

command -v dh >/dev/null || skip 'debhelper is not installed'
rm -f release/task-mirror_*.deb
began=$SECONDS
check build npm run --silent deb
[ "$failed" -eq 0 ] || finish
version=$(node -p 'JSON.parse(fs.readFileSync("package.json")).version')
deb=release/task-mirror_${version/-/\~}-1_$(dpkg --print-architecture).deb
echo "   built in $((SECONDS - began)) s: $(($(stat -c %s "$deb") / 1000000)) MB, $(($(dpkg-deb -f "$deb" Installed-Size) / 1024)) MB installed"

# As root it has its own opinion of who should run it.
if command -v lintian >/dev/null; then check lintian lintian --allow-root --fail-on error "$deb"; else
  echo 'skipped lintian: it is not installed'
fi

have_base
container=$(buildah from --pull-never "$base")
root=$(buildah mount "$container")
as() { buildah run --user "$1" "$container" -- "${@:2}"; }
there() { as root "$@"; }
# What is there is the package's own Node.
rm "$root/usr/local/bin/node" "$root/usr/local/bin/npm" "$root/usr/local/bin/npx"
cp "$deb" "$root/var/tmp/task-mirror.deb"

check install there env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends /var/tmp/task-mirror.deb
[ -x "$root/usr/bin/task-mirror" ] || finish
there dpkg --verify task-mirror >"$work/verify" 2>&1
check files-as-packed test ! -s "$work/verify"
check version there task-mirror --version
check man-page bash -c 'gzip -cd "$1" | grep "^.SS sync$" && { ! command -v man || ! man --warnings -l "$1" 2>&1 >/dev/null | grep .; }' _ "$root/usr/share/man/man1/task-mirror.1.gz"
check completions bash -c 'bash -n "$1/usr/share/bash-completion/completions/task-mirror" && grep -q "^#compdef task-mirror" "$1/usr/share/zsh/vendor-completions/_task-mirror"' _ "$root"
check user there bash -c '[ "$(id -un task-mirror):$(stat -c %U:%a /var/lib/task-mirror)" = task-mirror:task-mirror:700 ] && getent passwd task-mirror | grep -q nologin$'
check nothing-enabled bash -c '! find "$1/etc/systemd" -name "task-mirror*" | grep .' _ "$root"
# What else is in them is checked by test/deploy.test.ts.
check units-for-its-user bash -c '[ "$(grep -lx "User=task-mirror" "$1"/*.service | wc -l)" = 2 ] && [ "$(grep -c "^ExecStart=/usr/bin/task-mirror " "$1"/*.service | grep -c ":1$")" = 2 ]' _ "$root/lib/systemd/system"

mirror() { as task-mirror env TASK_MIRROR_CONFIG=/etc/task-mirror/task-mirror.json TASK_MIRROR_API_KEY_FILE=/etc/task-mirror/api-key task-mirror "$@"; }
without() { mirror sync >"$work/said" 2>&1; [ $? -eq 2 ] && grep "$1" "$work/said"; }
check says-that-the-key-is-missing without 'task-mirror/api-key) is empty'
printf secret >"$root/etc/task-mirror/api-key"
check says-that-the-address-is-missing without service.baseUrl

start_simulator --tasks 500
sed -i "s#\"baseUrl\": null#\"baseUrl\": \"$url\"#" "$root/etc/task-mirror/task-mirror.json"
check key-for-its-user-only test "$(stat -c %a "$root/etc/task-mirror/api-key")" = 640
check sync mirror sync
check no-warning bash -c '! grep -i "warn\|every user" "$1"' _ "$work/log"
check status mirror status --max-age 15m
check export mirror export
check its-own-folder bash -c '[ -s "$1/task-mirror.sqlite" ] && find "$1/snapshots" -name "*.parquet" | grep .' _ "$root/var/lib/task-mirror"

# docs/install.md, by Debian's cron: a line with @reboot is run as any other, and at once.
if there bash -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends cron sqlite3' >"$work/log" 2>&1; then
  cron_line() {
    awk '/^```crontab/ { on = 1; text = ""; next } /^```/ { on = 0 } on { text = text $0 "\n" } END { printf "%s", text }' docs/install.md |
      sed 's#^\*/5 \* \* \* \*#@reboot#' >"$root/etc/cron.d/task-mirror"
    rm "$root"/var/lib/task-mirror/task-mirror.sqlite*
    grep -q '^@reboot' "$root/etc/cron.d/task-mirror" || return
    there timeout 60 bash -c 'cron -f & until [ -s /var/lib/task-mirror/task-mirror.sqlite ] && ! pgrep -u task-mirror .; do sleep 0.2; done; kill %1'
    cat "$root/etc/cron.d/task-mirror"
    mirror status --max-age 15m
  }
  check cron cron_line
  # docs/stability.md: SQLite 3.40, which is what Debian 12 has.
  check read-by-debians-sqlite bash -c '[ "$(buildah run "$1" -- sqlite3 /var/lib/task-mirror/task-mirror.sqlite "SELECT count(*) FROM task_overview")" = 500 ]' _ "$container"
else
  echo "skipped cron and sqlite3: they cannot be installed: $(tail -n 1 "$work/log")"
fi

# A newer package with another default: what was set stays.
newer() {
  dpkg-deb -R "$deb" "$root/var/tmp/newer"
  sed -i 's/^Version: .*/&.1/' "$root/var/tmp/newer/DEBIAN/control"
  sed -i 's/snapshots/lake/' "$root/var/tmp/newer/etc/task-mirror/task-mirror.json"
  dpkg-deb --root-owner-group -Znone -b "$root/var/tmp/newer" "$root/var/tmp/newer.deb"
  there env DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold -i /var/tmp/newer.deb
}
check copy-before mirror copy --out /var/lib/task-mirror/before-upgrade.sqlite
check upgrade newer
check configuration-kept grep -q "$url" "$root/etc/task-mirror/task-mirror.json"
check key-kept grep -q secret "$root/etc/task-mirror/api-key"
check sync-after-upgrade mirror sync
back() { there dpkg --force-confold -i /var/tmp/task-mirror.deb && mirror restore /var/lib/task-mirror/before-upgrade.sqlite && mirror sync; }
check back-again back

rm -f "$root/etc/cron.d/task-mirror"

# The units, by a systemd that boots in the container and ends with what it runs.
nspawn=(systemd-nspawn --quiet --register=no --directory "$root")
[ -d /run/systemd/system ] || nspawn+=(--keep-unit)
booted() {
  cp "$here/under-systemd.sh" "$root/usr/local/bin/under-systemd"
  printf '[Service]\nType=oneshot\nStandardOutput=append:/var/tmp/said\nStandardError=inherit\nExecStart=bash /usr/local/bin/under-systemd\nExecStopPost=systemctl poweroff --force --no-block\n' \
    >"$root/etc/systemd/system/under.service"
  timeout 120 "${nspawn[@]}" --boot systemd.show_status=0 systemd.wants=under.service
  cat "$root/var/tmp/said"
  tail -n 1 "$root/var/tmp/said" | grep -x 'all well'
}
if ! command -v systemd-nspawn >/dev/null; then
  echo 'skipped units: systemd-container is not installed'
elif ! "${nspawn[@]}" true >"$work/log" 2>&1; then
  echo "skipped units: systemd-nspawn cannot run here: $(tail -n 1 "$work/log")"
elif ! there bash -c 'DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends systemd-sysv' >"$work/log" 2>&1; then
  echo "skipped units: systemd cannot be installed: $(tail -n 1 "$work/log")"
else
  check units booted
  rm -f "$root/etc/systemd/system/under.service"
fi

check remove there dpkg --remove task-mirror
check data-and-settings-stay bash -c '[ -s "$1/var/lib/task-mirror/task-mirror.sqlite" ] && [ -s "$1/etc/task-mirror/task-mirror.json" ] && [ ! -e "$1/usr/lib/task-mirror" ]' _ "$root"
check purge there dpkg --purge task-mirror
check nothing-left bash -c '! find "$1" -xdev -path "$1/proc" -prune -o -path "$1/var/tmp" -prune -o -name "*task-mirror*" -print | grep .' _ "$root"
finish
