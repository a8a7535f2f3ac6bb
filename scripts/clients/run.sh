#!/usr/bin/env bash
# Runs published clients and programs, as they are, against a server:
#
#   scripts/clients/run.sh                                  the one in server/, without a model
#   BASE_URL=http://localhost:9527 scripts/clients/run.sh   one that runs, without keys, and with gRPC at GRPC_URL (localhost:8001)
#
# Needs python3 with venv, node, npm, Java and Maven, which it installs as root; PYTHON says which python3. What else it installs
# goes to build/clients and is used again. A run against server/ writes results.tsv, and the table of clients in docs/front-ends.md.
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
# ocr_translate has other versions of what it shares with the others, and Weblate a hundred packages, some of which are compiled.
[[ -d $work/ocr ]] || "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --target "$work/ocr" django-ocr-translate==0.7.4 ocr-translate-libretranslate==0.1.1
if [[ ! -f $work/weblate/.done ]]; then
  scripts/needs.sh pkg-config pkg-config gcc libgirepository1.0-dev libcairo2-dev liblz4-dev libxxhash-dev libzstd-dev libacl1-dev libssl-dev gir1.2-pango-1.0 gir1.2-rsvg-2.0
  "${PYTHON:-python3}" -m venv "$work/weblate"
  "$work/venv/bin/python" -m uv pip install --quiet --python "$work/weblate/bin/python" weblate==5.14.3 PyGObject==3.50.0 openai==3.57.0 # pip takes half an hour
  touch "$work/weblate/.done"
fi
cp scripts/clients/{package.json,package-lock.json,.npmrc} scripts/clients/*.mjs "$work/"
(cd "$work" && npm ci --silent)
scripts/needs.sh javac default-jdk-headless
scripts/needs.sh mvn maven
deepl=$(sed -n 's/.*<version>\(.*\.[0-9]*\)<.*/\1/p' scripts/clients/pom.xml)
mvn -q -f scripts/clients/pom.xml dependency:copy-dependencies "-DoutputDirectory=$PWD/$work/java" -Dmdep.overWriteReleases=false

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

export RESULTS=$PWD/$work/results.tsv
rm -f "$RESULTS"
status=0
python() { "$1/bin/python" "scripts/clients/$2" "${3:-$BASE_URL}" "${toy[@]}" || status=1; }
for script in clients openai_chat agents triton translator_azure document_azure google_v3; do
  python "$work/venv" $script.py
done
python "$work/venv" triton_grpc.py "${GRPC_URL:-localhost:8001}"
PYTHONPATH=$work/azure1 python "$work/venv" translator_azure.py
PYTHONPATH=$work/ocr python "$work/venv" ocr.py
python "$work/weblate" weblate_machinery.py
for script in clients programs; do
  (cd "$work" && node $script.mjs "$BASE_URL" "${toy[@]}") || status=1
done
java -cp "$work/java/*" scripts/clients/DeepL.java "$BASE_URL" "$deepl" "${toy[@]}" || status=1

# The table of clients in docs/front-ends.md is that of the newest run against server/.
LC_ALL=C sort -o "$RESULTS" "$RESULTS"
if ((${#toy[@]})); then
  cp "$RESULTS" scripts/clients/results.tsv
  awk -F '\t' -v OFS=' | ' '
    FNR == NR { $1 = $1; rows = rows "| " $0 " |\n"; next }
    /^\| API \| client \|/ { print; getline; print; printf "%s", rows; skip = 1; next }
    skip && /^\|/ { next }
    { skip = 0; print }
  ' "$RESULTS" docs/front-ends.md >"$work/front-ends.md"
  cp "$work/front-ends.md" docs/front-ends.md
fi
exit "$status"
