#!/usr/bin/env bash
# Benchmarks at the size of facebook/m2m100_418M, with random weights:
#
#   scripts/bench_418m.sh [folder]      (default: build/bench; needs 6 GB of disk)
#
# It makes the checkpoint and exports it, once, and then runs the benchmarks of
# export, loading, encoder and decoder step. Run it on a machine that does nothing
# else; DRAGOMAN_BENCH_THREADS sets the threads of a step (default 1).
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/bench}
checkpoint=$folder/checkpoint
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

make build runtime
if [[ ! -f $checkpoint/model.safetensors ]]; then
  go run ./scripts/random_checkpoint --shape 418M --out "$checkpoint"
  # Any tokenizer that fits will do: the benchmarks feed ids.
  cp model/bundled/{sentencepiece.bpe.model,vocab.json,tokenizer_config.json} "$checkpoint"
fi
for precision in int8 fp32; do
  ./build/dragoman pull "$checkpoint" --precision "$precision" --out "$folder/$precision"
done

export DRAGOMAN_BENCH_CHECKPOINT=$folder/checkpoint DRAGOMAN_BENCH_MODELS=$folder
go test -run '^$' -bench BenchmarkExport -benchtime 3x ./model/export
go test -run '^$' -bench 'BenchmarkOpen|BenchmarkEncode|BenchmarkStep' -benchtime 10x ./model/cpu
