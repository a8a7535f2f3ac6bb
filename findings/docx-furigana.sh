#!/usr/bin/env bash
# Words with furigana vanish from Japanese Word files in python-docx, mammoth and pandoc.
#
# Readings above kanji (Word's Phonetic Guide) stand in forms, school books and texts for learners. A .docx has them in a run as w:ruby, with the
# reading (w:rt) and the word itself (w:rubyBase). python-docx 1.2.0, mammoth 1.13.0 and pandoc 3.9 (pypandoc_binary 1.17), by which most
# converters, indexes and translators read Word files, know no w:ruby and leave out both: the sentence goes on without the word.
# mammoth mentions an ignored element among its messages. docx2txt 0.9 has the word, behind its reading.
#
#   明日|東京|に行く。 with a reading above 東京 ("tomorrow I go to Tokyo")
#   -> python-docx, mammoth, pandoc: 明日に行く。 ("tomorrow I go")
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check python-docx==1.2.0 mammoth==1.13.0 pypandoc_binary==1.17 docx2txt==0.9
cd "$work"
venv/bin/python - <<'PYTHON' | tee found
import docx
import docx2txt
import mammoth
import pypandoc
from docx.oxml import parse_xml

file = docx.Document()
paragraph = file.add_paragraph("明日")
paragraph._p.append(parse_xml("""<w:r xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:ruby>
<w:rubyPr><w:rubyAlign w:val="distributeSpace"/><w:hps w:val="10"/><w:hpsRaise w:val="18"/><w:hpsBaseText w:val="21"/><w:lid w:val="ja-JP"/></w:rubyPr>
<w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby></w:r>"""))
paragraph.add_run("に行く。")
file.save("file.docx")
print("python-docx: " + docx.Document("file.docx").paragraphs[0].text)
with open("file.docx", "rb") as f:
    read = mammoth.convert_to_html(f)
print(f"mammoth: {read.value}, {read.messages[0].message}")
print("pandoc: " + pypandoc.convert_file("file.docx", "plain").strip())
print("docx2txt: " + docx2txt.process("file.docx").strip())
PYTHON
diff found - <<'SEEN' || { echo "other texts than were seen" >&2; exit 1; }
python-docx: 明日に行く。
mammoth: <p>明日に行く。</p>, An unrecognised element was ignored: w:ruby
pandoc: 明日に行く。
docx2txt: 明日とうきょう東京に行く。
SEEN
