"""Makes pairs for directions without English: translates English sources, keeps real targets.

    python scripts/training/backtranslate.py --run RUN --vocabulary VOCABULARY --data DATA --out DATA/back.tsv.gz

For a pair of an English sentence and one in X, and each other language Y, the averaged
weights of RUN translate the English sentence to Y: the result is a pair from Y to X, whose
target a person wrote. train.py takes the file with --more.
"""
import argparse
import collections
import hashlib
import os

import torch

import checkpoint
import corpus
from model import M2M100, Shape
from pieces import Vocabulary
from translate import translate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True, metavar="RUN")
    parser.add_argument("--vocabulary", required=True, metavar="DIR")
    parser.add_argument("--data", required=True, metavar="DIR")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--share", type=float, default=1.0, help="of the sentences")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rows", type=int, default=256, help="of a batch")
    arguments = parser.parse_args()
    state, vocabulary = checkpoint.load(arguments.run), Vocabulary(arguments.vocabulary)
    model = M2M100(Shape(**state["shape"])).eval()
    model.load_state_dict(state["average"])
    model.to(arguments.device)
    targets = collections.defaultdict(list)
    for pair in corpus.read(os.path.join(arguments.data, "train.tsv.gz")):
        if pair.kind == corpus.DIRECT and pair.source_language == corpus.PIVOT and _is_chosen(pair.target, arguments.share):
            targets[pair.target_language].append(pair)
    found = []
    for target, pairs in targets.items():
        for language in corpus.LANGUAGES:
            if language not in (target, corpus.PIVOT):
                found += _pairs(model, vocabulary, pairs, language, arguments)
                print(f"{language} → {target}: {len(found):,} pairs so far", flush=True)
    corpus.write(arguments.out, found)


def _is_chosen(text, share):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) < share * 2 ** 32


def _pairs(model, vocabulary, pairs, language, arguments):
    texts = sorted({pair.source for pair in pairs})
    with torch.autocast(arguments.device, dtype=torch.bfloat16):
        made = dict(zip(texts, translate([model], vocabulary, texts, corpus.PIVOT, language, arguments.rows)))
    return [corpus.Pair(corpus.BACK, language, pair.target_language, made[pair.source], pair.target)
            for pair in pairs if made[pair.source]]


if __name__ == "__main__":
    main()
