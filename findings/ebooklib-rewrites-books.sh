#!/usr/bin/env bash
# EbookLib makes a Japanese book English and takes its styles away, when a program reads a book and writes it again.
#
# Programs that translate or convert books read them with EbookLib 0.20, change the text and write them. Its chapters are made anew:
# the page's head is empty, without style sheets and viewport, <html> and <body> have lost their classes, direction and epub:type, and the language is
# lang="en" whatever the book's: reading systems then read Japanese aloud by an English voice and show Chinese forms of kanji. An SVG's
# viewBox is viewbox, which no reader knows, so that drawings are cut. Landmarks and sides of pages (page-spread-left) are gone; footnotes
# are listed as pages. There is no warning, and the book is valid enough to open.
#
#   <html … lang="ja" class="vrtl"><head><title>One</title><link rel="stylesheet" href="s.css"/></head><body class="main" dir="rtl">
#   -> <html … lang="en" xml:lang="en"> <head/> <body>
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check EbookLib==0.20
cd "$work"
venv/bin/python - <<'PYTHON' | tee found
import zipfile

from ebooklib import epub

files = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": """<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>""",
    "book.opf": """<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="ja">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:isbn:0</dc:identifier><dc:title>T</dc:title>
<dc:language>ja</dc:language><meta property="dcterms:modified">2026-01-01T00:00:00Z</meta></metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="one" href="one.xhtml" media-type="application/xhtml+xml" properties="svg"/><item id="css" href="s.css" media-type="text/css"/></manifest>
<spine page-progression-direction="rtl"><itemref idref="one" properties="page-spread-left"/></spine></package>""",
    "nav.xhtml": """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>C</title></head><body>
<nav epub:type="toc"><ol><li><a href="one.xhtml">One</a></li></ol></nav>
<nav epub:type="landmarks"><ol><li><a epub:type="bodymatter" href="one.xhtml">Start</a></li></ol></nav></body></html>""",
    "one.xhtml": """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="ja" class="vrtl"><head><title>One</title>
<link rel="stylesheet" href="s.css"/></head><body class="main" dir="rtl" epub:type="bodymatter"><p>One<a epub:type="noteref" href="#n">1</a></p>
<aside epub:type="footnote" id="n">Note</aside><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg></body></html>""",
    "s.css": ".vrtl { writing-mode: vertical-rl }",
}
with zipfile.ZipFile("in.epub", "w") as book:
    for name, text in files.items():
        book.writestr(name, text)
epub.write_epub("out.epub", epub.read_epub("in.epub"))
written = zipfile.ZipFile("out.epub")
page, nav, package = (written.read(f"EPUB/{name}").decode() for name in ("one.xhtml", "nav.xhtml", "book.opf" if "EPUB/book.opf" in written.namelist() else "content.opf"))
print("page: " + ", ".join(sign for sign in ('lang="ja"', 'lang="en"', "<head/>", "s.css", "vrtl", "main", 'dir="rtl"', "viewBox", "viewbox") if sign in page))
print("contents: " + ", ".join(sign for sign in ("toc", "landmarks", "page-list") if f'epub:type="{sign}"' in nav))
print("package: " + ", ".join(sign for sign in ('xml:lang="ja"', "page-spread-left", 'direction="rtl"') if sign in package))
PYTHON
diff found - <<'SEEN' || { echo "another book than was seen" >&2; exit 1; }
page: lang="en", <head/>, viewbox
contents: toc, page-list
package: direction="rtl"
SEEN
