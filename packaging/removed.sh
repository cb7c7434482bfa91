#!/bin/sh
# After the package's files went. Only Debian knows "purge", which takes the node's key and data, and its user.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "${1:-}" = purge ]; then
  rm -rf /var/lib/godwit
  if getent passwd godwit >/dev/null; then userdel godwit || true; fi
fi
