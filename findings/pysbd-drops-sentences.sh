#!/usr/bin/env bash
# pysbd leaves out the sentences that have a pointing finger, a note, hot springs or a surface integral.
#
# While pysbd 0.3.4 divides a text, it writes signs of its own into it, among them ∯ for a full stop that ends no sentence and ☝, ♨ and ♬
# for other places, and turns all of them back at the end, also those that were in the text. A sentence that has changed so is not found in the
# original, and left out without an error, although clean=False promises the text as it was. Translators, readers and indexes that
# take their sentences from it lose them: ♬ marks songs in subtitles, and ☝ is among the usual emoji.
#
#   Press the red button ☝ to stop. Thank you. -> ['Thank you.']
#   ♬ Happy birthday to you ♬ -> []
#   The integral ∯ of a closed field is zero. Proof follows. -> ['Proof follows.']
#   The springs ♨ are open. Come in. -> ['Come in.']
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pysbd==0.3.4
cd "$work"
venv/bin/python - <<'PYTHON'
import pysbd

segmenter = pysbd.Segmenter(language="en", clean=False)
for text, seen in {
    "Press the red button to stop. Thank you.": ["Press the red button to stop. ", "Thank you."],
    "Press the red button ☝ to stop. Thank you.": ["Thank you."],
    "♬ Happy birthday to you ♬": [],
    "The integral ∯ of a closed field is zero. Proof follows.": ["Proof follows."],
    "The springs ♨ are open. Come in.": ["Come in."],
}.items():
    found = segmenter.segment(text)
    print(f"{text} -> {found}")
    assert found == seen, "other sentences than were seen"
PYTHON
