#!/usr/bin/env bash
# Translates real files with stand-ins for a model, and asks the programs that own their formats about the results:
#
#   scripts/files/run.sh                  all, about 12 to 18 minutes, and 3 more to fetch 500 MB the first time
#   scripts/files/run.sh -only docx,odt   some formats
#
# Needs root and Debian to install LibreOffice, Qt's tools, gettext, xmllint, PHP, Java, Maven and npm where they are missing. PYTHON says which
# python3. What else it installs, the files and the results are in build/files; faults.tsv there lists what is wrong.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=build/files/tools
mkdir -p "$tools"

scripts/needs.sh npm nodejs npm
scripts/needs.sh mvn maven
scripts/needs.sh java default-jdk-headless
scripts/needs.sh msgfmt gettext
scripts/needs.sh xmllint libxml2-utils
scripts/needs.sh php php-cli
scripts/needs.sh soffice libreoffice-calc-nogui libreoffice-writer-nogui libreoffice-impress-nogui
PATH=$PATH:/usr/lib/qt6/bin scripts/needs.sh lrelease qt6-l10n-tools
[[ -n ${PYTHON:-} ]] || scripts/needs.sh python3 python3 python3-venv
[[ -x $tools/venv/bin/python ]] || "${PYTHON:-python3}" -m venv "$tools/venv"
"$tools/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/files/requirements.txt
[[ -d $tools/java ]] || mvn -q -B -f scripts/files/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/$tools/java"
mkdir -p "$tools/npm"
cp scripts/files/package.json scripts/files/owners.mjs "$tools/npm"
npm install --silent --no-audit --no-fund --prefix "$tools/npm"

scripts/files/fetch.sh
PATH=$PATH:/usr/lib/qt6/bin go run ./scripts/files "$@"
