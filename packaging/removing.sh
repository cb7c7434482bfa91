#!/bin/sh
# Before the package's files go. Debian says "remove" or "upgrade", RPM how many are left.
set -e
case ${1:-} in
remove | 0)
  if [ -d /run/systemd/system ]; then systemctl disable --now godwit.service || true; fi
  ;;
esac
