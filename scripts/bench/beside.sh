#!/usr/bin/env bash
# Measures dragoman beside what people would use instead, on the same model, by the same API, in turns:
#
#   scripts/bench/beside.sh [setup] [libretranslate] [firefox]     (default: libretranslate firefox)
#
# setup only makes what is needed, in two minutes; the rest takes about ten. Nothing else should run meanwhile.
#
# libretranslate is LibreTranslate 1.9.6 with an Argos package of the published models' size, firefox is fxtranslate 0.5.0 behind a thin
# HTTP service with a model of Firefox's tiny shape. The packages come from PyPI, the models are made of trained small ones (see
# peers/wide_argos.py and wide_firefox.py). Tables go to docs/benchmarks/beside-*.md, and into docs/benchmarks.md. Knobs:
#
#   BENCH_QUICK=1            small texts, one repetition: to try it out
#   BENCH_REPS=3             repetitions
#   BENCH_BESIDE_SECONDS=4   seconds of a cell with clients
#   BENCH_BESIDE_LONG=15     seconds from which on a cell of a side is measured once
#   BENCH_DIR, BENCH_OUT     build/bench and docs/benchmarks
#   PYTHON=python3           Python 3.11
set -euo pipefail
cd "$(dirname "$0")/../.."
export BENCH_DIR=${BENCH_DIR:-$PWD/build/bench}
work=$BENCH_DIR/beside venv=$BENCH_DIR/venv-beside
[[ $# -gt 0 ]] || set -- libretranslate firefox

mkdir -p "$work" "$BENCH_DIR/log"
make --no-print-directory build runtime >&2
if [[ ! -f $venv/made_from ]] || ! cmp -s "$venv/made_from" scripts/bench/peers/beside.txt; then
  rm -rf "$venv"
  "${PYTHON:-python3}" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/bench/peers/beside.txt >&2
  cp scripts/bench/peers/beside.txt "$venv/made_from"
fi

packages=$work/packages
rm -rf "$packages"
"$venv/bin/python" scripts/bench/peers/wide_argos.py model/testdata/families/ctranslate2-trained "$packages/translate-en_fr-1_9" \
  "$work/sentences.txt" scripts/quality/dev.tsv
# With one package alone LibreTranslate fetches all that there are from the network.
cp -al "$packages/translate-en_fr-1_9" "$packages/translate-en_es-1_9"
sed 's/"fr"/"es"/; s/French/Spanish/' "$packages/translate-en_fr-1_9/metadata.json" >"$work/metadata.json"
mv "$work/metadata.json" "$packages/translate-en_es-1_9/"
"$venv/bin/python" scripts/bench/peers/wide_firefox.py model/testdata/firefox-trained "$work/tiny-checkpoint"
rm -rf "$work"/{argos,tiny}
./build/dragoman pull "$packages/translate-en_fr-1_9" --out "$work/argos" >&2
./build/dragoman pull "$work/tiny-checkpoint" --out "$work/tiny" >&2

[[ $* == setup ]] || BENCH_PYTHON=$venv/bin/python "$venv/bin/python" scripts/bench/drive/beside.py "${@/setup/}"
