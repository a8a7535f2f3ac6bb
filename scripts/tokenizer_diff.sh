#!/usr/bin/env bash
# Compares package tokenizer/spm with SentencePiece's own spm_encode and spm_decode
# (Debian's package "sentencepiece", installed by apt where it is missing), or with the
# Python package of that name.
#
#   scripts/tokenizer_diff.sh FILE...         count lines that differ; fails on any
#   scripts/tokenizer_diff.sh --bench FILE    time both on one core
#
# A line ends at "\n" only: both sides take "\r" and NUL for text. So a file must
# have Unix line ends to be compared as it is meant, and texts with a newline inside
# cannot be compared here; the goldens in tokenizer/testdata have some.
#
# Environment: MODEL (a sentencepiece.bpe.model), RUNS (of --bench, 5), CORE (0), PYTHON (one
# that has the package sentencepiece).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
model=${MODEL:-$root/model/bundled/sentencepiece.bpe.model}
runs=${RUNS:-5}
core=${CORE:-0}
python=${PYTHON:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
  local bench=false
  if [ "${1:-}" = --bench ]; then
    bench=true
    shift
  fi
  if [ $# -eq 0 ]; then
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
  fi
  install_reference
  (cd "$root" && go build -o "$work/spmtool" ./scripts/spmtool)
  if $bench; then
    benchmark "$1"
  else
    compare "$@"
  fi
}

install_reference() {
  [ -z "$python" ] || return 0
  command -v spm_encode spm_decode >/dev/null && return
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  if ! { "${sudo[@]}" apt-get update -qq && "${sudo[@]}" apt-get install -qq -y --no-install-recommends sentencepiece; } >&2; then
    echo "spm_encode is missing and apt could not install it: install the package \"sentencepiece\"" >&2
    exit 2
  fi
}

# The same calls on both sides: text or pieces in, one line out for each.
reference_encode() { reference encode; }
reference_decode() { reference decode; }
reference() {
  if [ -n "$python" ]; then
    "$python" "$root/scripts/spm_reference.py" "$model" "$1"
  else
    "spm_$1" --model="$model"
  fi
}
ours_encode() { "$work/spmtool" -model "$model" encode; }
ours_decode() { "$work/spmtool" -model "$model" decode; }

compare() {
  local file lines total=0 differences=0 encode decode
  for file in "$@"; do
    reference_encode <"$file" >"$work/pieces.want"
    ours_encode <"$file" >"$work/pieces.got"
    reference_decode <"$work/pieces.want" >"$work/text.want"
    ours_decode <"$work/pieces.want" >"$work/text.got"
    lines=$(wc -l <"$work/pieces.want")
    encode=$(count_differences pieces)
    decode=$(count_differences text)
    printf '%s: %d lines, %d encoded and %d decoded differently\n' "$file" "$lines" "$encode" "$decode"
    total=$((total + lines))
    differences=$((differences + encode + decode))
  done
  printf 'all: %d lines, %d differences\n' "$total" "$differences"
  [ "$differences" -eq 0 ]
}

# count_differences NAME prints how many lines of NAME.want and NAME.got differ, and
# shows the first ones on standard error.
count_differences() {
  if cmp -s "$work/$1.want" "$work/$1.got"; then
    echo 0
    return
  fi
  diff -a "$work/$1.want" "$work/$1.got" >"$work/diff" || true
  head -n 10 "$work/diff" | cut -c 1-200 >&2
  grep -ac '^[<>]' "$work/diff"
}

# benchmark FILE runs each command as a process on one core, in turns, start-up
# included, and prints the medians.
benchmark() {
  local task side run
  reference_encode <"$1" >"$work/pieces"
  for ((run = 0; run < runs; run++)); do
    for task in encode decode; do
      for side in reference ours; do
        if [ "$task" = encode ]; then seconds "${side}_$task" "$1"; else seconds "${side}_$task" "$work/pieces"; fi >>"$work/$side.$task"
      done
    done
  done
  for task in encode decode; do
    awk -v task="$task" -v lines="$(wc -l <"$1")" -v tokens="$(wc -w <"$work/pieces")" \
      -v want="$(median "$work/reference.$task")" -v got="$(median "$work/ours.$task")" -v runs="$runs" 'BEGIN {
        printf "%s: spm_%s %.3f s (%.0f lines/s), tokenizer/spm %.3f s (%.0f lines/s, %.0f tokens/s), %.1f times as fast; median of %d\n",
          task, task, want, lines / want, got, lines / got, tokens / got, want / got, runs }'
  done
}

# seconds FUNCTION FILE prints the seconds that FUNCTION takes to read FILE.
seconds() {
  local start=$EPOCHREALTIME
  (
    taskset -cp "$core" "$BASHPID" >/dev/null
    GOMAXPROCS=1 "$1" <"$2" >/dev/null
  )
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

median() { sort -g "$1" | sed -n "$((runs / 2 + 1))p"; }

main "$@"
