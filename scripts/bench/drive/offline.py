"""Decoding speed of all sides on the same ids: see README.md."""
import itertools
import json
import random
import statistics
import sys
import time

import settings
from host import Noise
from results import Results
from settings import SHAPE, built, knob, of_shape, peer
from side import Side, SideError

# Of the random checkpoint: its rows; a row other than a special token, which begins sources; the token that ends sources; and
# the token of the target language, which begins targets, or -1 for models with the target's token in the source, or with one
# target.
LABEL = SHAPE
if SHAPE == "418M":
    LABEL += "-" + knob("TARGET", "fr")
    with open(of_shape("int8", "vocab.json"), encoding="utf-8") as file:
        PIECES = len(json.load(file))
    with open(of_shape("int8", "dragoman.json"), encoding="utf-8") as file:
        LANGUAGES = json.load(file)["languages"]
    VOCABULARY, LANGUAGE, END, TARGET = 128112, PIECES + LANGUAGES.index("en"), 2, PIECES + LANGUAGES.index(knob("TARGET", "fr"))
else:
    VOCABULARY, LANGUAGE, END, TARGET = {"madlad-3B": (256000, 4, 2, -1), "opus-base": (58100, 4, 0, -1), "opus-tc-big": (57829, 4, 0, -1)}[SHAPE]
CELL_SECONDS = knob("CELL_SECONDS", 60)  # a cell that would take a side longer is left out
PAUSE = 0.5  # seconds between runs: OpenMP's idle threads go on spinning for 0.2


def sides():
    """All sides. The part before a space is what the report calls them; of several
    settings of one side it takes the best for each cell."""
    threads = settings.THREADS

    def dragoman(precision):
        return [built("bin", "offline"), "-model", of_shape(precision), "-library", settings.LIBRARY,
                "-threads", str(threads)]

    def ctranslate2(precision, inter):
        return [*peer("offline_ctranslate2.py"), of_shape("checkpoint"), of_shape("ct2-" + precision), precision,
                str(inter), str(threads // inter)]

    every = [
        Side("dragoman-int8", dragoman("int8")),
        Side("ctranslate2-int8", ctranslate2("int8", 1)),
        Side("ctranslate2-int8 split", ctranslate2("int8", threads)),
        Side("dragoman-fp32", dragoman("fp32")),
        Side("ctranslate2-float32", ctranslate2("float32", 1)),
        Side("ctranslate2-float32 mkl", ctranslate2("float32", 1), {"CT2_USE_MKL": "1"}),
        Side("transformers-fp32", [*peer("offline_transformers.py"), of_shape("checkpoint"), str(threads)]),
    ]
    names = knob("SIDES", "")
    return [s for s in every if not names or s.name.split()[0] in names.split()]


def sources(sentences, length):
    """Random sentences of length ids each, always the same ones."""
    draw = random.Random(length)
    return [[LANGUAGE, *(draw.randrange(4, VOCABULARY) for _ in range(length - 2)), END] for _ in range(sentences)]


def request(sentences, length, beams):
    return {"sources": sources(sentences, length), "target": TARGET, "beams": beams, "length": length}


def check(every, lengths, results):
    """Greedy ids must be the same on all sides that compute in fp32."""
    exact = [s for s in every if s.name.split()[0].endswith("32")]
    share = {s.name: [] for s in every}
    for length in lengths:
        asked = request(4, length, 1)
        answers = {s.name: s.decode(600, **asked)["ids"] for s in every}
        for name, ids in answers.items():
            if [len(x) for x in ids] != [length] * 4:
                raise SystemExit(f"{name} generated {[len(x) for x in ids]} ids, {length} were asked for")
        expected = answers[(exact or every)[-1].name]
        for name, ids in answers.items():
            share[name] += [a == b for x, y in zip(ids, expected) for a, b in zip(x, y)]
        for s in exact:
            if answers[s.name] != expected:
                raise SystemExit(f"greedy search at length {length}: {s.name} and {exact[-1].name} differ:\n"
                                 f"{answers[s.name]}\n{expected}")
    results.header["identical_greedy_ids"] = {name: round(statistics.mean(same), 4) for name, same in share.items()}
    results.header["versions"] = {k: v for s in every for k, v in s.versions.items()}
    results.write()
    print("same greedy ids in fp32:", ", ".join(s.name for s in exact), flush=True)


class Estimate:
    """Foretells how long a side takes for a cell, from its fastest runs of this and
    of smaller cells."""

    def __init__(self):
        self.known = {}  # (side, beams): {(sentences, length): seconds}

    def learn(self, side, sentences, length, beams, seconds):
        cells = self.known.setdefault((side, beams), {})
        cells[sentences, length] = min(seconds, cells.get((sentences, length), seconds))

    def seconds(self, side, sentences, length, beams):
        """A guess that is never far too high: time grows with the length, and with
        the sentences by a half at least."""
        return max((t * (length / l) * max(1, 0.5 * sentences / s)
                    for (s, l), t in self.known.get((side, beams), {}).items() if s <= sentences and l <= length), default=0)


def main():
    every = sides()
    cells = list(itertools.product(knob("BEAMS", [1, 5]), knob("LENGTHS", [16, 32, 128], quick=[16]),
                                   knob("SENTENCES", [1, 8, 32, 64], quick=[1, 8])))
    results = Results(f"offline-{LABEL}", shape=LABEL, cell_seconds=CELL_SECONDS, sides=[s.name for s in every])
    estimate, skipped = Estimate(), set()
    try:
        check(every, sorted({length for _, length, _ in cells}), results)
        for repetition in range(settings.REPETITIONS):
            for beams, length, sentences in cells:
                order = every[repetition % len(every):] + every[:repetition % len(every)]
                for side in order:
                    if (side.name, beams, length, sentences) in skipped or ("split" in side.name and sentences < 2):
                        continue
                    cell = {"side": side.name, "beams": beams, "length": length, "sentences": sentences}
                    guess = estimate.seconds(side.name, sentences, length, beams)
                    if guess > CELL_SECONDS:
                        skipped.add((side.name, beams, length, sentences))
                        results.add(**cell, skipped=f"about {guess:.0f} s, the limit is {CELL_SECONDS} s")
                        continue
                    run(side, cell, repetition, results, estimate)
    finally:
        for side in every:
            side.stop()


def run(side, cell, repetition, results, estimate):
    """Times one cell on one side. A side that fails loses this run only."""
    sentences, length, beams = cell["sentences"], cell["length"], cell["beams"]
    time.sleep(PAUSE)
    try:
        with Noise() as noise:
            answer = side.decode(CELL_SECONDS * 5 + 60, **request(sentences, length, beams))
    except SideError as e:
        print(e, file=sys.stderr, flush=True)
        results.add(**cell, repetition=repetition, error=str(e))
        return
    seconds, ids = answer["seconds"], answer["ids"]
    if [len(x) for x in ids] != [length] * sentences:
        results.add(**cell, repetition=repetition, error=f"wrong lengths: {sorted(set(map(len, ids)))}")
        return
    estimate.learn(side.name, sentences, length, beams, seconds)
    results.add(**cell, repetition=repetition, seconds=round(seconds, 4), **noise.fields())
    print(f"{repetition} {beams} beams, {sentences:2} x {length:3}: {side.name:24} {seconds:8.3f} s "
          f"{sentences * length / seconds:8.1f} tokens/s{'  (noisy)' if noise.noisy else ''}", flush=True)


if __name__ == "__main__":
    main()
