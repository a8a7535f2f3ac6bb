#!/usr/bin/env bash
# Fetches ONNX Runtime for NVIDIA's GPUs into a folder: the library, its CUDA
# provider, and the licences that go with them:
#
#   scripts/image/fetch_onnxruntime_cuda.sh folder
#
# It comes from the pip package onnxruntime-gpu. onnxruntime-cuda.txt beside this
# script has the version and the checksum, which pip checks.
set -euo pipefail

# die prints an error with a remedy in one line, and exits.
die() {
  echo "fetch_onnxruntime_cuda: $*" >&2
  exit 1
}

(($# == 1)) || die "name the folder: scripts/image/fetch_onnxruntime_cuda.sh folder"
[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || die "there is no such package for $(uname -s)-$(uname -m): use the cpu target"
requirements=$(cd "$(dirname "$0")" && pwd)/onnxruntime-cuda.txt
mkdir -p "$1"
folder=$(cd "$1" && pwd)
scratch=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes --python-version 3.12 \
  --platform manylinux_2_28_x86_64 --dest "$scratch" -r "$requirements" ||
  die "pip could not fetch what $requirements names: check the network and pip's index, then run again"
python3 -m zipfile -e "$scratch"/onnxruntime_gpu-*.whl "$scratch/wheel"

libraries=("$scratch"/wheel/onnxruntime/capi/libonnxruntime.so.*)
[[ -f ${libraries[0]} ]] || die "the package has no libonnxruntime.so: another version may have it elsewhere"
install -m 0755 "${libraries[0]}" "$folder/libonnxruntime.so"
for provider in shared cuda; do
  install -m 0755 "$scratch/wheel/onnxruntime/capi/libonnxruntime_providers_$provider.so" "$folder/"
done
install -m 0644 "$scratch/wheel/onnxruntime/LICENSE" "$folder/LICENSE.txt"
install -m 0644 "$scratch/wheel/onnxruntime/ThirdPartyNotices.txt" "$folder/"
echo "ONNX Runtime for CUDA is in $folder"
