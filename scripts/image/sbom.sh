#!/usr/bin/env bash
# Writes a software bill of materials (CycloneDX, JSON) of the binary and of what
# ships beside it: Go modules with their licences, ONNX Runtime, the bundled model,
# the table of n-grams and Swagger UI:
#
#   scripts/image/sbom.sh [file]        (default: build/sbom.cdx.json)
#
# With GOOS, GOARCH and LIBRARY, which is ONNX Runtime's, it is that of another system.
# What is made of a commit has the same bytes each time.
#
# cyclonedx-gomod lists the Go modules; scripts/image/tools/go.mod pins it. sbom.jq adds
# the others, by jq 1.6 or newer. The base image is not in the document: its publisher
# has one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

version=${VERSION:-$(git -C "$root" describe --tags --always --dirty 2>/dev/null || echo dev)}
runtime=$(sed -n 's/^version=//p' "$root/scripts/fetch_onnxruntime.sh")
file=${1:-$root/build/sbom.cdx.json}
library=${LIBRARY:-$root/build/onnxruntime/libonnxruntime.so}
epoch=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)
digest() { sha256sum "$1" | cut -d' ' -f1; }

[[ -n ${LIBRARY:-} ]] || "$root/scripts/fetch_onnxruntime.sh" >/dev/null # checks the library's checksum
mkdir -p "$(dirname "$file")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The build settings are those of the binary: they decide which modules are in it.
GOOS='' GOARCH='' go -C "$root/scripts/image/tools" build -o "$scratch/gomod" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
CGO_ENABLED=1 "$scratch/gomod" app -json -noserial -licenses -assert-licenses -std \
  -output-version 1.5 -main app -output "$scratch/modules.json" "$root"
jq -f "$root/scripts/image/sbom.jq" --arg version "$version" --arg onnxruntime "$runtime" \
  --arg library "$(digest "$library")" --arg model "$(digest "$root/model/bundled/model.safetensors")" \
  --arg ngrams "$(digest "$root/app/text/language/internal/ngrams/ngrams.bin")" --arg moses "$(digest "$root/tokenizer/moses/data.txt")" --argjson epoch "$epoch" "$scratch/modules.json" >"$scratch/sbom.json"
mv "$scratch/sbom.json" "$file"
echo "the bill of materials is in $file"
