#!/usr/bin/env bash
# Runs the six cases of the stress test of the service that dragoman replaces against
# dragoman with the bundled model: 100 requests of 1 or 16 sentences, 0.5, 0.1 or 0.01
# seconds apart. Prints a line for each; nothing else should use the machine meanwhile.
#
#   make build runtime && scripts/stress_test/original.sh [repetitions] [folder]
#
# Each repetition has a service of its own, which does not remember translations
# (CACHE_BYTES=0), after a warm-up of 3 requests. Where a folder is given it gets the
# plot and numbers of each run. Settings of the service are environment variables.
set -euo pipefail

repetitions=${1:-1}
out=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/../.."
[[ -x build/dragoman ]] || { echo "original.sh: there is no build/dragoman: run make build runtime" >&2; exit 1; }

work=$(mktemp -d)
service=
stop() {
  [[ -z $service ]] || { kill "$service" 2>/dev/null && wait "$service"; } || true
  service=
}
trap 'stop; rm -rf "$work"' EXIT
go build -o "$work/stress_test" ./scripts/stress_test

export APP_HOST=127.0.0.1 APP_PORT=${APP_PORT:-19527} CACHE_BYTES=${CACHE_BYTES:-0} LOG_LEVEL=${LOG_LEVEL:-warn}
url=http://$APP_HOST:$APP_PORT

start() {
  build/dragoman serve 2>"$work/log" &
  service=$!
  for _ in $(seq 240); do
    kill -0 "$service" 2>/dev/null || break
    if curl -fs -o "$work/ready" "$url/readyz"; then
      return
    fi
    sleep 0.5
  done
  echo "original.sh: the service did not become ready:" >&2
  cat "$work/log" >&2
  exit 1
}

for repetition in $(seq "$repetitions"); do
  start
  for size in 1 16; do
    for sleep in 0.5 0.1 0.01; do
      files=()
      [[ -z $out ]] || files=(--out "$out/$size-records-every-$sleep-s-$repetition")
      line=$("$work/stress_test" --url "$url" --pay-size "$size" --num-req 100 --sleep "$sleep" --warmup 3 --quiet "${files[@]}")
      echo "--pay-size $size --num-req 100 --sleep $sleep: $line"
    done
  done
  stop
done
