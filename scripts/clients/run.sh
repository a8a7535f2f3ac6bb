#!/usr/bin/env bash
# Runs published clients of LibreTranslate, DeepL, Azure, Google, OpenAI, Triton and agents, as they are, against a server:
#
#   scripts/clients/run.sh                                  the one in server/, without a model
#   BASE_URL=http://localhost:9527 scripts/clients/run.sh   one that runs, without keys, and with gRPC at GRPC_URL (localhost:8001)
#
# Needs python3 with venv, node and npm, which it installs as root; PYTHON says which python3. What else it installs
# goes to build/clients and is used again.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=build/clients
mkdir -p "$work"

scripts/needs.sh npm nodejs npm
[[ -n ${PYTHON:-} ]] || scripts/needs.sh python3 python3 python3-venv
if [[ ! -x $work/venv/bin/python ]]; then
  "${PYTHON:-python3}" -m venv "$work/venv"
fi
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/clients/requirements.txt
# The client for the version of the API before, which is another release of one package.
[[ -d $work/azure1 ]] || "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --target "$work/azure1" azure-ai-translation-text==1.0.1
cp scripts/clients/{package.json,package-lock.json,.npmrc,clients.mjs} "$work/"
(cd "$work" && npm ci --silent)

toy=()
if [[ -z ${BASE_URL:-} ]]; then
  toy=(toy)
  go build -o "$work/server" ./scripts/clients/server
  rm -f "$work/address"
  "$work/server" -address "$work/address" &
  server=$!
  trap 'kill "$server"; wait "$server" || true' EXIT
  for _ in $(seq 100); do
    [[ $(wc -l 2>/dev/null <"$work/address") == 2 ]] && break
    kill -0 "$server"
    sleep 0.1
  done
  BASE_URL=$(sed -n 1p "$work/address")
  GRPC_URL=$(sed -n 2p "$work/address")
  export GRPC_URL
fi
"$work/venv/bin/python" scripts/clients/clients.py "$BASE_URL" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/openai_chat.py "$BASE_URL" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/agents.py "$BASE_URL" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/triton.py "$BASE_URL" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/triton_grpc.py "${GRPC_URL:-localhost:8001}" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/translator_azure.py "$BASE_URL" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/document_azure.py "$BASE_URL" "${toy[@]}"
"$work/venv/bin/python" scripts/clients/google_v3.py "$BASE_URL" "${toy[@]}"
PYTHONPATH=$work/azure1 "$work/venv/bin/python" scripts/clients/translator_azure.py "$BASE_URL" "${toy[@]}"
(cd "$work" && node clients.mjs "$BASE_URL" "${toy[@]}")
