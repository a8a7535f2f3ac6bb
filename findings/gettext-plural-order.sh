#!/usr/bin/env bash
# Two of npm's readers of .po files take a plural by the language's name, not by the file's rule, and show the wrong form.
#
# Plural-Forms in the head of a .po file says which form a number has: the order and number of forms differ from file to file. Babel 2.19.0
# writes CLDR's forms, three for French (1, whole millions, others) and Latvian (0, 1, others), where gettext has two and another order.
# node-gettext 3.0.1 and vue3-gettext 4.0.1 do not read the rule: they have tables of their own. French, Spanish, Italian and Portuguese pages
# then have the form for millions from 2 on, and Latvian ones the wrong form for most numbers, without an error. Babel's .mo file in Python is right.
#
#   fr, 5: Python "5 fichiers", node-gettext "5 de fichiers", vue3-gettext "5 de fichiers"
#   lv, 2: Python "2 faili", node-gettext "2 fails", vue3-gettext "2 fails"
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check Babel==2.19.0
cd "$work"
npm install --silent --no-audit --no-fund gettext-parser@10.0.0 node-gettext@3.0.1 vue@3.5.45 vue3-gettext@4.0.1
cat >write.py <<'PYTHON'
import gettext
import io

from babel.messages import Catalog, mofile, pofile

for language, forms in ("fr", ("%d fichier", "%d de fichiers", "%d fichiers")), ("lv", ("%d failu", "%d fails", "%d faili")):
    catalog = Catalog(locale=language, fuzzy=False)
    catalog.add(("%d file", "%d files"), forms)
    with open(f"{language}.po", "wb") as f:
        pofile.write_po(f, catalog)
    file = io.BytesIO()
    mofile.write_mo(file, catalog)
    file.seek(0)
    translations = gettext.GNUTranslations(file)
    shown = [translations.ngettext("%d file", "%d files", n) % n for n in (1, 2, 5, 1000000)]
    print(f"{language}, Python: " + ", ".join(shown))
PYTHON
cat >read.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { po } from 'gettext-parser'
import Gettext from 'node-gettext'
import { createGettext } from 'vue3-gettext'

for (const language of ['fr', 'lv']) {
  const catalogue = po.parse(readFileSync(`${language}.po`))
  const node = new Gettext()
  node.addTranslations(language, 'messages', catalogue)
  node.setLocale(language)
  const forms = { '%d file': catalogue.translations['']['%d file'].msgstr } // as its compiler has it
  const vue = createGettext({ availableLanguages: { [language]: language }, defaultLanguage: language, translations: { [language]: forms } })
  const show = (ngettext) => [1, 2, 5, 1000000].map((n) => ngettext('%d file', '%d files', n).replace('%d', n)).join(', ')
  console.log(`${language}, node-gettext: ` + show((...a) => node.ngettext(...a)))
  console.log(`${language}, vue3-gettext: ` + show((...a) => vue.$ngettext(...a)))
}
JS
{ venv/bin/python write.py; node read.mjs; } | tee found
diff found - <<'SEEN' || { echo "other forms than were seen" >&2; exit 1; }
fr, Python: 1 fichier, 2 fichiers, 5 fichiers, 1000000 de fichiers
lv, Python: 1 fails, 2 faili, 5 faili, 1000000 failu
fr, node-gettext: 1 fichier, 2 de fichiers, 5 de fichiers, 1000000 de fichiers
fr, vue3-gettext: 1 fichier, 2 de fichiers, 5 de fichiers, 1000000 de fichiers
lv, node-gettext: 1 failu, 2 fails, 5 fails, 1000000 fails
lv, vue3-gettext: 1 failu, 2 fails, 5 fails, 1000000 fails
SEEN
