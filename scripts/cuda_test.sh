#!/usr/bin/env bash
# Tests DEVICE=cuda without a GPU: the service and gpu_check with ONNX Runtime's CUDA
# provider, on stand-ins for NVIDIA's libraries (scripts/gpu_check/standin):
#
#   scripts/cuda_test.sh [arguments of go test, such as -run Faults]
#
# It needs build/dragoman (make build), and fetches ONNX Runtime for CUDA into
# build/onnxruntime-cuda unless it is there: 180 MB.
set -euo pipefail
cd "$(dirname "$0")/.."

onnxruntime=build/onnxruntime-cuda standin=build/standin sources=scripts/gpu_check/standin/src
[[ -e $onnxruntime/libonnxruntime_providers_cuda.so ]] || scripts/image/fetch_onnxruntime_cuda.sh "$onnxruntime"

mkdir -p "$standin"
"${CC:-cc}" -O3 -march=native -std=gnu11 -Wall -Wextra -fPIC -shared -pthread \
  -Imodel/cuda/driver -Imodel/cuda/kernels -Imodel/onnxruntime/include "$sources"/*.c model/cuda/kernels/kernels.c \
  -Wl,-soname,libcuda.so.1 -Wl,--version-script="$sources/exports.map" -lm -o "$standin/libcuda.so.1"
for name in libcudart.so.13 libcublas.so.13 libcublasLt.so.13 libcurand.so.10; do
  ln -sf libcuda.so.1 "$standin/$name"
done

go test -c -o build/gpu_check.bin ./scripts/gpu_check
DRAGOMAN_STANDIN=$PWD/$standin go test -count=1 -v "$@" ./scripts/gpu_check/standin
