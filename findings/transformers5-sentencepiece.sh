#!/usr/bin/env bash
# transformers 5 passes over what a SentencePiece model says of spaces: after the update the same model gets other tokens.
#
# A .model file of SentencePiece has the settings that it was trained with, and transformers 4.57.6 tokenizes by SentencePiece itself. In
# transformers 5.23.0 T5Tokenizer, and NllbTokenizer and others likewise, take the pieces from the file and put them into a tokenizer of their own, with
# T5's settings, whatever those of the file. A model without a space before the text (add_dummy_prefix) gets one, spaces that
# belong to a table or to code (remove_extra_whitespaces) are gone, pieces that end with a space (treat_whitespace_as_suffix) are never
# found, and user-defined symbols, by which models of translation get placeholders and tags, cut a word in two. There is no error or
# warning; translations get worse.
#
#   add_dummy_prefix=false            Line of text:   L i n e ▁o f ▁te x t         5: ▁ L i n e ▁o f ▁te x t
#   remove_extra_whitespaces=false    Line  of text:  ▁ L i n e ▁ ▁o f ▁te x t     5: ▁ L i n e ▁o f ▁te x t
#   treat_whitespace_as_suffix=true   Line of text:   Line▁ of▁ te x t ▁           5: ▁ L i n e ▁ o f ▁ te x t
#   user_defined_symbols=<br>         Line<br>of text: ▁ L i n e <br> o f ▁te x t  5: ▁ L i n e <br> ▁o f ▁te x t
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >pieces.py <<'PYTHON'
import os
import sys

import sentencepiece
import transformers

with open("text", "w") as f:
    f.writelines(f"Line {i} of a text with {chr(97 + i % 26)}{chr(97 + i % 7)} words<br>and {i * i} more.\n" for i in range(3000))
settings = {  # with a text, and what transformers 5 makes of it
    "add_dummy_prefix=false": ("Line of text", "▁ L i n e ▁o f ▁te x t"),
    "remove_extra_whitespaces=false": ("Line  of text", "▁ L i n e ▁o f ▁te x t"),
    "treat_whitespace_as_suffix=true": ("Line of text", "▁ L i n e ▁ o f ▁ te x t"),
    "user_defined_symbols=<br>": ("Line<br>of text", "▁ L i n e <br> ▁o f ▁te x t"),
}
for number, (setting, (text, seen)) in enumerate(settings.items()):
    folder = f"{transformers.__version__}-{number}"
    os.mkdir(folder)
    sentencepiece.SentencePieceTrainer.train(
        f"--{setting} --input=text --model_prefix={folder}/spiece --vocab_size=200 --hard_vocab_limit=false --minloglevel=2")
    right = " ".join(sentencepiece.SentencePieceProcessor(model_file=f"{folder}/spiece.model").encode(text, out_type=str))
    found = " ".join(transformers.T5Tokenizer.from_pretrained(folder).tokenize(text))
    print(f"{setting}, {text}: SentencePiece {right}, transformers {transformers.__version__} {found}")
    assert right != seen and found == (right if sys.argv[1] == "4" else seen), "other tokens than were seen"
PYTHON
for version in 4.57.6 5.23.0; do
  python3 -m venv $version
  $version/bin/pip install --quiet --disable-pip-version-check transformers==$version sentencepiece==0.2.3 protobuf==7.36.2 numpy==2.4.6
  HF_HUB_OFFLINE=1 $version/bin/python pieces.py ${version%%.*} 2>python.log || { cat python.log >&2; exit 1; }
done
