"""Writes data.txt, the lists of package tokenizer/moses, and the goldens of its tests:

    pip install sacremoses==0.0.53 subword-nmt==0.3.8 sentencepiece==0.2.3
    pip install --no-deps argostranslate==1.11.0
    python make.py [--soups 400]

What words become is sacremoses' and subword-nmt's; pieces of texts and their text are those of argostranslate's BPETokenizer, which calls
the one and has a copy of the other. DOTMULTI, which sacremoses keeps its place with in runs of dots, is in none of the texts: it would become a dot.
"""

import argparse
import gzip
import io
import json
import pathlib
import random
from importlib.metadata import version

from argostranslate.tokenizer import BPETokenizer
from sacremoses.corpus import NonbreakingPrefixes, Perluniprops
from sacremoses.normalize import MosesPunctNormalizer
from sacremoses.tokenize import MosesDetokenizer, MosesTokenizer
from sacremoses.util import is_cjk
from subword_nmt.apply_bpe import BPE

import lines

HERE = pathlib.Path(__file__).parent
VERSIONS = {name: version(name) for name in ("sacremoses", "subword-nmt", "argostranslate")}
# Each that has rules of its own, some with lists of abbreviations, and one that is unknown.
LANGUAGES = ["en", "fr", "it", "ga", "de", "es", "cs", "fi", "zh", "ja", "ko", "cjk", "ru", "el", "pt", "ta", "lt", "xx"]


def ranges(characters):
    found = []
    for c in sorted({ord(c) for c in characters} - {10}):
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in found)


def data():
    chars = Perluniprops().chars
    alpha, letters = set(MosesTokenizer.IsAlpha), set(MosesDetokenizer.IsAlpha)
    yield "# Made by testdata/make.py of the lists of sacremoses " + VERSIONS["sacremoses"] + ": see NOTICE. Classes of characters, and by"
    yield "# language the words that a dot belongs to, and those to which it does ahead of a number."
    yield "class letter " + ranges(letters)
    yield "class mark " + ranges(alpha - letters)
    yield "class digit " + ranges(set(MosesTokenizer.IsAlnum) - alpha)
    yield "class lower " + ranges(MosesTokenizer.IsLower)
    yield "class number " + ranges(MosesTokenizer.IsN)
    yield "class currency " + ranges(MosesTokenizer.IsSc)
    yield "class han " + ranges(chars("Han"))
    yield "class kana " + ranges([*chars("Hiragana"), *chars("Katakana")])
    yield "class hangul " + ranges(chars("Hangul"))
    yield "class cjk " + ranges(c for c in map(chr, range(0x110000)) if is_cjk(c))
    for code in sorted(set(NonbreakingPrefixes().available_langs.values())):
        t = MosesTokenizer(code)
        numeric = set(t.NUMERIC_ONLY_PREFIXES)
        always = {w for w in t.NONBREAKING_PREFIXES if len(w.split()) == 1} - numeric
        for kind, words in ("words", always), ("ahead", numeric):
            if words:
                yield " ".join([kind, code, *sorted(words)])


def grouped(texts, work):
    """What work gives of each text in each language, and those languages together that give the same."""
    for text in texts:
        results = {}
        for code in LANGUAGES:
            results.setdefault(json.dumps(work(code, text)), []).append(code)
        yield {"of": text, "gives": [{"languages": codes, "result": json.loads(result)} for result, codes in results.items()]}


def soup(rng, parts, longest, join=""):
    return join.join(rng.choice(parts) for _ in range(rng.randint(1, longest)))


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--soups", type=int, default=150, help="texts of parts at random")
    args.add_argument("--out", type=pathlib.Path, default=HERE)
    args = args.parse_args()
    (HERE.parent / "data.txt").write_text("".join(line + "\n" for line in data()), encoding="utf8")
    rng = random.Random(1)
    texts = lines.TEXTS + [soup(rng, lines.PARTS, 24) for _ in range(args.soups)]
    normalizers = {code: MosesPunctNormalizer(code) for code in LANGUAGES}
    tokenizers = {code: MosesTokenizer(code) for code in LANGUAGES}
    detokenizers = {code: MosesDetokenizer(code) for code in LANGUAGES}

    def words(code, text):
        normalized = normalizers[code].normalize(text)
        return {"normalized": normalized, "words": tokenizers[code].tokenize(normalized), "raw": tokenizers[code].tokenize(text)}

    def detokenized(code, tokens):
        try:
            return detokenizers[code].detokenize(tokens)
        except TypeError:  # "next(tokens)" of a list, in a rule of Czech
            return None

    with gzip.GzipFile(args.out / "goldens.jsonl.gz", "wb", mtime=0) as f, io.TextIOWrapper(f, encoding="utf8") as f:
        def write(kind, record):
            f.write(json.dumps({"kind": kind, **record}, ensure_ascii=False) + "\n")

        write("versions", {"versions": VERSIONS})
        for record in grouped(texts, words):
            write("words", record)
        sentences = [tokenizers["en"].tokenize(normalizers["en"].normalize(text)) for text in lines.TEXTS]
        for record in grouped(sentences + [soup(rng, lines.TOKENS, 14, " ").split(" ") for _ in range(args.soups)], detokenized):
            write("detokenized", record)
        for name, codes in lines.codes().items():
            (args.out / name).write_text(codes, encoding="utf8")
            tokenizer = BPETokenizer(args.out / name, "en", "fr")
            tokenizer.lazy_load()
            for text in texts:
                pieces = tokenizer.encode(text)
                write("pieces", {"codes": name, "of": text, "pieces": pieces, "text": tokenizer.decode(pieces)})
            bpe = BPE(io.StringIO(codes))
            for word in [soup(rng, lines.LETTERS, 60) for _ in range(args.soups)]:
                write("split", {"codes": name, "of": word, "pieces": bpe.segment_tokens([word])})


if __name__ == "__main__":
    main()
