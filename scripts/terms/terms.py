"""Measures what a glossary does to the translations of a running service.

    python3 -m venv .venv
    .venv/bin/pip install -r scripts/quality/requirements.txt
    .venv/bin/python scripts/terms/terms.py --url http://localhost:9527 [--names]

terms.tsv has lines of: language, language, term, term, sentence, sentence. They are pairs of
scripts/quality/dev.tsv, which the bundled model was not trained with, and words that stand for each
other in most of the training pairs that have either. Each line is used in both directions, as a
request with this one term. Start the service with CACHE_BYTES=0 for times.

With --names each term becomes a made-up name instead, also in the reference, which no model knows.
"""
import argparse
import collections
import json
import os
import random
import re
import time
import urllib.request

from sacrebleu.metrics import CHRF

HERE = os.path.dirname(os.path.abspath(__file__))
SYLLABLES = "ba be bi bo da de do ka ki ko la li lo ma mi mo na ni no ra re ro sa so ta ti to va vi zo".split()
KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノマミムメモラリルレロ"
UNSPACED = re.compile(r"[⺀-鿿가-퟿＀-￯]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://localhost:9527")
    parser.add_argument("--names", action="store_true", help="made-up names as targets")
    parser.add_argument("--beams", type=int, help="the service's own if missing")
    parser.add_argument("--every", type=int, default=1, help="take every so many lines only")
    arguments = parser.parse_args()
    found = collections.defaultdict(list)
    for item in items(arguments.names, arguments.every):
        plain, before, _ = translate(arguments, item, [])
        with_terms, after, flags = translate(arguments, item, [{"source": item["term"], "target": item["target"]}])
        row = dict(item, plain=plain, translation=with_terms, before=before, after=after, flags=flags)
        found[f"{item['from']} → {item['to']}"].append(row)
        found["all"].append(row)
    print("| direction | sentences | used without | used | more often | behind the end | flagged | chrF without | chrF | time |")
    print("|---" * 10 + "|")
    for direction in sorted(found, key=lambda d: (d == "all", d)):
        print(line(direction, found[direction]))


def items(names, every):
    """The items: dictionaries of from, to, term, target, text and reference."""
    made_up = random.Random(2)
    with open(os.path.join(HERE, "terms.tsv"), encoding="utf8") as lines:
        for number, row in enumerate(lines):
            a, b, term, target, text, reference = row.rstrip("\n").split("\t")
            both = [(a, b, term, target, text, reference), (b, a, target, term, reference, text)]
            for item in both if number % every == 0 else []:
                item = dict(zip(("from", "to", "term", "target", "text", "reference"), item))
                if names and item["to"] != "zh":
                    name = "".join(made_up.choices(SYLLABLES, k=made_up.randint(2, 4))).capitalize()
                    if item["to"] == "ja":
                        name = "".join(made_up.choices(KANA, k=made_up.randint(3, 5)))
                    item["reference"] = re.sub(re.escape(item["target"]), name, item["reference"], count=1, flags=re.I)
                    item["target"] = name
                if not names or item["to"] != "zh":
                    yield item


def translate(arguments, item, glossary):
    """The translation of an item, the seconds that it took, and its flags."""
    payload = {"fromLang": item["from"], "toLang": item["to"], "detail": True, "split": False,
               "records": [{"id": "", "text": item["text"]}], "glossary": glossary}
    if arguments.beams:
        payload["options"] = {"beams": arguments.beams}
    request = urllib.request.Request(arguments.url + "/translation", json.dumps({"payload": payload}).encode(),
                                     {"Content-Type": "application/json"})
    start = time.monotonic()
    with urllib.request.urlopen(request) as answer:
        result = json.load(answer)["result"][0]
    return result["text"], time.monotonic() - start, result["detail"]["flags"]


def line(direction, rows):
    """A line of the table."""
    def share(test):
        return f"{100 * sum(map(test, rows)) / len(rows):.1f}%"

    def chrf(key):
        return CHRF().corpus_score([row[key] for row in rows], [[row["reference"] for row in rows]]).score

    cells = [
        direction, len(rows), share(lambda r: count(r["plain"], r["target"]) > 0),
        share(lambda r: count(r["translation"], r["target"]) > 0),
        share(lambda r: count(r["translation"], r["target"]) > count(r["reference"], r["target"])),
        share(stranded), share(lambda r: "glossary_missed" in r["flags"]),
        f"{chrf('plain'):.2f}", f"{chrf('translation'):.2f}",
        f"× {sum(r['after'] for r in rows) / sum(r['before'] for r in rows):.2f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def count(text, target):
    """How often a text has a target that is no part of a longer word."""
    if target == target.lower():
        text = text.lower()
    return sum(not (inside(text, m.start()) or inside(text, m.end())) for m in re.finditer(re.escape(target), text))


def inside(text, at):
    """Whether a word goes on at a place of a text."""
    return 0 < at < len(text) and all(c.isalnum() and not UNSPACED.match(c) for c in text[at - 1:at + 1])


def stranded(row):
    """Whether the term stands behind the end of a sentence, and the source is but one sentence."""
    at = row["translation"].lower().rfind(row["target"].lower())
    ended = re.search(r"[.!?。！？…]$", row["translation"][:max(at, 0)].rstrip(" \"'«»“”「」"))
    return bool(ended) and not re.search(r"[.!?。！？…].", row["text"].strip()[:-1])


if __name__ == "__main__":
    main()
