#!/usr/bin/env bash
# Runs the tests that compute with floating point on emulated CPUs, without the vector
# instructions of this one: ONNX Runtime and model/cpu/ops choose their kernels by what a
# CPU has, and each rounds in its own way. Settings: CPUS, of `qemu-x86_64 -cpu help`, and
# TESTS, a pattern. It takes half an hour for each CPU.
set -euo pipefail
cd "$(dirname "$0")/.."

cpus=${CPUS:-Nehalem Haswell}
command -v qemu-x86_64 > /dev/null || {
  echo "$0: no qemu-x86_64, install it (apt install qemu-user)" >&2
  exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is tested in which package; the rest does not compute, or more of the same.
while read -r package pattern; do
  CGO_ENABLED=1 go test -c -vet=off -o "$work/test" "./$package"
  for cpu in $cpus; do
    echo "== $package on $cpu"
    (cd "$package" && qemu-x86_64 -cpu "$cpu" "$work/test" -test.short -test.timeout 3h -test.run "${TESTS:-$pattern}" \
      2> >(grep -v "TCG doesn't support requested feature" >&2))
  done
done << 'END'
model/cpu/ops .
model/cpu Golden|Invarian|Precisions
model/cuda Golden|HalfPrecision
app Service(Translates|TranslatesHTML|KeepsMarkup|KeepsTheLayout|StandsHostileRequests)$|Levels
END
