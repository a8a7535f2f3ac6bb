#!/usr/bin/env bash
# Writes one story as a PDF by each of some 30 producers, translates each PDF, and compares it before and after by poppler:
#
#   scripts/pdfs/run.sh              all, about 5 minutes, and 10 more to install the producers the first time (root, Debian)
#   scripts/pdfs/run.sh typst fop    some producers
#
# Producers come from Debian's packages, PyPI and npm. PDFs are in build/pdfs/fr and build/pdfs/ja. The status is 1 if a producer lost
# something or was read wrong.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=build/pdfs/tools
scripts/needs.sh pdftoppm poppler-utils
scripts/needs.sh wkhtmltopdf wkhtmltopdf
scripts/needs.sh chromium chromium
scripts/needs.sh soffice libreoffice-writer
scripts/needs.sh pdflatex texlive-latex-base texlive-latex-recommended texlive-latex-extra texlive-fonts-recommended texlive-xetex texlive-luatex lmodern tex-gyre \
  fonts-liberation fonts-dejavu-core python3-pyqt5
scripts/needs.sh gs ghostscript
scripts/needs.sh qpdf qpdf
scripts/needs.sh groff groff
scripts/needs.sh fop fop
scripts/needs.sh ocrmypdf ocrmypdf tesseract-ocr-eng
mkdir -p "$tools"
[[ -d $tools/venv ]] || "${PYTHON:-python3}" -m venv "$tools/venv"
"$tools/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/pdfs/requirements.txt
cp scripts/pdfs/package.json scripts/pdfs/package-lock.json "$tools"
(cd "$tools" && npm ci --silent)
failed=0
"$tools/venv/bin/python" scripts/pdfs/make.py build/pdfs "$@" || failed=1
pdfs=$PWD/build/pdfs script=$PWD/scripts/pdfs/make.mjs
(cd "$tools" && node "$script" "$pdfs" "$@") || failed=1
for to in fr ja; do
  go run ./scripts/pdfs -to "$to" build/pdfs "$@" || failed=1
done
exit "$failed"
