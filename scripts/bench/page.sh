#!/usr/bin/env bash
# Measures what docs/benchmarks.md says of speed on this machine, at one commit, in one go: some two hours, 40 GB of disk.
# Nothing else should run meanwhile. Results go to docs/benchmarks: tables to peers.md, what Go's benchmarks print to go.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=docs/benchmarks
export BENCH_REPS=${BENCH_REPS:-3}

scripts/bench/beside.sh

offline() {
  [[ $1 == 418M ]] || local -x BENCH_PRECISIONS=int8
  BENCH_SHAPE=$1 BENCH_LENGTHS=$2 BENCH_BEAMS=$3 BENCH_SENTENCES=$4 BENCH_SIDES="dragoman-int8 ctranslate2-int8" scripts/bench/run.sh offline
}

offline 418M 32 "1 5" "1 8 32 64"
offline opus-base 16 "1 4" "1 8 32"
offline opus-tc-big 16 "1 4" "1 8 32"
BENCH_REPS=1 BENCH_CELL_SECONDS=90 offline madlad-3B 16 "1 4" "1 8 32"

bench() { go test -run '^$' "$@" | grep -E '^(Benchmark|cpu:)'; }

export DRAGOMAN_BENCH_MODELS=$PWD/build/bench
{
  git rev-parse --short HEAD
  bench -bench 'Step/int8' -benchtime 36x ./model/cpu
  bench -bench 'Encode|Open' -benchtime 9x ./model/cpu
  bench -bench Arrivals -benchtime 1x -count 3 ./app/engine
} | tee "$out/go.txt"

BENCH_MODELS=418M BENCH_SERVED_REPS=1 BENCH_SERVED_SECONDS=10 BENCH_SERVED_ARRIVALS=40 BENCH_SERVED_LONGEST=25 BENCH_SERVED_PROBES=4 \
  scripts/bench/run.sh served
BENCH_MODELS_RATES=${BENCH_MODELS_RATES:-1} BENCH_MODELS_PROBES=0 BENCH_SIDES="catalogue ctranslate2-per-model" scripts/bench/run.sh models-setup models
BENCH_STRESS_REPS=1 scripts/bench/run.sh stress report
