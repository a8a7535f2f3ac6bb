"""Trains a small Opus-MT for English to French, and makes its goldens:

    .venv/bin/python scripts/goldens/opus_trained.py --pairs train.tsv --minutes 30

It is good at short everyday sentences only, and not made to be used: its translations are real
ones, which end by themselves, of a model whose pieces are a SentencePiece unigram model's. A file
of pairs has a pair a line: language, language, sentence, sentence, with tabs between.
"""
import argparse
import json
import math
import os
import random
import shutil
import tempfile
import time

import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

import marian
import odd
import reference

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "model", "testdata", "families", "marian-trained")
PIECES = 700   # of each language
LONGEST = 32   # characters of a sentence
BATCH = 1200   # tokens of the longer side
WARMUP, RATE = 300, 4e-3
AVERAGE = 0.998
SETTINGS = {
    "greedy": reference.setting(max_length=64),
    "beam4": reference.setting(beams=4, max_length=64),
    "beam5": reference.setting(beams=5, early_stopping="true", max_length=64),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="+", required=True)
    parser.add_argument("--minutes", type=float, required=True)
    args = parser.parse_args()
    with open(os.path.join(HERE, "sentences.jsonl"), encoding="utf8") as f:
        lines = [line for line in map(json.loads, f) if line["from"] == "en" and line["to"] == "fr" and line["set"] == "held-out"]
    shutil.rmtree(FOLDER, ignore_errors=True)
    pairs = read(args.pairs, {line["source"] for line in lines})
    with tempfile.TemporaryDirectory() as work:
        write_tokenizer(pairs, work)
        model = train(pairs, MarianTokenizer.from_pretrained(work), args.minutes)
        model.half().save_pretrained(FOLDER)
        for name in os.listdir(work):
            shutil.copy(os.path.join(work, name), FOLDER)
    for name in os.listdir(FOLDER):
        os.chmod(os.path.join(FOLDER, name), 0o644)  # transformers leaves weights to the owner
    make_goldens(lines)


def read(files, held_out):
    """The pairs of short sentences that are none of those held out."""
    pairs = []
    for file in files:
        with open(file, encoding="utf8") as f:
            for source, target, english, french in (line.rstrip("\n").split("\t")[:4] for line in f):
                if (source, target) == ("en", "fr") and english not in held_out and max(len(english), len(french)) <= LONGEST:
                    pairs.append((english, french))
    return pairs


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
        renormalize_logits=True, **odd.marian_settings(config))
    model.train()
    average = {name: p.detach().clone() for name, p in model.named_parameters()}
    examples = [(tokenizer(source).input_ids, tokenizer(text_target=target).input_ids) for source, target in pairs]
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    begin, step, shown = time.monotonic(), 0, 0.0
    rng = random.Random(1)
    while (passed := (time.monotonic() - begin) / 60 / minutes) < 1:
        for sources, targets in batches(examples, pad, rng):
            passed = (time.monotonic() - begin) / 60 / minutes
            if passed >= 1:
                break
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(step / WARMUP, 0.5 + 0.5 * math.cos(math.pi * passed))
            inputs = torch.cat([torch.full((len(targets), 1), pad), targets[:, :-1]], 1)
            logits = model(input_ids=sources, attention_mask=sources.ne(pad).long(), decoder_input_ids=inputs).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            with torch.no_grad():
                for name, p in model.named_parameters():
                    average[name].lerp_(p, 1 - AVERAGE)
            shown = loss.item() if shown == 0 else 0.98 * shown + 0.02 * loss.item()
            if step % 100 == 0:
                print(f"step {step}, {passed:.0%}: loss {shown:.3f}", flush=True)
    model.load_state_dict(average, strict=False)
    return model.eval()


def batches(examples, pad, rng):
    """Batches of like lengths, in random order."""
    order = sorted(range(len(examples)), key=lambda i: (max(map(len, examples[i])), rng.random()))
    groups, group = [], []
    for i in order:
        longest = max(map(len, examples[i]))
        if group and longest * (len(group) + 1) > BATCH:
            groups.append(group)
            group = []
        group.append(examples[i])
    groups.append(group)
    rng.shuffle(groups)
    for group in groups:
        yield tuple(torch.nn.utils.rnn.pad_sequence([torch.tensor(e[side]) for e in group], batch_first=True, padding_value=pad)
                    for side in (0, 1))


def make_goldens(lines):
    torch.set_num_threads(1)
    model, tokenizer, cases = reference.load(FOLDER), MarianTokenizer.from_pretrained(FOLDER, split_special_tokens=True), []
    for line in lines:
        source = tokenizer(line["source"]).input_ids
        case = {"set": line["set"], "from": "en", "to": "fr", "text": line["source"], "reference": line.get("reference", ""), "source": source,
                "prefix": [model.config.decoder_start_token_id], "outputs": {}}
        for key, settings in SETTINGS.items():
            output, _ = reference.generate(model, source, None, settings)
            text = tokenizer.decode(output["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
            case["outputs"][key] = output | {"text": text}
        cases.append(case)
    reference.write(os.path.join(FOLDER, "goldens.json.gz"), {
        "checkpoint": "model/testdata/families/marian-trained", "files": reference.file_hashes(FOLDER),
        "made_with": reference.versions(), "settings": SETTINGS, "cases": cases})


if __name__ == "__main__":
    main()
