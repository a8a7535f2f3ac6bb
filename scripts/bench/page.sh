#!/usr/bin/env bash
# Measures what docs/benchmarks.md says of speed on this machine, at one commit, in one go: about an hour, 15 GB of disk.
#
#   BENCH_VOCAB=vocab.json scripts/bench/page.sh      (vocab.json of facebook/m2m100_418M; the bundled model's without it)
#
# Nothing else should run meanwhile. Results go to docs/benchmarks: tables to peers.md, what Go's benchmarks print to go.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
export BENCH_REPS=${BENCH_REPS:-2} BENCH_DIR=${BENCH_DIR:-$PWD/build/bench}

scripts/bench/beside.sh

offline() {
  BENCH_PRECISIONS=int8 BENCH_SHAPE=$1 BENCH_LENGTHS=$2 BENCH_BEAMS=$3 BENCH_SENTENCES=$4 BENCH_SIDES="dragoman-int8 ctranslate2-int8" \
    scripts/bench/run.sh offline
}

for target in fr ja ru; do BENCH_TARGET=$target offline 418M 32 "1 5" "1 8 32 64"; done
offline opus-base 16 "1 4" "1 8 32"
offline opus-tc-big 16 "1 4" "1 8 32"

bench() { go test -run '^$' "$@" | grep -E '^(Benchmark|cpu:)'; }

export DRAGOMAN_BENCH_MODELS=$BENCH_DIR
{
  git rev-parse --short HEAD
  bench -bench 'Step/int8' -benchtime 36x ./model/cpu
  bench -bench '(Encode|Open)/int8' -benchtime 36x ./model/cpu
  bench -bench Arrivals -benchtime 1x -count 3 ./app/engine
} | tee docs/benchmarks/go.txt

BENCH_PRECISIONS=int8 BENCH_MODELS=418M BENCH_SERVED_REPS=1 BENCH_SERVED_SECONDS=10 BENCH_SERVED_ARRIVALS=40 BENCH_SERVED_LONGEST=25 \
  BENCH_SERVED_PROBES=4 scripts/bench/run.sh served report
