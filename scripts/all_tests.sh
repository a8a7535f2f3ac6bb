#!/usr/bin/env bash
# Runs targets of the Makefile one after the other, whatever becomes of each, and keeps a table of target, commit and result:
#
#   scripts/all_tests.sh target...
#
# A target that has passed at this commit does not run again, so that a run that was interrupted goes on where it was
# (AGAIN=1 runs all). Logs and the table are in build/all-tests. The status is 1 if a target failed.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/all-tests table=build/all-tests/results.tsv
mkdir -p "$logs"
touch "$table"
commit=$(git describe --always --dirty --exclude '*')

# last prints the newest row of a target at this commit: target, commit, result, minutes, why.
last() { awk -F '\t' -v target="$1" -v commit="$commit" '$1 == target && $2 == commit { row = $0 } END { print row }' "$table"; }

failed=0
for target in "$@"; do
  if [[ $commit != *-dirty && ${AGAIN:-0} != 1 && $(last "$target" | cut -f 3) == ok ]]; then
    echo "make $target: passed at $commit"
    continue
  fi
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
  printf '%s\t%s\t%s\t%.1f\t%s\n' "$target" "$commit" "$result" "$(((SECONDS - start) * 10 / 60))e-1" "$why" >>"$table"
done
printf '\n%-16s%-24s%-15s%7s\n' target commit result minutes
for target in "$@"; do
  last "$target" | awk -F '\t' '{ printf "%-16s%-24s%-15s%7s  %s\n", $1, $2, $3, $4, $5 }'
done
exit "$failed"
