"""Makes the goldens of the whole model path with Hugging Face transformers.

    python3 -m venv .venv
    .venv/bin/pip install -r scripts/goldens/requirements.txt
    .venv/bin/python scripts/goldens/models.py            # everything, minutes
    .venv/bin/python scripts/goldens/models.py odd/fp16   # one of them

Writes, below model/testdata:
    bundled.json.gz           goldens of model/bundled for sentences.jsonl
    odd/NAME/                 a random checkpoint and its goldens.json.gz (see shapes.py)
    families/NAME/            a random checkpoint of another family, with a tokenizer of its
                              own, and goldens of texts (see families.py, marian.py, mbart.py, t5.py)
and, for `tokenizers`, model/family/testdata.

Package model/modeltest reads them and documents each field. Run it again, and
review what changed, when the bundled checkpoint or a version in
requirements.txt changes.
"""
import argparse
import os

import torch

import bundled
import families
import marian
import mbart
import odd
import t5
from shapes import SHAPES

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.normpath(os.path.join(HERE, "..", "..", "model"))
TESTDATA = os.path.join(MODEL, "testdata")


def main():
    names = ["bundled", *(f"odd/{name}" for name in SHAPES), *(f"families/{name}" for name in [*families.FAMILIES, *marian.KINDS, *mbart.KINDS, *t5.KINDS]),
             "tokenizers"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", metavar="NAME", help="what to make, of: " + " ".join(names))
    chosen = parser.parse_args().name or names
    if unknown := set(chosen) - set(names):
        parser.error(f"unknown {sorted(unknown)}: choose from {' '.join(names)}")

    torch.set_num_threads(1)  # sums in the same order on every run
    for name in chosen:
        if name == "bundled":
            bundled.make(os.path.join(MODEL, "bundled"), os.path.join(HERE, "sentences.jsonl"),
                         os.path.join(TESTDATA, "bundled.json.gz"))
        elif name.startswith("families/"):
            kind = name.removeprefix("families/")
            maker = next((m for m in (marian, mbart, t5) if kind in m.KINDS), families)
            maker.make(kind, os.path.join(HERE, "sentences.jsonl"), os.path.join(TESTDATA, name))
        elif name == "tokenizers":
            files = os.path.join(HERE, "sentences.jsonl"), os.path.join(MODEL, "family", "testdata")
            families.make_tokenizers(os.path.join(TESTDATA, "families", "nllb"), *files)
            families.make_unigrams(os.path.join(TESTDATA, "families"), *files)
        else:
            odd.make(name.removeprefix("odd/"), os.path.join(TESTDATA, name))


if __name__ == "__main__":
    main()
