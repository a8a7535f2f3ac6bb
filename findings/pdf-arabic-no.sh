#!/usr/bin/env bash
# PyMuPDF, PDFium and pdf.js turn "no" of Arabic PDF files into "the": "do not open" is no longer forbidden.
#
# In Arabic writing lam and alef join into one glyph, for which a PDF file has two letters, لا, in the order in which they are read: "no, not".
# Readers of PDF that turn lines from right to left around, letter by letter, turn these two around as well, and get ال, "the". All words
# with the glyph are changed, as in الأسلاك, "the wires". PyMuPDF 2.0, pypdfium2 5.15.2 and pdfjs-dist 5.6.205 (the last for Node.js 20) do
# so with files of Typst (typst 0.15.2 of PyPI), as does Debian's poppler 22.12. pypdf 7.1.1 finds the two letters in their order. Each
# text is Arabic and has all letters, so nothing looks wrong to a program or to anyone who does not read it.
#
#   لا تفتح الباب  ("do not open the door") -> ال تفتح الباب
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check typst==0.15.2 PyMuPDF==2.0 pypdfium2==5.15.2 pypdf==7.1.1
cd "$work"
npm install --silent --no-audit --no-fund pdfjs-dist@5.6.205
cat >read.py <<'PYTHON'
import pymupdf
import pypdf
import pypdfium2
import typst

with open("door.typ", "w", encoding="utf-8") as f:
    f.write('#set page(width: 400pt, height: 100pt)\n#set text(font: "DejaVu Sans Mono", lang: "ar", dir: rtl)\nلا تفتح الباب\n')  # Typst has the font
typst.compile("door.typ", output="door.pdf")
print("PyMuPDF: " + pymupdf.open("door.pdf")[0].get_text().strip())
print("PDFium: " + pypdfium2.PdfDocument("door.pdf")[0].get_textpage().get_text_range().strip())
assert "لا" in pypdf.PdfReader("door.pdf").pages[0].extract_text(), "the file has other letters"
PYTHON
cat >read.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'

const file = await getDocument({ data: new Uint8Array(readFileSync('door.pdf')), verbosity: 0 }).promise
const { items } = await (await file.getPage(1)).getTextContent()
console.log('pdf.js: ' + items.map((item) => item.str).join('').split(' ').sort().join(' '))
JS
{ venv/bin/python read.py; node read.mjs 2>node.log; } | tee found
diff found - <<'SEEN' || { cat node.log; echo "other texts than were seen" >&2; exit 1; }
PyMuPDF: ال تفتح الباب
PDFium: ال تفتح الباب
pdf.js: ال الباب تفتح
SEEN
