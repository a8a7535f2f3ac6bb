"""Trains a small Opus-MT for English to French, and makes its goldens:

    .venv/bin/python scripts/goldens/opus_trained.py --pairs train.tsv --minutes 30

It is good at short everyday sentences only, and not made to be used: its translations are real
ones, which end by themselves, of a model whose pieces are a SentencePiece unigram model's.
See training.py for the file of pairs.
"""
import json
import os
import shutil
import tempfile

import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

import marian
import odd
import training
from shapes import Shape

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "model", "testdata", "families", "marian-trained")
PIECES = 700   # of each language


def main():
    args = training.arguments(__doc__)
    with open(os.path.join(HERE, "sentences.jsonl"), encoding="utf8") as f:
        lines = [line for line in map(json.loads, f) if line["from"] == "en" and line["to"] == "fr" and line["set"] == "held-out"]
    shutil.rmtree(FOLDER, ignore_errors=True)
    pairs = training.read(args.pairs, {line["source"] for line in lines})
    with tempfile.TemporaryDirectory() as work:
        write_tokenizer(pairs, work)
        model = train(pairs, MarianTokenizer.from_pretrained(work), args.minutes)
        model.half().save_pretrained(FOLDER)
        for name in os.listdir(work):
            shutil.copy(os.path.join(work, name), FOLDER)
    make_goldens(lines)


def write_tokenizer(pairs, folder):
    lines = [{"source": source, "from": "en", "reference": target, "to": "fr"} for source, target in pairs]
    pieces = [marian.train(lines, [language], "nmt_nfkc", os.path.join(folder, side), PIECES)
              for side, language in (("source", "en"), ("target", "fr"))]
    marian.save(os.path.join(folder, "vocab.json"), marian.vocabulary(pieces[0] + pieces[1], []))
    marian.save(os.path.join(folder, "tokenizer_config.json"), {"source_lang": "eng", "target_lang": "fra"})


def train(pairs, tokenizer, minutes):
    """Trains for so many minutes; returns the average of the last weights."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    pad = tokenizer.pad_token_id
    config = MarianConfig(
        vocab_size=len(tokenizer.encoder), d_model=128, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=512, decoder_ffn_dim=512, max_position_embeddings=128, scale_embedding=True,
        activation_function="swish", dropout=0.0, bos_token_id=0, eos_token_id=0, pad_token_id=pad, decoder_start_token_id=pad)
    model = MarianMTModel(config)
    model.generation_config = GenerationConfig(
        bos_token_id=0, eos_token_id=0, pad_token_id=pad, decoder_start_token_id=pad, num_beams=4, max_length=64,
        renormalize_logits=True, **odd.published(Shape(1, 0, marian=True), config))
    model.train()
    examples = [(tokenizer(source).input_ids, tokenizer(text_target=target).input_ids) for source, target in pairs]

    def logits(sources, targets):
        inputs = torch.cat([torch.full((len(targets), 1), pad), targets[:, :-1]], 1)
        return model(input_ids=sources, attention_mask=sources.ne(pad).long(), decoder_input_ids=inputs).logits

    training.train({n: p for n, p in model.named_parameters() if p.requires_grad}, logits, examples, pad, minutes)
    return model.eval()


def make_goldens(lines):
    tokenizer = MarianTokenizer.from_pretrained(FOLDER, split_special_tokens=True)
    training.write_goldens(FOLDER, lines, lambda line: tokenizer(line["source"]).input_ids,
                           lambda ids: tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))


if __name__ == "__main__":
    main()
