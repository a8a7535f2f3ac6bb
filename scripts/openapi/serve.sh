#!/usr/bin/env bash
# Serves the bundled model with build/dragoman on a free port, until it is ended, and then writes its address into a file:
#
#   scripts/openapi/serve.sh folder      (folder/url)
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
build=$PWD/build
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cd "$folder"
env -i PATH="$PATH" HOME="$folder" XDG_CACHE_HOME="$folder/cache" APP_HOST=127.0.0.1 APP_PORT="$port" GRPC_PORT=0 \
  ONNXRUNTIME_LIB="$(echo "$build"/onnxruntime/libonnxruntime.*)" "$build/dragoman" serve >log 2>&1 &
trap 'kill $!; wait $! || true' EXIT
until curl -fs "http://127.0.0.1:$port/readyz" >/dev/null; do
  kill -0 $! || { cat log >&2; exit 1; }
  sleep 0.1
done
echo "http://127.0.0.1:$port" >url.part
mv url.part url
wait $!
