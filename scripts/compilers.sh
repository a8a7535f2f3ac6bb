#!/usr/bin/env bash
# Says what is missing for a build, or too old, in one line:
#
#   scripts/compilers.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# die prints an error with a remedy in one line, and exits.
die() {
  echo "make: $*" >&2
  exit 1
}

# older reports whether a version is older than another one.
older() { [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

need=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
command -v go >/dev/null || die "there is no Go: install Go $need or newer, and put its folder bin into PATH"
# A Go of 1.21 or newer may fetch the one that go.mod names.
go=$(go env GOVERSION 2>/dev/null) || go=$(cd / && GOTOOLCHAIN=local go version | cut -d' ' -f3)
go=${go#go}
! older "${go:-0}" "$need" || die "Go ${go:-of before 1.16} is too old: install Go $need or newer"

read -ra cc <<<"$(go env CC)"
command -v "${cc[0]}" >/dev/null || die "there is no C compiler ${cc[0]}: install gcc or clang (apt install gcc libc6-dev)"
versions=$("${cc[@]}" -E -P - 2>/dev/null <<<$'#include <stdlib.h>\nclang __clang_major__ gcc __GNUC__' | tail -n 1) ||
  die "${cc[0]} finds no headers of the C library: apt install libc6-dev"
read -r _ clang _ gcc <<<"$versions"
if [[ $clang =~ ^[0-9]+$ ]]; then
  ((clang >= 14)) || die "${cc[0]} is clang $clang, which is too old: install clang 14 or newer, or gcc 12, and name it with CC"
elif [[ $gcc =~ ^[0-9]+$ ]]; then
  ((gcc >= 12)) || die "${cc[0]} is gcc $gcc, which is too old: install gcc 12 or newer, or clang 14, and name it with CC"
fi
