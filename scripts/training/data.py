"""Makes the training set and the sentences to measure with from files of sentence pairs.

    python scripts/training/data.py --pairs train.tsv extra.tsv --dev dev.tsv extra_dev.tsv \\
        --held-out scripts/quality/dev.tsv scripts/goldens/sentences.jsonl --out DATA

corpus.read says what the files look like. Writes to --out:

  train.tsv.gz  kind, language, language, sentence, sentence. Kind "direct" is a pair of
                --pairs, "pivot" two sentences that share a sentence in English.
  dev.tsv       likewise, for measuring. Its kinds are "dev" for the pairs of --dev and
                "dev-pivot" for pairs by way of English, --dev-pivots for each two
                languages other than English.

No pair in train.tsv.gz has a side that equals one of dev.tsv or of a file in --held-out,
not even in another case or with other punctuation. As pivot pairs are made of what is
left, that holds for them too. A sentence that differs by a word stays, as it does in
every split of Tatoeba: the figures are for sentences like those of the training set.

Which sentences are held out depends on their text alone, not on their order.
"""
import argparse
import collections
import hashlib
import itertools
import os
import re

import corpus

LONGEST = 300  # characters of a sentence


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", nargs="+", required=True, metavar="FILE", help="pairs to train with")
    parser.add_argument("--dev", nargs="*", default=[], metavar="FILE", help="pairs to measure with")
    parser.add_argument("--held-out", nargs="*", default=[], metavar="FILE", help="further sentences not to train with")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--dev-pivots", type=int, default=150, help="pairs held out for each two languages but English")
    parser.add_argument("--pivots", type=int, default=4, help="most pairs of two languages by way of one English sentence; 0: none")
    parser.add_argument("--keep-width", action="store_true", help="leave half-width punctuation in Japanese and Chinese")
    parser.add_argument("--longest", type=int, default=LONGEST, help="characters of a sentence")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    banned = corpus.keys(arguments.dev + arguments.held_out)
    dev = [pair._replace(kind="dev") for path in arguments.dev for pair in corpus.read(path)]
    direct = _direct(arguments, banned)
    pivots = _choose(direct, arguments.dev_pivots)
    banned |= {corpus.key(text) for pair in pivots for text in (pair.source, pair.target)}
    banned |= {corpus.key(text) for text in _english_of(pivots, direct)}
    direct = [pair for pair in direct if not corpus.is_held_out(pair, banned)]
    joined = _pivots(direct, arguments.pivots)
    corpus.write(os.path.join(arguments.out, "train.tsv.gz"), direct + joined)
    corpus.write(os.path.join(arguments.out, "dev.tsv"), dev + pivots)
    _report(direct + joined + dev + pivots)


def _direct(arguments, banned):
    """The pairs of the files, cleaned, each once."""
    found = {}
    for path in arguments.pairs:
        for pair in corpus.read(path):
            pair = cleaned(_english_first(pair), arguments.keep_width)
            if is_usable(pair, arguments.longest) and not corpus.is_held_out(pair, banned):
                found.setdefault((pair.target_language, corpus.key(pair.source), corpus.key(pair.target)), pair)
    return list(found.values())


def _english_first(pair):
    if pair.target_language != corpus.PIVOT:
        return pair
    return corpus.Pair(pair.kind, pair.target_language, pair.source_language, pair.target, pair.source)


def is_usable(pair, longest=LONGEST):
    """Whether both sides say something, of a like length, and not the same at length."""
    a, b = _length(pair.source), _length(pair.target)
    if not a or not b or max(len(pair.source), len(pair.target)) > longest:
        return False
    if a > 20 and corpus.key(pair.source) == corpus.key(pair.target):
        return False
    return max(a, b) <= 3 * min(a, b) + 15


def _length(text):
    """Letters, those of Chinese and Japanese counted as two."""
    return sum(1 + (c > "\u2e80") for c in text if c.isalnum())


# Half-width signs that end a phrase after a Chinese or Japanese character. Tatoeba has
# both widths; the training set has one, so that the model writes one.
_NARROW = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff」』）”])\s*([?!,:;])\s*(?![0-9A-Za-z])")
_WIDE = str.maketrans("?!,:;", "？！，：；")
# Letters and digits of full width, which the vocabulary does not tell from others.
_LETTERS = str.maketrans({c: chr(c - 0xFEE0) for c in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))})


def cleaned(pair, keep_width=False):
    """The pair with letters, spaces and, unless width is kept, punctuation written in one way."""
    source, target = (" ".join(text.translate(_LETTERS).split()) for text in (pair.source, pair.target))
    if not keep_width:
        source, target = _widened(source, pair.source_language), _widened(target, pair.target_language)
    return pair._replace(source=source, target=target)


def _widened(text, language):
    if language not in ("ja", "zh"):
        return text
    return _NARROW.sub(lambda match: match[1].translate(_WIDE), text)


def _by_english(direct):
    """{key of an English sentence: {language: its translations}}"""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for pair in direct:
        if pair.source_language == corpus.PIVOT:
            found[corpus.key(pair.source)][pair.target_language].append(pair.target)
    return found


def _others():
    return itertools.combinations([code for code in corpus.LANGUAGES if code != corpus.PIVOT], 2)


def _choose(direct, each):
    """Pairs to hold out: for each two languages the first translations of English
    sentences of four words and more, in the order of the sentences' hashes."""
    chosen, translations = [], _by_english(direct)
    ordered = sorted({pair.source for pair in direct if len(pair.source.split()) >= 4},
                     key=lambda text: hashlib.sha256(text.encode()).digest())
    for a, b in _others():
        both = (translations[corpus.key(text)] for text in ordered)
        pairs = (corpus.Pair("dev-pivot", a, b, found[a][0], found[b][0]) for found in both if a in found and b in found)
        chosen += itertools.islice(pairs, each)
    return chosen


def _english_of(pivots, direct):
    """The English sentences that stand between the two sides of pairs."""
    held = {corpus.key(text) for pair in pivots for text in (pair.source, pair.target)}
    return [pair.source for pair in direct if corpus.key(pair.target) in held]


def _pivots(direct, limit):
    """Pairs of sentences with a common translation into English, at most limit of two
    languages for each English sentence, with as many different sentences as can be."""
    found = {}
    for translations in _by_english(direct).values():
        for a, b in _others():
            xs, ys = translations.get(a, []), translations.get(b, [])
            for i in range(min(limit, max(len(xs), len(ys)) if xs and ys else 0)):
                x, y = xs[i % len(xs)], ys[i % len(ys)]
                if max(_length(x), _length(y)) <= 3 * min(_length(x), _length(y)) + 15:
                    found.setdefault((a, b, corpus.key(x), corpus.key(y)), corpus.Pair(corpus.JOINED, a, b, x, y))
    return list(found.values())


def _report(pairs):
    counts = collections.Counter((pair.kind, pair.source_language, pair.target_language) for pair in pairs)
    for (kind, a, b), n in sorted(counts.items()):
        print(f"{kind:<10} {a}–{b} {n:>8,}")


if __name__ == "__main__":
    main()
