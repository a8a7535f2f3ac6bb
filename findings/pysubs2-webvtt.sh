#!/usr/bin/env bash
# pysubs2 shows WebVTT's comments and names of cues to viewers, and loses a last line that is a number.
#
# pysubs2 1.8.1 reads .vtt as it reads .srt: all between one line of times and the next is the cue's text, but for a number at its end, which it
# takes for SubRip's number of the next cue. In WebVTT cues have no numbers unless somebody gives them, may have names, and NOTE begins
# a comment. So a translator's remark becomes a subtitle, a name such as "scene-2" stands below the sentence before it, and "Room 101" over two
# lines becomes "Room". A translator that reads films by it pays for remarks and loses numbers. webvtt-py 0.6.0 reads all three right.
#
#   Who said that? | NOTE ask Anna   Room   Come in. | scene-2   Bye.
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pysubs2==1.8.1 webvtt-py==0.6.0
cd "$work"
venv/bin/python - <<'PYTHON'
import pysubs2
import webvtt

film = """WEBVTT

00:01.000 --> 00:02.000
Who said that?

NOTE ask Anna

00:02.000 --> 00:03.000
Room
101

00:03.000 --> 00:04.000
Come in.

scene-2
00:04.000 --> 00:05.000
Bye.
"""
found = [" | ".join(filter(None, cue.plaintext.split("\n"))) for cue in pysubs2.SSAFile.from_string(film, format_="vtt")]
print("  ".join(found))
assert found == ["Who said that? | NOTE ask Anna", "Room", "Come in. | scene-2", "Bye."], "other cues than were seen"
assert [cue.text for cue in webvtt.from_string(film)] == ["Who said that?", "Room\n101", "Come in.", "Bye."]
PYTHON
