#!/bin/sh
# After the package's files are there: makes the user of the machine's node. It starts nothing: whose machine it
# is says so.
set -e
if ! getent passwd godwit >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/godwit --no-create-home --shell /usr/sbin/nologin godwit
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart godwit.service # of an upgrade: what ran goes on with the new program
fi
