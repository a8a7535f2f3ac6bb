"""Measures a Hugging Face checkpoint, with transformers or --fast: chrF, greedy and with beams, and what goes wrong.

    python scripts/training/score.py --checkpoint model/bundled --dev DATA/dev.tsv

For each set and direction of the file of pairs: chrF of greedy search and of --beams, and how
many translations are empty, loop (something of up to 12 characters four times in a row, not
so in the source) or were cut at the length limit; then the mean chrF of all. Then, for each
file of --known, how many of its words and phrases come back with --beams as they are there,
case and punctuation apart; and what comes of texts that are hardly sentences.
"""
import argparse
import collections
import os
import statistics
import sys

import augment
import batches
import corpus
from translators import CTranslate2, Transformers

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "quality"))
import hypotheses  # noqa: E402

PROBES = ("OK", "Hello", "Thank you.", "cat", "water", "42", "3.14", "2024-05-17", "12:30", "https://example.com/docs", "a@example.com",
          "😀", "Good morning, Tom!", "how are you", "WHERE IS THE STATION?", "Where is [1]?", "Click <1> to open #2.",
          "XA1 lives in Berlin.", "I paid 1250 dollars for 3 tickets.", "Hello {name}, you have %d messages.",
          "Kowalski is my neighbor.", "I went home. It was raining. I was very tired.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, metavar="FOLDER")
    parser.add_argument("--dev", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--beams", type=int, default=5)
    parser.add_argument("--fast", action="store_true", help="by CTranslate2 in int8, to choose between checkpoints")
    parser.add_argument("--most", type=int, help="sentences of a direction")
    parser.add_argument("--known", nargs="*", default=[], metavar="FILE", help="what words.py and phrases.py wrote")
    parser.add_argument("--languages", nargs="*", default=corpus.LANGUAGES, help="only directions between these")
    arguments = parser.parse_args()
    directions = _directions(arguments.dev, arguments.languages)
    if not directions:
        parser.error("--dev has no pairs between these languages")
    translator = (CTranslate2 if arguments.fast else Transformers)(arguments.checkpoint)
    print(f"| set | direction | n | greedy | {arguments.beams} beams | empty | loops | cut |\n|---|---|---|---|---|---|---|---|")
    rows = []
    for (kind, source, target), pairs in sorted(directions.items()):
        rows.append(_measure(translator, kind, source, target, pairs[:arguments.most], arguments.beams))
    numbers, greedy, beam = zip(*rows)
    print(f"| all | mean | {sum(numbers)} | {statistics.mean(greedy):.2f} | {statistics.mean(beam):.2f} | | | |", flush=True)
    for path in arguments.known:
        for kind, (right, total) in sorted(_known(translator, _directions([path], arguments.languages), arguments.beams).items()):
            print(f"{path} {kind}: {100 * right / total:.1f}% of {total}", flush=True)
    for target in arguments.languages:
        if target != "en":
            for text in PROBES:
                print(f"en → {target}  {text}  →  {translator.translate([text], 'en', target, 1)[0][0].text}", flush=True)


def _directions(paths, languages):
    """{(kind, from, to): [(source, target)]} of files of pairs, each pair in both directions"""
    found = collections.defaultdict(list)
    for pair in batches.read(paths):
        for one in (pair, augment.reverse(pair)):
            if {one.source_language, one.target_language} <= set(languages):
                found[one.kind, one.source_language, one.target_language].append((one.source, one.target))
    return found


def _measure(translator, kind, source, target, pairs, beams):
    scores, trouble = [], collections.Counter()
    for width in (1, beams):
        found = [best for best, *_ in translator.translate([text for text, _ in pairs], source, target, width)]
        scores.append(hypotheses.chrf(pairs, [one.text for one in found]))
        for (text, _), one in zip(pairs, found):
            trouble["empty"] += not one.text.strip()
            trouble["loop"] += corpus.has_loop(one.text) and not corpus.has_loop(text)
            trouble["cut"] += one.cut
    print(f"| {kind} | {source} → {target} | {len(pairs)} | {scores[0]:.1f} | {scores[1]:.1f} | "
          f"{trouble['empty']} | {trouble['loop']} | {trouble['cut']} |", flush=True)
    return len(pairs), *scores


def _known(translator, directions, beams):
    """{kind: how many sources of _directions are translated to a target that they have there, of how many}"""
    counts = collections.defaultdict(lambda: (0, 0))
    for (kind, source, target), pairs in directions.items():
        expected = collections.defaultdict(set)
        for text, wanted in pairs:
            expected[text].add(corpus.key(wanted))
        found = translator.translate(list(expected), source, target, beams)
        right = sum(corpus.key(best.text) in keys for (best, *_), keys in zip(found, expected.values()))
        counts[kind] = counts[kind][0] + right, counts[kind][1] + len(expected)
    return dict(counts)


if __name__ == "__main__":
    main()
