#!/usr/bin/env bash
# Makes archives that need nothing else: the program with the bundled model in it, ONNX Runtime's
# library, the licences, and for Linux a unit of systemd; and of the same files packages for pip and npm,
# a .deb and a Homebrew formula (packages.py):
#
#   scripts/release/build.sh [platform...]      (default: all of them, see below)
#
# They come into build/release, with a bill of materials and SHA256SUMS. Everything is compiled on
# x86-64 Linux with zig, whose C libraries are those of the oldest systems that the archives run on.
# What is made of a commit has the same bytes each time; scripts/release/test.sh compares. VERSION is
# written into the program (default: git describe). Needs Go, pip, jq and zip.
set -euo pipefail
cd "$(dirname "$0")/../.."

# die prints an error with a remedy in one line, and exits.
die() {
  echo "release: $*" >&2
  exit 1
}

[[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || die "archives are made on x86-64 Linux only"
for tool in zip jq; do
  scripts/needs.sh "$tool" "$tool"
done
(($# > 0)) || set -- linux-amd64 linux-arm64 macos-arm64 windows-amd64

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo dev)}
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
out=$PWD/build/release
zig=$PWD/build/zig
stubs=$PWD/build/macos_stubs
export CGO_ENABLED=1 GOFLAGS=-tags=nomsgpack,grpcnotrace
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

grep -v '^#' scripts/release/zig.txt | cmp -s - "$zig/requirement" || {
  rm -rf "$zig"
  python3 -m pip install --quiet --no-deps --require-hashes --target "$zig" -r scripts/release/zig.txt
  grep -v '^#' scripts/release/zig.txt >"$zig/requirement"
}

# compile builds the program into a folder, for a target of zig's and with flags for C.
compile() {
  local to=$1 target=$2 flags=${3:-}
  CC="$zig/ziglang/zig cc -target $target" CXX="$zig/ziglang/zig c++ -target $target" CGO_CFLAGS="-O2 $flags" \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$to/dragoman$(go env GOEXE)" ./app
}

# stage puts into a folder what an archive holds, and writes the bill of materials. The name by which
# ONNX Runtime is fetched comes second.
stage() {
  local to=$1 runtime=$2 library
  scripts/image/licenses.sh "$to" >/dev/null
  ONNXRUNTIME_FROM=pip ONNXRUNTIME_PLATFORM=$runtime scripts/fetch_onnxruntime.sh "$PWD/build/onnxruntime-$runtime" >/dev/null
  mkdir -p "$to/licenses/onnxruntime"
  cp build/onnxruntime-"$runtime"/*.txt "$to/licenses/onnxruntime/"
  for library in build/onnxruntime-"$runtime"/*onnxruntime.*; do
    cp "$library" "$to/"
    VERSION=$version LIBRARY=$library scripts/image/sbom.sh "$out/$(basename "$to").cdx.json" >/dev/null
  done
  cp scripts/release/README.md "$to/"
}

# pack makes an archive of a folder in $scratch: names in order, times of the commit, no owners.
pack() {
  local name=$1
  chmod -R u=rwX,go=rX "$scratch/$name"
  find "$scratch/$name" -exec touch --no-dereference --date "@$epoch" {} +
  cd "$scratch"
  rm -f "$out/$name".{zip,tar.gz}
  if [[ $name == *windows* ]]; then
    find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -q -X -9 "$out/$name.zip" -@
  else
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --format=ustar "$name" | gzip -9n >"$out/$name.tar.gz"
  fi
  cd - >/dev/null
}

for platform; do
  name=dragoman-${version#v}-$platform
  folder=$scratch/$name
  mkdir "$folder"
  echo "making $name"
  case $platform in
    linux-amd64)
      export GOOS=linux GOARCH=amd64
      compile "$folder" x86_64-linux-gnu.2.28 -mprefer-vector-width=512
      stage "$folder" Linux-x86_64
      ;;
    linux-arm64)
      export GOOS=linux GOARCH=arm64
      compile "$folder" aarch64-linux-gnu.2.28
      stage "$folder" Linux-aarch64
      ;;
    macos-arm64)
      scripts/release/macos_stubs.sh "$stubs"
      export GOOS=darwin GOARCH=arm64
      CGO_LDFLAGS="-F$stubs -L$stubs" compile "$folder" aarch64-macos.14.0 "-I$stubs"
      stage "$folder" Darwin-arm64
      ;;
    windows-amd64) # ONNX Runtime's headers define again, as nothing, what those of Windows have
      # Without -g, which Go asks the linker for: it makes a .pdb with names of temporary folders, and its hash is in the program.
      export GOOS=windows GOARCH=amd64
      CGO_LDFLAGS=-O2 compile "$folder" x86_64-windows-gnu "-mprefer-vector-width=512 -Wno-macro-redefined"
      stage "$folder" Windows-x86_64
      ;;
    *) die "$platform: use linux-amd64, linux-arm64, macos-arm64 or windows-amd64" ;;
  esac
  [[ $platform != linux-* ]] || cp scripts/release/dragoman.service "$folder/"
  pack "$name"
  scripts/release/packages.py "$version" "$epoch" "$out" "$platform" "$folder"
done
scripts/release/packages.py "$version" "$epoch" "$out"

read -r python npm debian <<<"$(scripts/release/packages.py "$version")"
(cd "$out" && for file in dragoman*; do
  case $file in
    "dragoman-${version#v}"-* | *-"$python"-* | *-"$npm".tgz | *_"$debian"_* | dragoman.rb) sha256sum "$file" ;;
  esac
done >SHA256SUMS)
ls -l "$out"
