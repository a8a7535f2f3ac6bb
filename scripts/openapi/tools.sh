#!/usr/bin/env bash
# Installs what checks the OpenAPI documents and makes clients of them into build/openapi, once for each version:
#
#   scripts/openapi/tools.sh
#
# Needs python3 with venv, and npm, which it installs as root; PYTHON says which python3.
set -euo pipefail
cd "$(dirname "$0")"
work=../../build/openapi
mkdir -p "$work"
../needs.sh npm nodejs npm
[[ -n ${PYTHON:-} ]] || ../needs.sh python3 python3 python3-venv
cat requirements.txt package-lock.json | cmp -s - "$work/installed" && exit
rm -rf "$work/venv" "$work/node_modules"
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
cp package.json package-lock.json .npmrc "$work/"
(cd "$work" && npm ci --silent)
cat requirements.txt package-lock.json >"$work/installed"
