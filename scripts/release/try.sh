#!/usr/bin/env bash
# Tries an archive's program, in a network namespace of its own, as scripts/release/test.sh starts it:
#
#   unshare --net scripts/release/try.sh command...
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch XDG_CACHE_HOME=/tmp/dragoman-try.$$ WINEDEBUG=-all
ip link set lo up

# die prints the program's output, then an error in one line, and exits.
die() {
  sed 's/^/  program: /' "$scratch/log" >&2
  echo "try: $*" >&2
  exit 1
}

now() { date +%s%3N; }

# first starts the service and sets $took to the milliseconds until its first answer.
first() {
  local start answer="" want='{"result":[{"id":"1","text":"Où est la gare ?"}]}'
  start=$(now)
  "$@" serve >"$scratch/log" 2>&1 &
  until answer=$(curl -fs --max-time 60 http://127.0.0.1:9527/translation -H 'Content-Type: application/json' \
    -d '{"payload":{"fromLang":"en","toLang":"fr","records":[{"id":"1","text":"Where is the station?"}]}}'); do
    kill -0 $! 2>/dev/null || die "the service ended"
    (($(now) - start < 300000)) || die "there was no answer within 5 minutes"
    sleep 0.02
  done
  took=$(($(now) - start))
  [[ $answer == "$want" ]] || die "the translation is $answer, not $want"
}

"$@" version 2>/dev/null
first "$@"
echo "ok: the first answer came $took ms after the first start"
kill -TERM $!
wait $! || [[ $* == *wine* ]] || die "after SIGTERM it ended with $?"
if [[ $* != *wine* ]]; then # whose processes know no SIGTERM
  first "$@"
  echo "ok: $took ms after the second"
  kill -TERM $!
  wait $! || die "after SIGTERM it ended with $?"
fi
rm -rf "$XDG_CACHE_HOME"
