#!/usr/bin/env bash
# pycaption ends a film at the first empty line within a subtitle, and shows SubRip's italics as signs.
#
# Subtitles of optical recognition, of editors and of machine translation have empty lines between their own, and players and other libraries
# read on at the next number and times. SRTReader of pycaption 2.3.14 takes the line behind the empty one for a number; as it is none, the
# captions up to there are the result, without an error: a film of two hours ends where the first such subtitle stands. And <i>, which
# SubRip has for thoughts and voices off screen, is text to it: in WebVTT and TTML it becomes &lt;i>, and viewers see the signs.
#
#   <i>One.</i> | Two. (empty line) And a half. | Three. | Four.
#   srt 3.5.3 and pysubs2 1.8.1: 4 subtitles        pycaption: &lt;i>One.&lt;/i> | Two.
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pycaption==2.3.14 pysubs2==1.8.1 srt==3.5.3
cd "$work"
venv/bin/python - <<'PYTHON'
import pycaption
import pysubs2
import srt

texts = "<i>One.</i>", "Two.\n\nAnd a half.", "Three.", "Four."
film = "".join(f"{i}\n00:00:0{i},000 --> 00:00:0{i},900\n{text}\n\n" for i, text in enumerate(texts, 1))
others = len(list(srt.parse(film))), len(pysubs2.SSAFile.from_string(film, format_="srt"))
print("srt and pysubs2: {} and {} subtitles".format(*others))
written = pycaption.WebVTTWriter().write(pycaption.SRTReader().read(film))
found = [line for line in written.splitlines() if line and "-->" not in line][1:]
print("pycaption: " + " | ".join(found))
assert others == (4, 4) and found == ["&lt;i>One.&lt;/i>", "Two."], "other subtitles than were seen"
PYTHON
