#!/usr/bin/env bash
# Writes a software bill of materials (CycloneDX, JSON) of the binary and of what
# ships beside it: Go modules with their licences, ONNX Runtime, the bundled model,
# the table of n-grams and Swagger UI:
#
#   scripts/image/sbom.sh [file]        (default: build/sbom.cdx.json)
#
# cyclonedx-gomod lists the Go modules; scripts/image/tools/go.mod pins it. sbom.jq adds
# the others, by jq 1.6 or newer. The base image is not in the document: its publisher
# has one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

version=${VERSION:-$(git -C "$root" describe --tags --always --dirty 2>/dev/null || echo dev)}
runtime=$(sed -n 's/^version=//p' "$root/scripts/fetch_onnxruntime.sh")
file=${1:-$root/build/sbom.cdx.json}
digest() { sha256sum "$root/$1" | cut -d' ' -f1; }

"$root/scripts/fetch_onnxruntime.sh" >/dev/null # checks the library's checksum
mkdir -p "$(dirname "$file")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The build settings are those of the binary: they decide which modules are in it.
CGO_ENABLED=1 go -C "$root/scripts/image/tools" tool cyclonedx-gomod app -json -licenses -assert-licenses -std \
  -output-version 1.5 -main app -output "$scratch/modules.json" "$root"
jq -f "$root/scripts/image/sbom.jq" --arg version "$version" --arg onnxruntime "$runtime" \
  --arg library "$(digest build/onnxruntime/libonnxruntime.so)" --arg model "$(digest model/bundled/model.safetensors)" \
  --arg ngrams "$(digest app/text/language/internal/ngrams/ngrams.bin)" "$scratch/modules.json" >"$scratch/sbom.json"
mv "$scratch/sbom.json" "$file"
echo "the bill of materials is in $file"
