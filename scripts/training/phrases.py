"""Makes pairs of what people say and click on every day, for train.py --more.

    python scripts/training/phrases.py --held-out scripts/quality/dev.tsv scripts/goldens/sentences.jsonl --out DATA/phrases.tsv

phrases.tsv beside this file has greetings, courtesies, common words and labels, which a corpus
of sentences hardly has. Each line is a text in all languages, written for this project, and
the signs that may end it. Every text becomes a pair of each two languages as it is, and one
with each of its signs. A line with a text that is measured with is left out.
"""
import argparse
import csv
import itertools
import os

import corpus

PHRASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "phrases.tsv")
_WIDE = str.maketrans(".!?", "。！？")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", nargs="*", default=[], metavar="FILE", help="sentences not to train with")
    parser.add_argument("--repeat", type=int, default=4, help="how often a pair is in an epoch")
    parser.add_argument("--out", required=True, metavar="FILE")
    arguments = parser.parse_args()
    banned = corpus.keys(arguments.held_out)
    with open(PHRASES, encoding="utf8", newline="") as f:
        lines = list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    kept = [line for line in lines if not any(corpus.key(line[code]) in banned for code in corpus.LANGUAGES)]
    found = list(dict.fromkeys(pair for line in kept for pair in pairs(line)))
    corpus.write(arguments.out, found * arguments.repeat)
    print(f"{len(kept)} of {len(lines)} lines, {len(found):,} pairs")


def pairs(line):
    """The pairs of a line of phrases.tsv."""
    for a, b in itertools.combinations(corpus.LANGUAGES, 2):
        yield corpus.Pair(corpus.WORD, a, b, line[a], line[b])
        for sign in line["signs"]:
            yield corpus.Pair(corpus.PHRASE, a, b, ended(line[a], a, sign), ended(line[b], b, sign))


def ended(text, language, sign):
    """The text with a sign at its end, as its language writes it."""
    if language == "fr" and sign in "!?":
        return f"{text} {sign}"
    if language == "ja" and sign == "?" and text.endswith("か"):
        sign = "."
    return text + (sign.translate(_WIDE) if language in ("ja", "zh") else sign)


if __name__ == "__main__":
    main()
