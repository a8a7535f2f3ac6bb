#!/usr/bin/env bash
# Runs the tests that compute with floating point on emulated CPUs, without the vector
# instructions of this one: ONNX Runtime and model/cpu/ops choose their kernels by what a
# CPU has, and each rounds in its own way.
#
#   scripts/other_cpu_test.sh [amd64 | arm64]      (default: amd64; half an hour for each CPU)
#   scripts/other_cpu_test.sh arm64 model/cpu/ops  (one package only: half a minute for each CPU)
#
# Settings: CPUS, of `qemu-x86_64 -cpu help` or `qemu-aarch64 -cpu help`, and TESTS, a pattern.
set -euo pipefail
cd "$(dirname "$0")/.."

arch=${1:-amd64} only=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $arch in
  amd64)
    scripts/needs.sh qemu-x86_64 qemu-user
    emulator=(qemu-x86_64 -cpu)
    root=/
    cpus=${CPUS:-Nehalem Haswell}
    ;;
  arm64) # max has dot products and i8mm, cortex-a76 dot products only, cortex-a72 none
    scripts/needs.sh qemu-aarch64 qemu-user
    scripts/needs.sh aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++6-arm64-cross
    emulator=(qemu-aarch64 -cpu)
    cpus=${CPUS:-max cortex-a76 cortex-a72}
    # ONNX Runtime counts the CPUs in /proc/cpuinfo, where it does not expect those of another architecture.
    root=$work/root
    mkdir -p "$root/proc"
    ln -s /usr/aarch64-linux-gnu/lib "$root/lib"
    printf '%s\t: %s\n' processor 0 Features 'fp asimd' 'CPU implementer' 0x41 'CPU architecture' 8 \
      'CPU variant' 0x0 'CPU part' 0xd08 'CPU revision' 3 >"$root/proc/cpuinfo"
    export GOOS=linux GOARCH=arm64 CC=aarch64-linux-gnu-gcc
    ONNXRUNTIME_PLATFORM=Linux-aarch64 scripts/fetch_onnxruntime.sh build/onnxruntime-arm64
    export ONNXRUNTIME_LIB=$PWD/build/onnxruntime-arm64/libonnxruntime.so
    ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
export ASAN_OPTIONS=detect_leaks=0 # which an emulator's processes cannot do

# What is tested in which package; the rest does not compute, or more of the same.
failed=
while read -r package pattern; do
  [[ -z $only || $package == "$only" ]] || continue
  CGO_ENABLED=1 go test -c -vet=off -o "$work/test" "./$package"
  for cpu in $cpus; do
    echo "== $package on $cpu"
    run=("${emulator[@]}" "$cpu" -L "$root")
    (cd "$package" && DRAGOMAN_EMULATOR="${run[*]}" "${run[@]}" "$work/test" -test.short -test.timeout 3h -test.run "${TESTS:-$pattern}" \
      2> >(grep -v "TCG doesn't support requested feature" >&2)) || failed+=" $package:$cpu"
  done
done << 'END'
model/cpu/ops .
model/cpu Golden|Invarian|Precisions
model/cuda Golden|HalfPrecision
app Service(Translates|TranslatesHTML|KeepsMarkup|KeepsTheLayout|StandsHostileRequests)$|Levels
END
[[ -z $failed ]] || { echo "$0: failed:$failed" >&2; exit 1; }
