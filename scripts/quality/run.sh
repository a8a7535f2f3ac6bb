#!/usr/bin/env bash
# Translates dev.tsv with the bundled model in fp32 and int8 and compares both with
# the references, with each other and with Hugging Face (see docs/benchmarks.md):
#
#   scripts/quality/run.sh [beams]      (default: 1, greedy)
#
# Needs python3 with what requirements.txt names; PYTHON says which one.
set -euo pipefail
cd "$(dirname "$0")/../.."
beams=${1:-1}
baseline=greedy
[[ $beams == 1 ]] || baseline=beam$beams
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make --no-print-directory build runtime >&2
for precision in fp32 int8; do
  cut -f2,3 scripts/quality/dev.tsv | sort -u | while IFS=$'\t' read -r one other; do
    for pair in "$one $other 4 5" "$other $one 5 4"; do
      read -r from to source _ <<<"$pair"
      awk -F'\t' -v a="$one" -v b="$other" -v c="$source" '$2 == a && $3 == b {print $c}' scripts/quality/dev.tsv >"$scratch/source"
      PRECISION=$precision LOG_LEVEL=warn ./build/dragoman translate --from "$from" --to "$to" --beams "$beams" <"$scratch/source" >"$scratch/target"
      paste "$scratch/source" "$scratch/target" | sed "s/^/$from\t$to\t/" >>"$scratch/$precision.tsv"
    done
  done
done
"${PYTHON:-python3}" scripts/quality/chrf.py \
  "hf=model/testdata/quality_hf_$baseline.tsv.gz" "fp32=$scratch/fp32.tsv" "int8=$scratch/int8.tsv"
