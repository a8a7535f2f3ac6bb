"""Translates dev.tsv with Hugging Face transformers: what dragoman is measured against.

    .venv/bin/pip install -r scripts/goldens/requirements.txt -r scripts/quality/requirements.txt
    .venv/bin/python scripts/quality/baseline.py

Writes, below model/testdata: quality_hf.json with chrF by set and direction
under greedy and beam-5 search, and quality_hf_SEARCH.tsv.gz with the
translations, which chrf.py reads.
"""
import concurrent.futures
import gzip
import json
import os
import sys

import sacrebleu
import torch

import hypotheses

ROOT = os.path.normpath(os.path.join(hypotheses.HERE, "..", ".."))
CHECKPOINT = os.path.join(ROOT, "model", "bundled")
OUT = os.path.join(ROOT, "model", "testdata")

sys.path.append(os.path.join(ROOT, "scripts", "goldens"))
import bundled  # noqa: E402
import reference  # noqa: E402


def main():
    groups = hypotheses.references()
    directions, found = [], {name: [] for name in bundled.SETTINGS}
    with concurrent.futures.ProcessPoolExecutor(initializer=_load) as pool:
        for (dataset, source, target), outputs in zip(groups, pool.map(_translate, groups.items())):
            pairs = groups[dataset, source, target]
            line = {"set": dataset, "from": source, "to": target, "n": len(pairs)}
            for name, made in outputs.items():
                translations = [text for text, _ in made]
                found[name] += [(source, target, x, y) for (x, _), y in zip(pairs, translations)]
                line[name] = {"chrf": round(hypotheses.chrf(pairs, translations), 2),
                              "truncated": sum(truncated for _, truncated in made)}
            directions.append(line)
            print(line, flush=True)
    for name, lines in found.items():
        _write_translations(os.path.join(OUT, f"quality_hf_{name}.tsv.gz"), lines)
    with open(os.path.join(OUT, "quality_hf.json"), "w", encoding="utf8") as f:
        json.dump({"checkpoint": "model/bundled", "files": reference.file_hashes(CHECKPOINT),
                   "made_with": reference.versions() | {"sacrebleu": sacrebleu.__version__},
                   "settings": bundled.SETTINGS, "directions": directions}, f, indent=2, sort_keys=True)
        f.write("\n")


def _load():
    """Loads the checkpoint in a process of the pool."""
    global _model, _text
    torch.set_num_threads(1)  # sums in the same order on every run
    _model, _text = reference.load(CHECKPOINT), bundled.Text(CHECKPOINT)


def _translate(group):
    """{search: [(translation, was it cut)]} of the sentences of a direction, each on its own."""
    (_, source, target), pairs = group
    found = {}
    for name, settings in bundled.SETTINGS.items():
        outputs = [reference.generate(_model, _text.encode(source, x), _text.language(target), settings)[0] for x, _ in pairs]
        found[name] = [(_text.decode(output["ids"]), output["truncated"]) for output in outputs]
    return found


def _write_translations(path, lines):
    text = "".join("\t".join(line) + "\n" for line in lines)
    with open(path, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0, compresslevel=9) as z:
        z.write(text.encode())


if __name__ == "__main__":
    main()
