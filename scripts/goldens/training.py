"""Trains the small models among the test data, from files of pairs: language, language, sentence, sentence, with tabs between."""
import argparse
import math
import os
import random
import time

import torch

import reference

LONGEST = 32   # characters of a sentence
BATCH = 1200   # tokens of the longer side
WARMUP = 300   # steps
AVERAGE = 0.998
SETTINGS = {
    "greedy": reference.setting(max_length=64),
    "beam4": reference.setting(beams=4, max_length=64),
    "beam5": reference.setting(beams=5, early_stopping="true", max_length=64),
}


def arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="+", required=True)
    parser.add_argument("--minutes", type=float, required=True)
    return parser.parse_args()


def read(files, held_out):
    """The pairs of short sentences, English and French, that are none of those held out."""
    pairs = []
    for file in files:
        with open(file, encoding="utf8") as f:
            for source, target, english, french in (line.rstrip("\n").split("\t")[:4] for line in f):
                if (source, target) == ("en", "fr") and english not in held_out and max(len(english), len(french)) <= LONGEST:
                    pairs.append((english, french))
    return pairs


def train(parameters, logits, examples, pad, minutes, rate=4e-3):
    """Trains for so many minutes; leaves the average of the last weights in parameters, tensors by their names. logits gives
    those of padded sources and targets, [batch, targetLen, pieces]."""
    average = {name: p.detach().clone() for name, p in parameters.items()}
    optimizer = torch.optim.AdamW(list(parameters.values()), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    begin, step, shown = time.monotonic(), 0, 0.0
    rng = random.Random(1)
    while (passed := (time.monotonic() - begin) / 60 / minutes) < 1:
        for sources, targets in batches(examples, pad, rng):
            passed = (time.monotonic() - begin) / 60 / minutes
            if passed >= 1:
                break
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = rate * min(step / WARMUP, 0.5 + 0.5 * math.cos(math.pi * passed))
            loss = torch.nn.functional.cross_entropy(logits(sources, targets).flatten(0, 1), targets.flatten(), ignore_index=pad, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(list(parameters.values()), 1.0)
            optimizer.step()
            with torch.no_grad():
                for name, p in parameters.items():
                    average[name].lerp_(p, 1 - AVERAGE)
            shown = loss.item() if shown == 0 else 0.98 * shown + 0.02 * loss.item()
            if step % 100 == 0:
                print(f"step {step}, {passed:.0%}: loss {shown:.3f}", flush=True)
    with torch.no_grad():
        for name, p in parameters.items():
            p.copy_(average[name])


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


def write_goldens(folder, lines, ids_of, text_of):
    """Writes the goldens of a checkpoint by transformers: ids_of gives the ids of a line's source, text_of the text of ids."""
    torch.set_num_threads(1)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)  # transformers leaves weights to the owner
    model, cases = reference.load(folder), []
    for line in lines:
        source = ids_of(line)
        case = {"set": line["set"], "from": line["from"], "to": line["to"], "text": line["source"], "reference": line.get("reference", ""),
                "source": source, "prefix": [model.config.decoder_start_token_id], "outputs": {}}
        for key, settings in SETTINGS.items():
            output, _ = reference.generate(model, source, None, settings)
            case["outputs"][key] = output | {"text": text_of(output["ids"])}
        cases.append(case)
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/families/{os.path.basename(folder)}", "files": reference.file_hashes(folder),
        "made_with": reference.versions(), "settings": SETTINGS, "cases": cases})
