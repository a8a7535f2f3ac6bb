"""Trains the SentencePiece model of a vocabulary on a training set that data.py made.

    python scripts/training/vocabulary.py --data DATA --out VOCABULARY

Writes sentencepiece.bpe.model, BPE with the normalization nmt_nfkc, and vocab.json, as
M2M100 has them. Every character that Chinese and Japanese sentences have more than
--rare times is a piece, and so is each sign that markers, placeholders and addresses
need. A digit is a piece of its own: numbers are copied digit by digit.
"""
import argparse
import collections
import json
import os
import random
import string

import sentencepiece

import corpus
import pieces
import things

# Signs that the service puts in place of unchangeable parts, and brackets of all sorts.
SIGNS = string.digits + string.ascii_letters + string.punctuation + "⟦⟧【】〔〕「」『』〈〉《》«»“”‘’„–—…·•°€£¥§©®™→←↑↓✓"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="DIR", help="what data.py wrote")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--size", type=int, default=16000, help="pieces, three special ones included")
    parser.add_argument("--rare", type=int, default=1, help="characters that are there as often, or less, are unknown")
    parser.add_argument("--narrow", action="store_true", help="no entries for full-width punctuation (see pieces.WIDE)")
    arguments = parser.parse_args()
    texts = _texts(os.path.join(arguments.data, "train.tsv.gz"))
    os.makedirs(arguments.out, exist_ok=True)
    prefix = os.path.join(arguments.out, pieces.MODEL.removesuffix(".model"))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=prefix, model_type="bpe", vocab_size=arguments.size,
        normalization_rule_name="nmt_nfkc", character_coverage=_coverage(texts, arguments.rare), split_digits=True,
        required_chars=SIGNS + "".join(c for e in things.EMOJI for c in e if c != "\ufe0f"), minloglevel=1)
    os.remove(prefix + ".vocab")
    processor = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
    found = pieces.entries(processor, wide=not arguments.narrow)
    with open(os.path.join(arguments.out, pieces.VOCABULARY), "w", encoding="utf8") as f:
        json.dump(found, f, ensure_ascii=False, indent=2)
    _report(pieces.Vocabulary(arguments.out), texts)


def _texts(path):
    """Each sentence once, those of the smaller languages twice, in an order that hashing decides."""
    by_language = collections.defaultdict(dict)
    for pair in corpus.read(path):
        if pair.kind == corpus.DIRECT:
            by_language[pair.source_language][pair.source] = True
            by_language[pair.target_language][pair.target] = True
    largest = max(map(len, by_language.values()))
    texts = []
    for found in by_language.values():
        texts += list(found) * (2 if len(found) < 0.4 * largest else 1)
    random.Random(0).shuffle(texts)
    return texts


def _coverage(texts, rare):
    """The share of the characters that are not rare, for SentencePiece to keep just these."""
    counts = collections.Counter(c for text in texts for c in text)
    kept = sum(n for n in counts.values() if n > rare)
    print(f"{len(texts):,} sentences, {len(counts):,} characters, {sum(n > rare for n in counts.values()):,} kept")
    return kept / sum(counts.values())


def _report(vocabulary, texts):
    sample = texts[:20000]
    ids = vocabulary.encode(sample)
    unknown = sum(row.count(pieces.UNKNOWN) for row in ids)
    print(f"{len(vocabulary.ids):,} entries, {vocabulary.size:,} rows; {sum(map(len, ids)) / len(sample):.1f} pieces a sentence, "
          f"{unknown} unknown in {len(sample):,} sentences")


if __name__ == "__main__":
    main()
