"""Makes pairs whose target models wrote: sequence-level distillation.

    python scripts/training/distill.py --teacher CHECKPOINT --data DATA --to ja --out DATA/ja.tsv

Each teacher, a checkpoint in Hugging Face's form, translates the English sentences of DATA
and --more with a beam. Of all that they found for a sentence, the translation is taken that is most
like the others and, where there is a translation that a person wrote, like that one, by
chrF. Translations that show a model's faults are not taken: those that say something over and
over, and Japanese and Chinese ones with an English word in them. train.py takes the file with
--more.

A model that learns from such pairs finds by greedy search what its teachers find together:
Kim and Rush, "Sequence-Level Knowledge Distillation" (2016), whose "interpolation" is the
choice by the person's translation; Eikema and Aziz, "Sampling-Based Approximations to
Minimum Bayes Risk Decoding" (2022) for the choice by the others. As Vamvas and Sennrich do
in "Linear-time Minimum Bayes Risk Decoding with Reference Aggregation" (2024), the others
are put together as one text, with mean counts.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os

import corpus
from translators import CTranslate2

ORDER = 4       # the longest n-grams of characters that are compared
# The weight of recall over precision, squared. chrF uses 4, which prefers long texts if
# references are joined: 1.034 times the length of people's texts, against 1.003.
BETA2 = 2
# Words of a sentence that small models can be trusted with: "Hi." became "Hawaii", and of
# long sentences they leave parts out.
SHORTEST, LONGEST = 3, 25
CHUNK = 20_000  # sentences between two lines of progress

def choose(beams, written, weight):
    """The candidate most like the mean of candidates and, with a weight, of what persons wrote.
    beams: each teacher's candidates, the best first. One counts half as much as the one before it."""
    ranked = [(text, 0.5 ** rank) for candidates in beams for rank, text in enumerate(candidates)]
    if not ranked:
        return None
    counts = {text: _grams(text) for text, _ in ranked}
    mean, total = collections.Counter(), sum(share for _, share in ranked)
    for text, share in ranked:
        for gram, n in counts[text].items():
            mean[gram] += n * share / total
    shares = [(mean, 1.0)]
    shares += [(_grams(text), weight / len(written)) for text in written]
    return max(counts, key=lambda text: sum(share * _chrf(counts[text], other) for other, share in shares))


def _grams(text):
    text = "".join(text.split())
    return collections.Counter(text[i:i + n] for n in range(1, ORDER + 1) for i in range(len(text) - n + 1))


def _chrf(candidate, reference):
    """chrF of counts with BETA2, as sacrebleu has it for a sentence, from 0 to 1."""
    matches, mine, others = ([0.0] * (ORDER + 1) for _ in range(3))
    for gram, n in candidate.items():
        mine[len(gram)] += n
        if gram in reference:
            matches[len(gram)] += min(n, reference[gram])
    for gram, n in reference.items():
        others[len(gram)] += n
    orders = [n for n in range(1, ORDER + 1) if mine[n] and others[n]]
    precision, recall = sum(matches[n] / mine[n] for n in orders), sum(matches[n] / others[n] for n in orders)
    return (1 + BETA2) * precision * recall / (BETA2 * precision + recall) / len(orders) if precision else 0.0


def _chosen(task):
    return [choose(*row) for row in task]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", action="append", required=True, metavar="DIR", help="may be given several times")
    parser.add_argument("--data", required=True, metavar="DIR", help="what data.py wrote")
    parser.add_argument("--more", nargs="*", default=[], metavar="FILE", help="further pairs by persons, such as tatoeba.py's")
    parser.add_argument("--to", required=True, choices=corpus.LANGUAGES)
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--beams", type=int, default=4)
    parser.add_argument("--weight", type=float, default=1.0, help="of what persons wrote, against all candidates")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, help="sentences, for a trial")
    arguments = parser.parse_args()
    written = collections.defaultdict(list)
    paths = [os.path.join(arguments.data, "train.tsv.gz"), *arguments.more]
    for pair in itertools.chain.from_iterable(map(corpus.read, paths)):
        if pair.source_language == corpus.PIVOT:
            found = written[pair.source]  # there for every sentence, translated or not
            if pair.target_language == arguments.to:
                found.append(pair.target)
    texts = [text for text in written if SHORTEST <= len(text.split()) <= LONGEST]
    texts = sorted(texts, key=lambda text: (len(text), text))[:arguments.first]
    teachers = [CTranslate2(folder, arguments.threads) for folder in arguments.teacher]
    found = []
    with concurrent.futures.ProcessPoolExecutor(arguments.threads) as pool:
        for start in range(0, len(texts), CHUNK):
            part = texts[start:start + CHUNK]
            lists = [teacher.translate(part, corpus.PIVOT, arguments.to, arguments.beams) for teacher in teachers]
            sound = [[[one.text for one in beam if corpus.is_sound(one.text, arguments.to)] for beam in beams] for beams in zip(*lists)]
            rows = [(beams, written[text], arguments.weight) for text, beams in zip(part, sound)]
            tasks = [rows[i:i + 500] for i in range(0, len(rows), 500)]
            chosen = [text for task in pool.map(_chosen, tasks) for text in task]
            found += [corpus.Pair(corpus.DISTILLED, corpus.PIVOT, arguments.to, text, translation)
                      for text, translation in zip(part, chosen) if translation]
            corpus.write(arguments.out, found)  # all so far: hours are not lost with the last chunk
            print(f"{len(found):,} of {len(texts):,}", flush=True)


if __name__ == "__main__":
    main()
