#!/usr/bin/env bash
# Measures dragoman against its peers on this machine (see README.md):
#
#   scripts/bench/run.sh [stage]...     (default: offline served stress report)
#
#   setup    what the others need: Python packages, checkpoint, converted models
#   offline  tokens a second on given batches
#   served   latency and goodput of services under Poisson arrivals
#   stress   100 requests at fixed intervals
#   soak     30 minutes at 120% of the capacity: memory, lost or wrong answers
#   report   tables and plots of what was measured so far
#
# All of it takes most of a day. Knobs, as in BENCH_REPS=3 scripts/bench/run.sh offline:
#
#   BENCH_QUICK=1            fewer and smaller cells, one repetition: to try it out
#   BENCH_REPS=5             repetitions; BENCH_SERVED_REPS and BENCH_STRESS_REPS of one stage
#   BENCH_ADD=1              keep the runs of earlier calls that the result files have
#   BENCH_THREADS=2          threads of each side
#   BENCH_SIDES              names of the sides to run, as the tables have them
#   BENCH_DIR, BENCH_OUT     build/bench and docs/benchmarks
#   PYTHON=python3           the Python (3.11 or newer) that the packages are installed for
#
#   offline: BENCH_BEAMS="1 5" BENCH_LENGTHS="16 32 128" BENCH_SENTENCES="1 8 32 64"
#            BENCH_CELL_SECONDS=60     a side leaves out what would take it longer
#   served:  BENCH_MODELS="bundled 418M 418M-greedy" BENCH_SERVED_SHARES="0.25 0.5 0.8 1.2"
#            BENCH_SERVED_SECONDS=20 BENCH_SERVED_ARRIVALS=80 BENCH_SERVED_LONGEST=90
#                                      at each rate: least time, least arrivals, longest time
#            BENCH_SERVED_PROBES=5     rates tried to find the highest with p95 in time; 0: none
#            BENCH_BUNDLED_PRECISION=fp32
#   stress:  BENCH_STRESS_MODELS=bundled BENCH_STRESS_REQUESTS=100 BENCH_STRESS_TIMEOUT=60
#   soak:    BENCH_SOAK_MINUTES=30 BENCH_SOAK_MODEL=bundled
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BENCH_DIR:-build/bench}
python=$build/venv/bin/python

main() {
  [[ $# -gt 0 ]] || set -- offline served stress report
  for stage in "$@"; do
    case $stage in
      setup | offline | served | stress | soak | report) ;;
      *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
        exit 2
        ;;
    esac
  done
  setup
  for stage in "$@"; do
    [[ $stage == setup ]] || "$python" "scripts/bench/drive/$stage.py"
  done
}

setup() {
  mkdir -p "$build"/{bin,log}
  make --no-print-directory build runtime >&2
  go build -trimpath -o "$build/bin/" ./scripts/bench/{offline,server} ./scripts/stress_test
  packages
  checkpoint
  for precision in int8 fp32; do
    ./build/dragoman pull "$build/checkpoint" --precision "$precision" --out "$build/$precision" >&2
    ./build/dragoman pull model/bundled --precision "$precision" --out "$build/bundled-$precision" >&2
  done
  for precision in int8 float32; do
    convert "$build/checkpoint" "$build/ct2-$precision" "$precision"
    convert model/bundled "$build/ct2-bundled-$precision" "$precision"
  done
}

# unchanged FILE SUM says whether FILE was made from what has this checksum.
unchanged() { [[ -f $1 && $(<"$1") == "$2" ]]; }

packages() {
  local sum
  sum=$(sha256sum <scripts/bench/requirements.txt)
  unchanged "$build/venv/made_from" "$sum" && return
  "${PYTHON:-python3}" -m venv "$build/venv"
  "$python" -m pip install --quiet --disable-pip-version-check -r scripts/bench/requirements.txt >&2
  echo "$sum" >"$build/venv/made_from"
}

# The checkpoint has the shape of facebook/m2m100_418M, random weights and the
# tokenizer of the bundled model, which fits: its ids are among the checkpoint's.
checkpoint() {
  local sum
  sum=$(cat scripts/random_checkpoint/*.go | sha256sum)
  unchanged "$build/checkpoint/made_from" "$sum" && return
  go run ./scripts/random_checkpoint --shape 418M --out "$build/checkpoint"
  cp model/bundled/{sentencepiece.bpe.model,vocab.json,tokenizer_config.json} "$build/checkpoint"
  echo "$sum" >"$build/checkpoint/made_from"
}

# convert CHECKPOINT OUT PRECISION converts for CTranslate2.
convert() {
  [[ $2/model.bin -nt $1/model.safetensors ]] ||
    "$python" scripts/bench/peers/convert.py "$@" 2>"$build/log/convert.log" ||
    { cat "$build/log/convert.log" >&2; return 1; }
}

main "$@"
