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
#   models   12 models at once: latency and memory, by rate (models-setup only makes the models)
#   report   tables and plots of what was measured so far
#
# All of it takes most of a day, of which models takes 2 hours (and 22 GB of disk). Knobs, as in BENCH_REPS=3 scripts/bench/run.sh offline:
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
#            BENCH_SHAPE=418M          opus-base, opus-tc-big, or madlad-3B, with BENCH_PRECISIONS=int8, of which
#                                      BENCH_SIDES="dragoman-int8 ctranslate2-int8" are measured
#            BENCH_VOCAB=vocab.json    vocabulary of the 418M shape, in place of the bundled model's; its pieces say which ones the
#                                      target language BENCH_TARGET=fr may have
#            BENCH_CELL_SECONDS=60     a side leaves out what would take it longer
#   served:  BENCH_MODELS="bundled 418M 418M-greedy" BENCH_SERVED_SHARES="0.25 0.5 0.8 1.2"
#            BENCH_SERVED_SECONDS=20 BENCH_SERVED_ARRIVALS=80 BENCH_SERVED_LONGEST=90
#                                      at each rate: least time, least arrivals, longest time
#            BENCH_SERVED_PROBES=5     rates tried to find the highest with p95 in time; 0: none
#            BENCH_BUNDLED_PRECISION=fp32
#   stress:  BENCH_STRESS_MODELS=bundled BENCH_STRESS_REQUESTS=100 BENCH_STRESS_TIMEOUT=60
#   soak:    BENCH_SOAK_MINUTES=30 BENCH_SOAK_MODEL=bundled
#   models:  BENCH_CATALOGUE=12 BENCH_MODELS_REPS=1 BENCH_MODELS_BEAMS=5 BENCH_MODELS_LAMBDA=0.3
#            BENCH_MODELS_RATES="0.25 0.5 1 1.5 2 3 4 5 6 8" BENCH_MODELS_SECONDS=60
#            BENCH_MODELS_TIMEOUT=60   when clients give up
#            BENCH_MODELS_PROBES=3     rates tried between the last with p95 in time and the next; 0: none
#            BENCH_MODEL_MEMORY        MODEL_MEMORY of the catalogue
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BENCH_DIR:-build/bench}
shape=${BENCH_SHAPE:-418M} languages= models=$build
[[ $shape != opus-* ]] || languages=en:fr
[[ $shape == 418M ]] || models=$build/$shape  # of the shape
python=$build/venv/bin/python
vocab=${BENCH_VOCAB:-model/bundled/vocab.json}

main() {
  [[ $# -gt 0 ]] || set -- offline served stress report
  for stage in "$@"; do
    case $stage in
      setup | offline | served | stress | soak | models-setup | models | report) ;;
      *)
        sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
        exit 2
        ;;
    esac
  done
  tools
  for stage in "$@"; do
    case $stage in
      models*) catalogue ;;
      report) ;;
      *) setup ;;
    esac
    [[ $stage == *setup ]] || "$python" "scripts/bench/drive/$stage.py"
  done
}

tools() {
  programs
  packages
}

programs() {
  mkdir -p "$build"/{bin,log} "$models"
  make --no-print-directory build runtime >&2
  go build -trimpath -o "$build/bin/" ./scripts/bench/{offline,server} ./scripts/{stress_test,random_checkpoint}
}

# exported makes the checkpoint of the 418M shape and exports it.
exported() {
  local precision
  checkpoint "$models/checkpoint"
  for precision in ${BENCH_PRECISIONS:-int8 fp32}; do
    MODEL_LANGUAGES=$languages ./build/dragoman pull "$models/checkpoint" --precision "$precision" --out "$models/$precision" >&2
  done
}

setup() {
  local precision
  exported
  for precision in ${BENCH_PRECISIONS:-int8 fp32}; do
    convert "$models/checkpoint" "$models/ct2-${precision/fp/float}" "${precision/fp/float}"
  done
  [[ $shape == 418M ]] || return 0
  for precision in int8 fp32; do
    ./build/dragoman pull model/bundled --precision "$precision" --out "$build/bundled-$precision" >&2
  done
  for precision in int8 float32; do
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

# catalogue makes models with weights of their own, m01 the most popular. Their
# checkpoints are not kept, but for the tokenizer, which all share.
catalogue() {
  local name seed sum work=$build/random
  for seed in $(seq "${BENCH_CATALOGUE:-12}"); do
    name=$(printf 'm%02d' "$seed")
    sum=$(generator)
    unchanged "$build/ct2-repository/$name/made_from" "$sum" && continue
    checkpoint "$work" --dtype f16 --seed "$seed"
    ./build/dragoman pull "$work" --precision int8 --out "$build/repository/$name/1" >&2
    convert "$work" "$build/ct2-repository/$name" int8
    rm "$work"/{made_from,model.safetensors}
    echo "$sum" >"$build/ct2-repository/$name/made_from"
  done
}

# generator changes with the program that makes checkpoints.
generator() { find scripts/random_checkpoint -name '*.go' ! -name '*_test.go' -print0 | sort -z | xargs -0 cat | sha256sum; }

# checkpoint OUT [FLAG]... makes one of the shape, with random weights and a small
# tokenizer that fits: its ids are among the checkpoint's.
checkpoint() {
  local out=$1 sum
  sum=$(generator; printf %s "$shape${*:2}"; sha256sum <"$vocab")
  unchanged "$out/made_from" "$sum" && return
  "$build/bin/random_checkpoint" --shape "$shape" --out "$@"
  case $shape in
    opus-*) cp model/testdata/families/marian/{source.spm,target.spm,vocab.json,tokenizer_config.json} "$out" ;;
    madlad-*) cp model/testdata/families/t5/{spiece.model,tokenizer_config.json} "$out" ;;
    *) cp model/bundled/{sentencepiece.bpe.model,tokenizer_config.json} "$vocab" "$out" ;;
  esac
  echo "$sum" >"$out/made_from"
}

# convert CHECKPOINT OUT PRECISION converts for CTranslate2.
convert() {
  [[ $2/model.bin -nt $1/model.safetensors ]] ||
    "$python" scripts/bench/peers/convert.py "$@" 2>"$build/log/convert.log" ||
    { cat "$build/log/convert.log" >&2; return 1; }
}

main "$@"
