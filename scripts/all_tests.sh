#!/usr/bin/env bash
# Runs targets of the Makefile one after the other, whatever becomes of each, and ends with a table:
#
#   scripts/all_tests.sh target...
#
# Logs are in build/all-tests. It fails if one of them failed.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/all-tests
mkdir -p "$logs"
table=() failed=0
for target in "$@"; do
  echo "make $target: $logs/$target.log"
  start=$SECONDS result=ok why=
  arguments=()
  [[ $target != faults ]] || arguments=("ARGS=-skip 'TestFaults/^(catalogue|fleet)'") # which have targets of their own
  if ! make "$target" "${arguments[@]}" >"$logs/$target.log" 2>&1 </dev/null; then
    why=$(sed -n 's/.*cannot run: //p' "$logs/$target.log" | head -n 1)
    if [[ -n $why ]]; then
      result="could not run"
    else
      result=failed why=$logs/$target.log failed=1
    fi
  fi
  table+=("$(printf '%-16s%-15s%7s  %s' "$target" "$result" "$(awk "BEGIN { printf \"%.1f\", ($SECONDS - $start) / 60 }")" "$why")")
done
printf '\n%-16s%-15s%7s\n' target result minutes
printf '%s\n' "${table[@]}"
exit "$failed"
