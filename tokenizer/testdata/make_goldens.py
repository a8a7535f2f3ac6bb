"""Writes the goldens of packages tokenizer and tokenizer/spm.

    python make_goldens.py --corpus sentences.txt
    python make_goldens.py --corpus sentences.txt --only newer    # with sentencepiece alone

The references are Debian's spm_encode and spm_decode 0.1.97 (pieces, decoded)
and transformers' M2M100Tokenizer (ids); texts with a newline inside, which
spm_encode cannot take as one, come from the Python package sentencepiece alone. So do
the goldens of unigram models and byte fallback: the program scores user-defined pieces and
very long texts as versions before 0.2.1 did.
Needs: spm_encode and spm_decode on the path; pip install transformers sentencepiece.
"""

import argparse
import base64
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

import sentencepiece

import hostile

HERE = pathlib.Path(__file__).parent
BUNDLED = HERE / "../../model/bundled"
SPM_TESTDATA = HERE / "../spm/testdata"
PACKAGE = f"sentencepiece {sentencepiece.__version__}"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--corpus", required=True, help="sentences, one a line; 3,000 are taken")
    args.add_argument("--only", choices=["newer"], help="make only what needs no spm_encode and no transformers")
    args = args.parse_args()
    corpus = open(args.corpus, "rb").read().split(b"\n")[:-1]
    sample = random.Random(0).sample(corpus, 3000)
    newer(sample)
    if args.only:
        return
    import transformers
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES
    global REFERENCE
    REFERENCE = f"sentencepiece 0.1.97 (Debian), {PACKAGE}, transformers {transformers.__version__}"
    rng = random.Random(1)
    # As in facebook/m2m100_418M's own tokenizer files. Without it transformers takes
    # language tokens for words when it decodes.
    codes = FAIRSEQ_LANGUAGE_CODES["m2m100"]
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(
        BUNDLED, additional_special_tokens=[f"__{code}__" for code in codes])
    model = BUNDLED / "sentencepiece.bpe.model"
    write(HERE / "corpus.jsonl.gz", records(model, sample, tokenizer))
    write(HERE / "hostile.jsonl.gz", records(model, hostile.texts(), tokenizer))
    write(HERE / "decode.jsonl.gz", decode_records(tokenizer, rng))
    variants(sample, rng)


def records(model, texts, tokenizer=None, by_line=True):
    """One record a text: its pieces, what they decode to and, where the text is
    UTF-8 and there is a tokenizer, Hugging Face's ids and what those decode to.
    Pieces that hold spaces cannot be told apart by line: then the Python package
    is the only reference, and takes UTF-8 only."""
    lines = [t for t in texts if b"\n" not in t] if by_line else []
    texts = [t for t in texts if by_line or as_text(t) is not None]
    pieces = dict(zip(lines, run(["spm_encode", f"--model={model}"], lines)))
    decoded = dict(zip(lines, run(["spm_decode", f"--model={model}"], [pieces[t] for t in lines])))
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    for raw in texts:
        text = as_text(raw)
        record = {"text": text} if text is not None else {"bytes": base64.b64encode(raw).decode()}
        if raw in pieces:
            record["pieces"] = pieces[raw].decode().split(" ") if pieces[raw] else []
            record["decoded"] = decoded[raw].decode()
            if text is not None:
                newer = processor.encode(text, out_type=str)
                assert newer == record["pieces"], f"0.1.97 and {sentencepiece.__version__} differ on {text!r}"
        else:
            record["pieces"] = processor.encode(text, out_type=str)
            record["decoded"] = processor.decode(record["pieces"])
        if tokenizer is not None and text is not None:
            tokenizer.src_lang = "fr"
            record["ids"] = tokenizer(text, split_special_tokens=True).input_ids
            record["hf_decoded"] = hf_decode(tokenizer, record["ids"])
        yield record


def decode_records(tokenizer, rng):
    """What Hugging Face decodes sequences of ids to, sensible or not. Ids above the
    languages are left out: it writes "<unk>" for them."""
    last = tokenizer.get_lang_id("zu")
    base = tokenizer.vocab_size
    for n in range(600):
        low, high = [(0, last), (0, 40), (base, last), (4, base - 1)][n % 4]
        ids = [rng.randint(low, high) for _ in range(rng.randint(0, 20))]
        yield {"ids": ids, "hf_decoded": hf_decode(tokenizer, ids)}


def hf_decode(tokenizer, ids):
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


# Rules that meet each other: the longest must win, a rule may remove its text, give
# a space or two, begin with a space, or go on with a combining mark.
RULES = ["66 69\t46", "66 69 67\t47", "20 41\t61", "78\t", "79\t20", "7A\t20 20", "71 71\t20 71 20", "61 308 301\t62", "61 308\tE4",
         "E9\t65 301", "3042 3099\t3094", "1F600\t3A 29", "2581\t5F 5F", "A0\t20", "62 20\t62"]

