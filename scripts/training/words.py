"""Finds single words and their translations in a training set, for train.py --more.

    python scripts/training/words.py --data DATA --vocabulary VOCABULARY --held-out scripts/goldens/sentences.jsonl --out DATA/words.tsv

A corpus of sentences teaches little about a word that stands alone. Two words are taken for
translations of each other where each is the other's best match by the Dice coefficient over
the sentences that they are in, and is there in most of them. Words of Chinese are pieces of
the vocabulary, those of Japanese runs of kanji or of katakana that are no stems of verbs. Words of two languages that
have a translation into English in common are pairs as well. With --capitals those that
change by it are written with a capital on both sides, as on a button or in a list.
"""
import argparse
import collections
import itertools
import os
import re

import augment
import corpus
from pieces import Vocabulary

_WORD = {"en": re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*"),
         "fr": re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*"),  # l'armée: two words
         "de": re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")}
_JAPANESE = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}|[\u3005\u3400-\u9fff]{1,4}(?=[はがをにでとも、。]|[^\u3041-\u3096]|$)")
_CHINESE = re.compile(r"[\u3400-\u9fff]+")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, metavar="DIR")
    parser.add_argument("--vocabulary", required=True, metavar="DIR")
    parser.add_argument("--held-out", nargs="*", default=[], metavar="FILE", help="sentences not to train with")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--capitals", action="store_true", help="write each with a capital; leave out those that have one anyway")
    parser.add_argument("--least", type=int, default=5, help="sentences that both words are in")
    parser.add_argument("--dice", type=float, default=0.5, help="least Dice coefficient")
    arguments = parser.parse_args()
    vocabulary = Vocabulary(arguments.vocabulary)
    groups = collections.defaultdict(list)
    for pair in corpus.read(os.path.join(arguments.data, "train.tsv.gz")):
        if pair.kind == corpus.DIRECT:
            groups[pair.target_language].append(pair)
    matches = {language: _matches(pairs, language, vocabulary, arguments) for language, pairs in groups.items()}
    found = [corpus.Pair(corpus.WORD, corpus.PIVOT, language, english, other)
             for language, words in matches.items() for english, other in words.items()]
    for a, b in itertools.combinations(sorted(matches), 2):
        found += [corpus.Pair(corpus.WORD, a, b, matches[a][english], matches[b][english])
                  for english in sorted(matches[a].keys() & matches[b].keys())]
    if arguments.capitals:
        known, found = set(found), [augment.capital(pair) for pair in found if len(pair.source) > 1]
        found = [pair for pair in found if pair not in known]
    held_out = corpus.keys([os.path.join(arguments.data, "dev.tsv"), *arguments.held_out])
    found = [pair for pair in found if not corpus.is_held_out(pair, held_out)]
    corpus.write(arguments.out, found)
    for (a, b), n in sorted(collections.Counter(pair[1:3] for pair in found).items()):
        print(f"{a}–{b} {n:>6,}")


def _matches(pairs, language, vocabulary, arguments):
    """{English word: its translation}"""
    forms = [_forms(pairs, corpus.PIVOT), _forms(pairs, language)]
    counts, both = [collections.Counter(), collections.Counter()], collections.Counter()
    for pair in pairs:
        english = _words(pair.source, corpus.PIVOT, forms[0], vocabulary)
        other = _words(pair.target, language, forms[1], vocabulary)
        counts[0].update(english)
        counts[1].update(other)
        both.update(itertools.product(english, other))
    best = [{}, {}]
    for words, n in both.items():
        dice = 2 * n / (counts[0][words[0]] + counts[1][words[1]])
        if n >= arguments.least:
            for side in (0, 1):
                best[side][words[side]] = max(best[side].get(words[side], (0, "")), (dice, words[1 - side]))
    return {english: other for english, (dice, other) in sorted(best[0].items())
            if dice >= arguments.dice and best[1][other][1] == english and english != other.lower()}


def _forms(pairs, language):
    """How words are written inside of sentences, by their small letters: German nouns and
    names keep their capitals."""
    if language in ("ja", "zh"):
        return {}
    counts = collections.defaultdict(collections.Counter)
    for pair in pairs:
        text = pair.source if language == corpus.PIVOT else pair.target
        for match in itertools.islice(_WORD[language].finditer(text), 1, None):
            counts[match[0].lower()][match[0]] += 1
    return {word: found.most_common(1)[0][0] for word, found in counts.items()}


def _words(text, language, forms, vocabulary):
    if language not in ("ja", "zh"):
        return {forms.get(match[0].lower(), match[0].lower()) for match in _WORD[language].finditer(text)}
    if language == "ja":
        return set(_JAPANESE.findall(text))
    pieces = (piece.lstrip("▁") for piece in vocabulary.processor.encode(text, out_type=str))
    return {piece for piece in pieces if _CHINESE.fullmatch(piece)}


if __name__ == "__main__":
    main()
