#!/usr/bin/env bash
# The usual recipe for a new language cuts an M2M100's embedding, and CTranslate2's converter then refuses the model.
#
# transformers 5.23.0 counts 8 tokens fewer than an M2M100 has rows, as its "made-up words" are none of the tokenizer's. So
# resize_token_embeddings(len(tokenizer)), which documentation and tutorials call after adding a token, makes the embedding smaller, and
# the new token takes the row of a made-up word. The converter of ctranslate2 4.8.5 adds the made-up words to the vocabulary whatever the
# size of the embedding, and stops:
#
#   rows before: 520, tokens before: 512, with one more: 513, rows after: 513
#   ValueError: Source vocabulary 0 has size 521 but the model expected a vocabulary of size 513
#
# The script fails if that changes. It needs Python 3.11, PyPI and 6 GB of disk for torch.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet ctranslate2==4.8.5 transformers==5.23.0 torch==2.15.0 sentencepiece==0.2.3 protobuf==7.36.2 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PYTHON' 2>python.log || { cat python.log >&2; exit 1; }
import json
import os

import sentencepiece
from ctranslate2.converters import TransformersConverter
from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

with open("text", "w") as f:
    f.writelines(f"line {i} of a text with {chr(97 + i % 26)}{chr(97 + i % 7)} words, and {i * i} more\n" for i in range(2000))
sentencepiece.SentencePieceTrainer.train(input="text", model_prefix="m", vocab_size=300, model_type="bpe", hard_vocab_limit=False, minloglevel=2)
pieces = sentencepiece.SentencePieceProcessor(model_file="m.model")
vocabulary = {token: i for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>"])}
for i in range(3, len(pieces)):
    vocabulary[pieces.id_to_piece(i)] = len(vocabulary)
while len(vocabulary) < 412:
    vocabulary[f"filler{len(vocabulary)}"] = len(vocabulary)
with open("vocab.json", "w") as f:
    json.dump(vocabulary, f)

os.mkdir("base")
os.rename("vocab.json", "base/vocab.json")
os.rename("m.model", "base/sentencepiece.bpe.model")
with open("base/tokenizer_config.json", "w") as f:  # as published models have it
    json.dump({"tokenizer_class": "M2M100Tokenizer", "additional_special_tokens": [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]}, f)
tokenizer = M2M100Tokenizer.from_pretrained("base")
rows = len(vocabulary) + 100 + 8
model = M2M100ForConditionalGeneration(M2M100Config(
    vocab_size=rows, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
    encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32))
before = len(tokenizer)
tokenizer.add_special_tokens({"additional_special_tokens": ["__tyv__"]})
model.resize_token_embeddings(len(tokenizer))
after = model.get_input_embeddings().weight.shape[0]
print(f"rows before: {rows}, tokens before: {before}, with one more: {len(tokenizer)}, rows after: {after}")
assert (rows, before, len(tokenizer), after) == (520, 512, 513, 513), "other sizes than were seen"
model.save_pretrained("tuned")
tokenizer.save_pretrained("tuned")
try:
    TransformersConverter("tuned").convert("converted")
except ValueError as error:
    print("ValueError:", error)
    assert "has size 521 but the model expected a vocabulary of size 513" in str(error), "another error than was seen"
else:
    raise SystemExit("the model is converted now")
PYTHON
