"""Measures dragoman and fxtranslate in turns on a model of Firefox's: sentences a second, all at hand or one after the other.

    .venv/bin/pip install fxtranslate==0.5.0
    .venv/bin/python scripts/goldens/firefox.py --shape tiny --texts texts.txt build/tiny
    .venv/bin/python scripts/bench/firefox.py build/tiny texts.txt

dragoman's side is BenchmarkFirefox of package model/checkpoint: tokenizer, model and search. All at hand, fxtranslate has a process
for each core, which translate one sentence after the other: its Python package has no batches. Neither has a shortlist. Both
write as many tokens.
"""
import glob
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

REPEAT, SENTENCES = 5, 1000


def load(folder):
    import fxtranslate
    global engine
    model, vocab = (open(glob.glob(f"{folder}/{name}")[0], "rb").read() for name in ("model.*.bin", "vocab.*.spm"))
    engine = fxtranslate.Translator(model, vocab, vocab)


def theirs(text):
    return engine.translate(text)


def main(folder, texts):
    with open(texts, encoding="utf8") as f:
        lines = [line.strip() for line in f if 20 <= len(line) <= 120 and line.isascii()]
    lines = lines[:: len(lines) // SENTENCES][:SENTENCES]
    seconds = {(side, how): [] for how in ("together", "one") for side in ("dragoman", "fxtranslate")}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as sample:
        sample.write("\n".join(lines))
        sample.flush()
        environ = os.environ | {"FIREFOX_MODEL": os.path.abspath(folder), "FIREFOX_TEXTS": sample.name}
        load(folder)
        with multiprocessing.Pool(os.cpu_count(), load, (folder,)) as pool:
            for _ in range(REPEAT):
                said = subprocess.run(["go", "test", "-run", "^$", "-bench", "Firefox", "-benchtime", "1x", "./model/checkpoint"], env=environ,
                                      check=True, capture_output=True, text=True).stdout
                for how, rate in re.findall(r"BenchmarkFirefox/(\w+)\S*\s.* ([0-9.]+) sentences/s", said):
                    seconds["dragoman", how].append(SENTENCES / float(rate))
                for how, call in (("together", lambda: pool.map(theirs, lines, 8)), ("one", lambda: list(map(theirs, lines)))):
                    begin = time.perf_counter()
                    call()
                    seconds["fxtranslate", how].append(time.perf_counter() - begin)
    medians = {key: statistics.median(values) for key, values in seconds.items()}
    for (side, how), took in medians.items():
        print(f"{how:9} {side:11} {SENTENCES / took:7.1f} sentences/s   x{medians['fxtranslate', how] / took:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
