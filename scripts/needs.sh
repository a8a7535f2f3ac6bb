#!/usr/bin/env bash
# Installs Debian packages unless a command is there, as root or by sudo without a password:
#
#   scripts/needs.sh command package...
#
# Where it can do neither it says what to install, and its status is 77: make all-tests then says
# "could not run".
set -euo pipefail
command=$1
shift
have() { command -v "$command" >/dev/null; }
have && exit
root=(sudo -n)
((EUID != 0)) || root=()
if command -v apt-get >/dev/null && "${root[@]}" true 2>/dev/null; then
  echo "installing $*" >&2
  { "${root[@]}" apt-get update -qq && "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@"; } >/dev/null || true
fi
have || { echo "cannot run: there is no $command: apt-get install $*" >&2; exit 77; }
