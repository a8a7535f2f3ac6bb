#!/usr/bin/env bash
# Fetches ONNX Runtime's CPU library for this machine into a folder:
#
#   scripts/fetch_onnxruntime.sh [folder]      (default: build/onnxruntime)
#   ONNXRUNTIME_PLATFORM=Linux-aarch64 scripts/fetch_onnxruntime.sh folder      (for another machine)
#
# It comes from the pip package onnxruntime (24 MB), with its licences, or, where there is no pip or with ONNXRUNTIME_FROM=npm, from
# the npm package onnxruntime-node (110 MB: the libraries of all platforms); registry and proxy settings of pip and npm apply.
# The library is checked against the checksums below and put in place by a
# rename: a run that is cut off leaves nothing, two runs at once do no harm, and
# a run that finds the right library does nothing.
set -euo pipefail

version=1.30.0

# die prints an error with a remedy in one line, and exits.
die() {
  echo "fetch_onnxruntime: $*" >&2
  exit 1
}

platform=${ONNXRUNTIME_PLATFORM:-$(uname -s)-$(uname -m)}
case $platform in
  Linux-x86_64)
    npm_file=linux/x64/libonnxruntime.so.1
    npm_sum=ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23
    pip_platform=manylinux_2_28_x86_64
    pip_file=libonnxruntime.so.$version
    pip_sum=c902c70b3003c0e99fada202f37478c515ae9bba7944c2b2abd0017bae0c82ed
    library=libonnxruntime.so
    ;;
  Linux-aarch64 | Linux-arm64)
    npm_file=linux/arm64/libonnxruntime.so.1
    npm_sum=1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76
    pip_platform=manylinux_2_28_aarch64
    pip_file=libonnxruntime.so.$version
    pip_sum=8a218e1e446880131115c368ec7005969a5022af9a15a26173de648fef0b7789
    library=libonnxruntime.so
    ;;
  Darwin-arm64)
    npm_file=darwin/arm64/libonnxruntime.$version.dylib
    npm_sum=685d2be5dba1309c89d3a5324b7fd06a5c42f1a61bfea32d14c4cc28d072121d
    pip_platform=macosx_14_0_arm64
    pip_file=libonnxruntime.$version.dylib
    pip_sum=b46713ea6a25a5227541c21001f6422c1ccdeaecc369aa026a61b752520325c3
    library=libonnxruntime.dylib
    ;;
  Windows-x86_64 | MINGW64*-x86_64 | MSYS*-x86_64)
    npm_file=win32/x64/onnxruntime.dll
    npm_sum=508c362f5673483dd3a086379c392795b2e42d10d5e6f3f90ebd7ac21c97af67
    pip_platform=win_amd64
    pip_file=onnxruntime.dll
    pip_sum=e42c5c917207ff706530315177e39dca2539695a6a8d968a22225e34291b1f12
    library=onnxruntime.dll
    ;;
  *) die "no ONNX Runtime $version library is known for $platform: build one and name it with ONNXRUNTIME_LIB" ;;
esac

folder=${1:-"$(dirname "$0")/../build/onnxruntime"}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
target=$folder/$library

# sum prints a file's sha256.
sum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d' ' -f1
  else
    shasum -a 256 "$1" | cut -d' ' -f1
  fi
}

if [[ -f $target ]]; then
  have=$(sum "$target")
  if [[ $have == "$npm_sum" || $have == "$pip_sum" ]]; then
    echo "ONNX Runtime $version is in $target"
    exit 0
  fi
  echo "fetch_onnxruntime: $target is not ONNX Runtime $version (sha256 $have): replacing it" >&2
fi

# The scratch folder is beside the target, so that the last step is a rename
# within one file system.
scratch=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# with_npm and with_pip leave the library in $scratch/library; $log has the output.
log=$scratch/log
with_npm() {
  (cd "$scratch" && npm pack --silent --ignore-scripts "onnxruntime-node@$version") >"$log" 2>&1 &&
    tar -xzf "$scratch/onnxruntime-node-$version.tgz" -C "$scratch" "package/bin/napi-v6/$npm_file" >>"$log" 2>&1 &&
    mv "$scratch/package/bin/napi-v6/$npm_file" "$scratch/library"
}
with_pip() {
  python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
    --platform "$pip_platform" --dest "$scratch" "onnxruntime==$version" >"$log" 2>&1 &&
    python3 -m zipfile -e "$scratch"/onnxruntime-*.whl "$scratch/wheel" >>"$log" 2>&1 &&
    mv "$scratch/wheel/onnxruntime/capi/$pip_file" "$scratch/library" &&
    mv "$scratch/wheel/onnxruntime/LICENSE" "$scratch/LICENSE.txt" &&
    mv "$scratch/wheel/onnxruntime/ThirdPartyNotices.txt" "$scratch/"
}

if [[ ${ONNXRUNTIME_FROM:-pip} == pip ]] && python3 -m pip --version >/dev/null 2>&1; then
  echo "fetching ONNX Runtime $version with pip (24 MB)"
  expected=$pip_sum
  with_pip || { cat "$log" >&2; die "pip could not fetch onnxruntime==$version: check the network and pip's index, then run again, or with ONNXRUNTIME_FROM=npm"; }
elif command -v npm >/dev/null; then
  echo "fetching ONNX Runtime $version with npm (110 MB; with pip, 24)"
  expected=$npm_sum
  with_npm || { cat "$log" >&2; die "npm could not fetch onnxruntime-node@$version: check the network and npm's registry, then run again"; }
else
  die "neither pip nor npm is installed: install Python's pip (apt install python3-pip), or put ONNX Runtime $version at $target"
fi

have=$(sum "$scratch/library")
[[ $have == "$expected" ]] ||
  die "the fetched library has sha256 $have, expected $expected: the download is damaged or the package was changed; run again"
chmod 0755 "$scratch/library"
for file in LICENSE.txt ThirdPartyNotices.txt; do # images ship them
  [[ ! -f $scratch/$file ]] || mv -f "$scratch/$file" "$folder/$file"
done
mv -f "$scratch/library" "$target"
echo "ONNX Runtime $version is in $target"
