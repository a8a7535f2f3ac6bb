#!/usr/bin/env bash
# Translates by a tiny language model behind llama.cpp's server and transformers serve, as their packages have them:
#
#   scripts/llm/run.sh              both
#   scripts/llm/run.sh llama        llama.cpp's alone: the other needs 6 GB of disk for torch
#
# Needs python3 with venv, which it installs as root, and build/dragoman. What else it installs goes to build/llm and is used again.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=build/llm
mkdir -p "$work"
scripts/needs.sh python3 python3 python3-venv
install() { # folder, requirements
  [[ -x $work/$1/bin/python ]] || "${PYTHON:-python3}" -m venv "$work/$1"
  "$work/$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "scripts/llm/$2"
}
install llama requirements.txt
"$work/llama/bin/python" scripts/llm/model.py gguf "$work/tiny.gguf"
"$work/llama/bin/python" scripts/llm/model.py hf "$work/tiny"
transformers=()
if [[ ${1:-} != llama ]]; then
  install transformers requirements-transformers.txt
  transformers=("$PWD/$work/transformers/bin/python")
fi
rm -rf "$work/run"
"$work/llama/bin/python" scripts/llm/checks.py build/dragoman "$work/tiny.gguf" "$PWD/$work/tiny" "$work/run" "${transformers[@]}"
