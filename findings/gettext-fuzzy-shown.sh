#!/usr/bin/env bash
# Two common readers of .po files show translations that are marked as fuzzy: guesses that nobody has checked.
#
# msgmerge, pybabel update and Weblate mark a translation as fuzzy when its source text has changed, and give new texts the translation of similar
# ones, which may say the opposite. So do machine translations that wait for review. msgfmt, which makes the files that gettext reads,
# leaves them out, as does Babel 2.19.0. gettext-parser 10.0.0 reads the mark as a comment: node-gettext 3.0.1 shows the guess, and a .mo made
# by gettext-parser has it, too. leonelquinteros/gotext 1.7.2 skips comments, marks among them, and shows it.
#
#   Keep all files -> Babel: Keep all files, node-gettext: Alle Dateien löschen, .mo of gettext-parser: Alle Dateien löschen,
#   gotext: Alle Dateien löschen                                ("delete all files")
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20, npm, Go 1.26 and its module proxy.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check Babel==2.19.0
cd "$work"
npm install --silent --no-audit --no-fund gettext-parser@10.0.0 node-gettext@3.0.1
cat >de.po <<'PO'
msgid ""
msgstr ""
"Language: de\n"
"Content-Type: text/plain; charset=UTF-8\n"

#, fuzzy
#| msgid "Delete all files"
msgid "Keep all files"
msgstr "Alle Dateien löschen"
PO
cat >read.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs'
import { mo, po } from 'gettext-parser'
import Gettext from 'node-gettext'

const catalogue = po.parse(readFileSync('de.po'))
writeFileSync('node.mo', mo.compile(catalogue))
const gettext = new Gettext()
gettext.addTranslations('de', 'messages', catalogue)
gettext.setLocale('de')
console.log('node-gettext: ' + gettext.gettext('Keep all files'))
JS
cat >read.py <<'PYTHON'
import gettext

from babel.messages import mofile, pofile

with open("de.po", "rb") as source, open("babel.mo", "wb") as target:
    mofile.write_mo(target, pofile.read_po(source))
for name, path in ("Babel", "babel.mo"), (".mo of gettext-parser", "node.mo"):
    with open(path, "rb") as f:
        print(f"{name}: {gettext.GNUTranslations(f).gettext('Keep all files')}")
PYTHON
cat >go.mod <<'GO'
module probe

go 1.26

require github.com/leonelquinteros/gotext v1.7.2
GO
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/leonelquinteros/gotext"
)

func main() {
	po := gotext.NewPo()
	po.ParseFile("de.po")
	fmt.Println("gotext: " + po.Get("Keep all files"))
}
GO
{ node read.mjs; venv/bin/python read.py; GOFLAGS=-mod=mod GOPATH=$work/go go run . 2>go.log || cat go.log >&2; } | tee found
diff found - <<'SEEN' || { echo "other answers than were seen" >&2; exit 1; }
node-gettext: Alle Dateien löschen
Babel: Keep all files
.mo of gettext-parser: Alle Dateien löschen
gotext: Alle Dateien löschen
SEEN
