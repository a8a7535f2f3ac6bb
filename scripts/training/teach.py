"""Makes pairs of all twenty directions whose target several networks wrote together.

    python scripts/training/teach.py --teacher RUN --teacher CHECKPOINT --data DATA --vocabulary VOCABULARY \\
        --seconds 150 --device cuda --out DATA/taught.tsv.gz

Every sentence of DATA and --more is translated into the four other languages, greedily, by
the mean of the teachers' probabilities (an ensemble): runs of train.py or checkpoints in
Hugging Face's form, of any shapes and of one vocabulary. train.py takes the file with
--more. It is the same kind of distillation as distill.py's, for a GPU and for all languages;
where the time does not do for all sentences, each direction has its share.
"""
import argparse
import collections
import json
import os
import random
import time

import torch
from safetensors.torch import load_file

import batches
import checkpoint
import corpus
from model import M2M100, Shape
from pieces import Vocabulary
from translate import translate

ROUNDS = 16   # the sentences are processed in this many parts, one after another
ROWS = 3072   # of a batch
SHORTEST, LONGEST = 4, 40  # pieces of a sentence that models can be trusted with (see distill.py)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", action="append", required=True, metavar="DIR", help="may be given several times")
    parser.add_argument("--data", required=True, metavar="DIR", help="what data.py wrote")
    parser.add_argument("--more", nargs="*", default=[], metavar="FILE", help="further pairs by persons, such as tatoeba.py's")
    parser.add_argument("--vocabulary", required=True, metavar="DIR")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seconds", type=float, required=True, help="that it may take")
    parser.add_argument("--out", required=True, metavar="FILE")
    arguments = parser.parse_args()
    started = time.monotonic()
    vocabulary = Vocabulary(arguments.vocabulary, os.cpu_count())
    teachers = [_network(folder, arguments.device) for folder in arguments.teacher]
    texts = collections.defaultdict(dict)
    for pair in batches.read([os.path.join(arguments.data, "train.tsv.gz"), *arguments.more]):
        texts[pair.source_language][pair.source] = texts[pair.target_language][pair.target] = True
    shuffled = {language: random.Random(0).sample(sorted(found), len(found)) for language, found in texts.items()}
    pairs = []
    for number in range(ROUNDS):
        for source in corpus.LANGUAGES:
            part = shuffled[source][number::ROUNDS]
            sentences = [text for text, ids in zip(part, vocabulary.encode(part)) if SHORTEST <= len(ids) <= LONGEST]
            for target in corpus.LANGUAGES:
                if time.monotonic() - started > arguments.seconds:
                    return _write(arguments.out, pairs)
                if target != source:
                    translations = translate(teachers, vocabulary, sentences, source, target, ROWS)
                    pairs += [corpus.Pair(corpus.DISTILLED, source, target, text, translation)
                              for text, translation in zip(sentences, translations) if corpus.is_sound(translation, target)]
        print(f"{len(pairs):,} after {number + 1} of {ROUNDS} rounds, {time.monotonic() - started:.0f} s", flush=True)
    _write(arguments.out, pairs)


def _network(folder, device):
    """The averaged weights of a run, or a checkpoint, in 16 bits on a GPU."""
    state = checkpoint.load(folder)
    if state is not None:
        shape, weights = Shape(**state["shape"]), state["average"]
    else:
        with open(os.path.join(folder, "config.json"), encoding="utf8") as f:
            c = json.load(f)
        shape = Shape(c["vocab_size"], c["d_model"], c["encoder_attention_heads"], c["encoder_layers"], c["decoder_layers"],
                      c["encoder_ffn_dim"], c["decoder_ffn_dim"])
        weights = load_file(os.path.join(folder, "model.safetensors"))
    model = M2M100(shape).eval()
    model.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    return model.to(device, torch.float16 if device == "cuda" else torch.float32)


def _write(path, pairs):
    corpus.write(path, pairs)
    for (source, target), n in sorted(collections.Counter((pair.source_language, pair.target_language) for pair in pairs).items()):
        print(f"{source}–{target} {n:>8,}")


if __name__ == "__main__":
    main()
