#!/usr/bin/env bash
# LibreTranslate changes plain texts that speak of HTML's entities.
#
# POST /translate of LibreTranslate 1.9.6 ends with html.unescape of the whole answer, also where format is text. A plain text that speaks of
# entities loses them: one level of escapes goes.
#
#   text: Write &amp; as &amp;amp; in HTML.
#      -> Write & as &amp; in HTML.
#
# The languages are LibreTranslate's own IdentityTranslation, which gives back each text, so that no model is needed: all that changes is
# LibreTranslate's doing. The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check libretranslate==1.9.6 argos-translate-lt==1.12.1 argos-translate-files==1.4.4 \
  beautifulsoup4==4.9.3 ctranslate2==4.8.5
# With fewer than two installed packages LibreTranslate fetches packages from the network.
for pair in en_fr fr_en; do
  mkdir -p "$work/packages/$pair"
  printf '{"from_code": "%s", "to_code": "%s"}' "${pair%_*}" "${pair#*_}" >"$work/packages/$pair/metadata.json"
done
cd "$work"
HOME=$work ARGOS_PACKAGES_DIR=$work/packages venv/bin/python - 2>python.log <<'PYTHON' || { cat python.log >&2; exit 1; }
from argostranslate import translate

found = [translate.Language("en", "English"), translate.Language("fr", "French")]
same = translate.IdentityTranslation(found[0])
same.to_lang = found[1]
found[0].translations_from = [same]
translate.get_installed_languages = lambda: found

from libretranslate.app import create_app
from libretranslate.main import get_args

client = create_app(get_args()).test_client()


def check(form, q, seen):
    answer = client.post("/translate", json={"q": q, "source": "en", "target": "fr", "format": form})
    print(f"{form}: {q}\n   -> {answer.json['translatedText']}")
    assert answer.json == {"translatedText": seen}, "another answer than was seen"


check("text", "Write &amp; as &amp;amp; in HTML.", "Write & as &amp; in HTML.")
PYTHON