VARIANTS = {
    "identity": dict(normalization_rule_name="identity"),
    "suffix": dict(normalization_rule_name="identity", treat_whitespace_as_suffix=True),
    "bare": dict(normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False),
    "spaces": dict(normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True),
    "nodummy": dict(normalization_rule_name="identity", add_dummy_prefix=False),
    "phrases": dict(normalization_rule_name="identity", split_by_whitespace=False, split_by_unicode_script=False),
    "rules": dict(rules=True),
    "rules_suffix": dict(rules=True, treat_whitespace_as_suffix=True),
    "rules_bare": dict(rules=True, add_dummy_prefix=False, remove_extra_whitespaces=False),
    "unescaped": dict(normalization_rule_name="identity", escape=False),
}


def variants(corpus, rng):
    """Trains a small model for each way to set the flags, with goldens of its own."""
    alphabet = " \u2581abfigqxyzA\u00e4\u00e9\u0308\u0301\u3042\u3099\U0001f600\u00a0\t\x00"
    noise = ["".join(rng.choice(alphabet) for _ in range(rng.randint(0, 14))).encode() for _ in range(400)]
    latin = [t for t in corpus if max(t.decode()) < "\u0250"]
    texts = noise + [t for t in hostile.texts() if len(t) < 60][::4] + corpus[:100]
    for name, options in VARIANTS.items():
        model = train(latin, dict(options))
        with tempfile.NamedTemporaryFile(suffix=".model") as file:
            file.write(model)
            file.flush()
            by_line = options.get("escape", True)
            write(SPM_TESTDATA / f"{name}.jsonl.gz", records(file.name, texts, by_line=by_line))
        (SPM_TESTDATA / f"{name}.model.gz").write_bytes(gzip.compress(model, mtime=0))


def train(corpus, options):
    escape = options.pop("escape", True)
    with tempfile.TemporaryDirectory() as folder:
        if options.pop("rules", False):
            path = pathlib.Path(folder) / "rules.tsv"
            path.write_text("\n".join(RULES) + "\n")
            options["normalization_rule_tsv"] = str(path)
        text = pathlib.Path(folder) / "corpus.txt"
        text.write_bytes(b"\n".join(corpus))
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=f"{folder}/m", num_threads=1, minloglevel=2,
            **{"model_type": "bpe", "vocab_size": 500, "character_coverage": 0.999, "hard_vocab_limit": False, **options})
        model = (pathlib.Path(folder) / "m.model").read_bytes()
    # Messages that stand twice in a file are merged: this sets normalizer_spec.escape_whitespaces.
    return model if escape else model + b"\x1a\x02\x28\x00"


NEWER = {
    "unigram": dict(vocab_size=1200),
    "unigram_bytes": dict(vocab_size=1300, byte_fallback=True, split_digits=True, rules=True,
                          user_defined_symbols=["<sep>", "Tom", "ing", "\u65e5\u672c", "\u2581Mary", "<0>", " the ", "\uff41", "fi"]),
    "unigram_suffix": dict(vocab_size=900, rules=True, treat_whitespace_as_suffix=True, remove_extra_whitespaces=False),
    "unigram_phrases": dict(vocab_size=900, normalization_rule_name="identity", add_dummy_prefix=False, split_by_whitespace=False,
                            split_by_unicode_script=False, allow_whitespace_only_pieces=True),
    "bytes": dict(vocab_size=1000, normalization_rule_name="identity", byte_fallback=True, model_type="bpe"),
}


def newer(corpus):
    """Trains small models of the kinds whose reference is the Python package."""
    long = b" ".join(corpus[:60]) * 40  # of a score below -100,000, where the package begins to count again
    every = hostile.texts() + [long]
    few = [t for t in every if len(t) < 60][::3]
    for name, options in NEWER.items():
        texts = every if name in ("unigram", "unigram_bytes") else few
        model = train(corpus, {"model_type": "unigram", "character_coverage": 0.98, **options})
        write(SPM_TESTDATA / f"{name}.jsonl.gz", package_records(model, texts + corpus[:150]), PACKAGE)
        (SPM_TESTDATA / f"{name}.model.gz").write_bytes(gzip.compress(model, mtime=0))


def package_records(model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    for raw in texts:
        text = as_text(raw)
        record = {"text": text} if text is not None else {"bytes": base64.b64encode(raw).decode()}
        pieces = processor.encode(raw, out_type=str) if raw else []
        yield record | {"pieces": pieces, "decoded": processor.decode(pieces) if pieces else ""}


def run(command, lines):
    out = subprocess.run(command, input=b"".join(line + b"\n" for line in lines), capture_output=True, check=True).stdout
    result = out.split(b"\n")[:-1]
    assert len(result) == len(lines), f"{command[0]}: {len(lines)} lines in, {len(result)} out"
    return result


def as_text(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def write(path, items, reference=None):
    rows = [{"reference": reference or REFERENCE}, *items]
    data = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    path.write_bytes(gzip.compress(data.encode(), mtime=0))
    print(f"{path.name}: {len(rows) - 1} records")


if __name__ == "__main__":
    main()
