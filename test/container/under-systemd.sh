#!/bin/bash
# Started by deb.sh inside of a system that systemd has booted: the units of the Debian package, as docs/install.md uses them. Ends
# with `all well` on stdout, or at the first thing that is not.
set -eux
units='task-mirror-sync.timer task-mirror-schedule.service'
test "$(systemctl is-enabled $units | sort -u)" = disabled

rm -f /var/lib/task-mirror/task-mirror.sqlite*
systemctl start task-mirror-sync.service
test "$(stat -c %U:%a /var/lib/task-mirror/task-mirror.sqlite)" = task-mirror:600
journalctl --no-pager -u task-mirror-sync | grep 'verdict complete'

systemctl enable --now task-mirror-sync.timer
systemctl start task-mirror-schedule.service
healthy() { (exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3 && grep '200 OK' <&3) 2>/dev/null; }
for _ in $(seq 100); do healthy && break; sleep 0.1; done
healthy

# An upgrade starts again what was running.
before=$(systemctl show --property MainPID --value task-mirror-schedule)
dpkg --force-confold -i /var/tmp/task-mirror.deb
test "$(systemctl show --property MainPID --value task-mirror-schedule)" != "$before"
test "$(systemctl is-active $units | sort -u)" = active

# A removal stops it.
dpkg --remove task-mirror
test "$(systemctl is-active $units | sort -u)" = inactive
echo all well
