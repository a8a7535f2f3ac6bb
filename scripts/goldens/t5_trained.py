"""Trains a small MADLAD-400 for English and French, both ways, and makes its goldens:

    .venv/bin/python scripts/goldens/t5_trained.py --pairs train.tsv --minutes 30

As opus_trained.py's, for the framing of T5: the target's token in front of the source, and pieces with bytes behind them.
See training.py for the file of pairs.
"""
import json
import os
import shutil
import tempfile

import sentencepiece
import torch
from transformers import GenerationConfig, T5Config, T5ForConditionalGeneration

import marian
import t5
import training

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "model", "testdata", "families", "t5-trained")
PIECES = 1000
TOKENS = {"en": "<2en>", "fr": "<2fr>"}
PAD = 1


def main():
    args = training.arguments(__doc__)
    with open(os.path.join(HERE, "sentences.jsonl"), encoding="utf8") as f:
        lines = [line for line in map(json.loads, f) if {line["from"], line["to"]} == {"en", "fr"} and line["set"] == "held-out"]
    pairs = training.read(args.pairs, {line["source"] for line in lines} | {line.get("reference") for line in lines})
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        texts = [{"source": source, "from": "en", "reference": target, "to": "fr"} for source, target in pairs]
        marian.train(texts, ["en", "fr"], "identity", os.path.join(work, "spiece"), PIECES, byte_fallback=True,
                     user_defined_symbols=list(TOKENS.values()))
        sp = sentencepiece.SentencePieceProcessor(model_file=os.path.join(work, "spiece.spm"))
        train(sp, pairs, args.minutes).half().save_pretrained(FOLDER)
        shutil.copy(os.path.join(work, "spiece.spm"), os.path.join(FOLDER, "spiece.model"))
    marian.save(os.path.join(FOLDER, "tokenizer_config.json"), {"tokenizer_class": "T5Tokenizer"})
    make_goldens(sp, lines)


def source_ids(sp, to, text):
    return sp.encode(f"{TOKENS[to]} {text}") + [sp.eos_id()]


def train(sp, pairs, minutes):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=len(sp), d_model=128, d_kv=32, d_ff=320, num_layers=2, num_decoder_layers=1, num_heads=4, feed_forward_proj="gated-gelu",
        tie_word_embeddings=False, dropout_rate=0.0, pad_token_id=PAD, eos_token_id=sp.eos_id(), decoder_start_token_id=0)
    model = T5ForConditionalGeneration(config)
    if not config.scale_decoder_outputs:  # transformers 5 ties it whatever is asked for
        model.lm_head.weight = torch.nn.Parameter(torch.randn(len(sp), 128) / 128 ** 0.5)
    model.generation_config = GenerationConfig(pad_token_id=PAD, eos_token_id=sp.eos_id(), decoder_start_token_id=0, num_beams=4, max_length=64)
    model.train()
    examples = []
    for english, french in pairs:
        examples.append((source_ids(sp, "fr", english), sp.encode(french) + [sp.eos_id()]))
        examples.append((source_ids(sp, "en", french), sp.encode(english) + [sp.eos_id()]))

    def logits(sources, targets):
        inputs = torch.cat([torch.zeros((len(targets), 1), dtype=torch.long), targets[:, :-1]], 1)
        return model(input_ids=sources, attention_mask=sources.ne(PAD).long(), decoder_input_ids=inputs).logits

    training.train(dict(model.named_parameters()), logits, examples, PAD, minutes)
    return model.eval()


def make_goldens(sp, lines):
    training.write_goldens(FOLDER, lines, lambda line: source_ids(sp, line["to"], line["source"]), lambda ids: t5.text_of(sp, ids))


if __name__ == "__main__":
    main()
