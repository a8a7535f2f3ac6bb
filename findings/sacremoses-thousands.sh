#!/usr/bin/env bash
# The usual cleaning of texts for translation makes ten of ten thousand.
#
# Most of Europe groups the digits of a number by a no-break space: "10 000 €", as CLDR, browsers and word processors write it. Moses'
# normalization of punctuation, which pipelines for Opus-MT, NLLB, Argos and fairseq run on training data and requests, takes a no-break
# space between two digits for a decimal separator. sacremoses 0.2.0 does as Moses did: in French, German, Spanish and Czech it writes a comma, in
# all other languages a dot. That is the decimal separator in each of them but Russian, Polish, Swedish and their like, whose numbers
# come to the target language as its decimals. A normal space, and the narrow one (U+202F) of newer CLDR, are left alone.
#
#   fr: 10 000 € -> 10,000 €        ru: 10 000 ₽ -> 10.000 ₽
#   en: 10 000 km -> 10.000 km      pl: 1 250 000 zł -> 1.250.000 zł
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check sacremoses==0.2.0 Babel==2.19.0
"$work/venv/bin/python" - <<'PYTHON'
from babel.numbers import format_decimal
from sacremoses import MosesPunctNormalizer

seen = {"fr": ("10\u00a0000 €", "10,000 €"), "ru": ("10\u00a0000 ₽", "10.000 ₽"), "en": ("10\u00a0000 km", "10.000 km"), "pl": ("1\u00a0250\u00a0000 zł", "1.250.000 zł")}
for language, (text, expected) in seen.items():
    found = MosesPunctNormalizer(lang=language).normalize(text)
    print(f"{language}: {text} -> {found}")
    assert found == expected, "another text than was seen"
for text in "10 000 €", "10\u202f000 €":
    assert MosesPunctNormalizer(lang="fr").normalize(text) == text
assert format_decimal(10000, locale="ru") == "10\u00a0000"  # as CLDR has it
PYTHON
