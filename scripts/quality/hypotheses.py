"""The files of the quality measurements and the score of one direction.

References (dev.tsv) are lines of: set, language, language, sentence, sentence.
Each line is used in both directions. Hypotheses are lines of: from, to,
source, translation. Files may be compressed with gzip. All are UTF-8.
"""
import gzip
import os

from sacrebleu.metrics import CHRF

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCES = os.path.join(HERE, "dev.tsv")


def rows(path, columns):
    """The lines of a TSV file, each a list of as many columns."""
    opened = gzip.open(path, "rt", encoding="utf8") if path.endswith(".gz") else open(path, encoding="utf8")
    with opened as f:
        for number, line in enumerate(f, 1):
            row = line.rstrip("\n").split("\t")
            if len(row) != columns:
                raise SystemExit(f"{path}:{number}: {len(row)} columns, expected {columns}")
            yield row


def references(path=REFERENCES):
    """{(set, from, to): [(source, reference), ...]}, both directions of every line."""
    found = {}
    for name, a, b, x, y in rows(path, 5):
        found.setdefault((name, a, b), []).append((x, y))
        found.setdefault((name, b, a), []).append((y, x))
    return found


def read(path):
    """{(from, to, source): translation}"""
    return {(source_language, target_language, source): translation
            for source_language, target_language, source, translation in rows(path, 4)}


def chrf(pairs, translations):
    """chrF (0 to 100) of translations against the references of pairs."""
    return CHRF().corpus_score(translations, [[reference for _, reference in pairs]]).score
