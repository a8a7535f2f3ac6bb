#!/usr/bin/env bash
# In JavaScript a tokenizer.json does not fold case: each capital letter of a case-folding model is an unknown character.
#
# SentencePiece models carry their own rules for characters (normalization_rule_name, or rules from a table), and tokenizer.json has them as
# precompiled_charsmap, which tokenizers 0.23.3 applies in Python. @huggingface/tokenizers 0.2.0, on which transformers.js is built, ignores
# them: whatever the file says, it applies NFKC with a few exceptions of its own. Models with the usual rules (nmt_nfkc) come out nearly
# right; those that fold case (nmt_nfkc_cf), or have rules of their own, get other ids in browsers and Node.js than in training, without an error.
#
#   Hello World: Python ▁ h e l l o ▁ w orld, JavaScript ▁ <unk> e l l o ▁ <unk> orld
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check tokenizers==0.23.3 sentencepiece==0.2.3 protobuf==7.36.2
cd "$work"
npm install --silent --no-audit --no-fund @huggingface/tokenizers@0.2.0
cat >make.py <<'PYTHON'
import io

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

file = io.BytesIO()
lines = ["Hello World", "hello world", "ello orld"] * 100
sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=file, vocab_size=30, hard_vocab_limit=False, minloglevel=2,
                                         normalization_rule_name="nmt_nfkc_cf")
model = sentencepiece_model_pb2.ModelProto.FromString(file.getvalue())
tokenizer = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in model.pieces], unk_id=model.trainer_spec.unk_id))
tokenizer.normalizer = normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
tokenizer.save("tokenizer.json")
reference = sentencepiece.SentencePieceProcessor(model_proto=file.getvalue())
ids = tokenizer.encode("Hello World").ids
assert ids == reference.encode("Hello World"), "other ids than SentencePiece's"
print(*[tokenizer.id_to_token(i) for i in ids])
PYTHON
cat >read.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { Tokenizer } from '@huggingface/tokenizers'

const file = JSON.parse(readFileSync('tokenizer.json', 'utf8'))
const { ids } = new Tokenizer(file, {}).encode('Hello World')
console.log(ids.map((id) => file.model.vocab[id][0]).join(' '))
JS
python=$(venv/bin/python make.py)
javascript=$(node read.mjs)
echo "Hello World: Python $python, JavaScript $javascript"
[ "$python" = "▁ h e l l o ▁ w orld" ] && [ "$javascript" = "▁ <unk> e l l o ▁ <unk> orld" ] || { echo "other tokens than were seen" >&2; exit 1; }
