"""Pairs of sentences: reading files of them, comparing them, holding some out."""
import gzip
import json
import re
import unicodedata
from typing import NamedTuple

import files

LANGUAGES = ("en", "ja", "fr", "de", "zh")
PIVOT = "en"

# The origin of a pair. DIRECT and MORE pairs are written by people; data.py makes only the
# DIRECT ones. A pair of ONE_WAY has one side by a machine, the source (BACK) or the target
# (DISTILLED), and serves only in the direction from source to target.
DIRECT, MORE, JOINED, BACK, DISTILLED, WORD, PHRASE = "direct", "more", "pivot", "back", "distilled", "word", "phrase"
ONE_WAY = {BACK, DISTILLED}


class Pair(NamedTuple):
    """A sentence in two languages."""
    kind: str
    source_language: str
    target_language: str
    source: str
    target: str


def read(path):
    """Yields the pairs of a file, which has one a line, in one of these forms:

    language, language, sentence, sentence: with tabs between, kind "direct".
    anything, language, language, sentence, sentence: the first is taken for the kind.
    A path that ends in .gz is decompressed.
    """
    with _open(path) as lines:
        for number, line in enumerate(lines, 1):
            row = line.rstrip("\n").split("\t")
            if len(row) not in (4, 5):
                raise SystemExit(f"{path}:{number}: {len(row)} columns, expected 4 or 5")
            yield Pair(*row) if len(row) == 5 else Pair(DIRECT, *row)


def sentences(path):
    """Yields the sentences of a file that read() knows, or the sources and references of a
    .jsonl file, but for those of its set "odd": nobody measures quality by "Hello"."""
    if not path.endswith(".jsonl"):
        for pair in read(path):
            yield pair.source
            yield pair.target
        return
    with _open(path) as lines:
        for line in lines:
            fields = json.loads(line)
            if fields.get("set") == "odd":
                continue
            yield from (fields[name] for name in ("source", "reference") if name in fields)


def write(path, pairs):
    """Writes pairs as read() knows them, with their kinds; the same pairs give the same bytes.

    A kill at any moment leaves a whole file: the new one or what was there."""
    text = "".join("\t".join(pair) + "\n" for pair in pairs).encode()
    with files.replaced(path) as f:
        f.write(gzip.compress(text, compresslevel=6, mtime=0) if path.endswith(".gz") else text)


def key(text):
    """What is left of a sentence for comparing it: letters and digits in one case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if unicodedata.category(c)[0] not in "PSZC")


def keys(paths):
    """The keys of all sentences of files."""
    found = {key(sentence) for path in paths for sentence in sentences(path)}
    found.discard("")
    return found


def is_held_out(pair, keys):
    """Whether a side of a pair is among the keys of sentences to measure with."""
    return key(pair.source) in keys or key(pair.target) in keys


_LOOP = re.compile(r"(.{2,12}?)\1{3}|(\S)\2{7}")


def has_loop(text):
    """Whether a text says something over and over, as models do that got stuck: 2 to 12
    characters four times in a row, or one eight times."""
    return bool(_LOOP.search(text))


_ENGLISH_WORD = re.compile(r"(?<![A-Za-z])[a-z]{2,}(?![A-Za-z])")


def is_sound(text, language):
    """Whether a model's translation into a language has none of the faults that can be seen without its source."""
    if not text or has_loop(text):
        return False
    return language not in ("ja", "zh") or not _ENGLISH_WORD.search(text)


def _open(path):
    return gzip.open(path, "rt", encoding="utf8") if path.endswith(".gz") else open(path, encoding="utf8")
