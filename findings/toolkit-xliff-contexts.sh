#!/usr/bin/env bash
# A .po file that goes to a translator as XLIFF by Translate Toolkit comes back without contexts, and the program is English again.
#
# msgctxt tells equal texts apart, and gettext looks up both together. po2xliff of translate-toolkit 3.20.4 leaves it out. xliff2po then makes
# one entry of them, with the empty context: the second translation is lost, and programs do not find the first. Obsolete entries (#~), texts
# that the program has no more, go out as approved ones and come back as current ones, and marks such as c-format, by which msgfmt --check
# finds broken placeholders, are gone. A warning of a duplicate unit is all that is said.
#
#   before: menu Открыть, state Открыто, obsolete Old
#   after:  menu Open, state Open, obsolete Старый
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check translate-toolkit==3.20.4 Babel==2.19.0
cd "$work"
cat >before.po <<'PO'
msgid ""
msgstr ""
"Language: ru\n"
"Content-Type: text/plain; charset=UTF-8\n"

msgctxt "menu"
msgid "Open"
msgstr "Открыть"

msgctxt "state"
msgid "Open"
msgstr "Открыто"

#, c-format
msgid "%s of %s"
msgstr "%s из %s"

#~ msgid "Old"
#~ msgstr "Старый"
PO
venv/bin/po2xliff --progress=none -i before.po -o file.xlf
venv/bin/xliff2po --progress=none -i file.xlf -o after.po 2>>log
venv/bin/python - <<'PYTHON' | tee found
import gettext
import io

from babel.messages import mofile, pofile

for name in "before", "after":
    with open(f"{name}.po", "rb") as f:
        catalog = pofile.read_po(f)
    file = io.BytesIO()
    mofile.write_mo(file, catalog)
    file.seek(0)
    t = gettext.GNUTranslations(file)
    found = t.pgettext("menu", "Open"), t.pgettext("state", "Open"), t.gettext("Old")
    print("{}: menu {}, state {}, obsolete {}".format(name, *found))
    with open(f"{name}.po", encoding="utf-8") as f:
        text = f.read()
    print(f"  {text.count('Откры')} of 2 translations, {text.count('c-format')} of 1 mark")
PYTHON
diff found - <<'SEEN' || { echo "other texts than were seen" >&2; exit 1; }
before: menu Открыть, state Открыто, obsolete Old
  2 of 2 translations, 1 of 1 mark
after: menu Open, state Open, obsolete Старый
  1 of 2 translations, 0 of 1 mark
SEEN
