"""Compares translations with references and with each other, as a markdown table.

    python3 -m venv .venv
    .venv/bin/pip install -r scripts/quality/requirements.txt
    .venv/bin/python scripts/quality/chrf.py fp32=fp32.tsv int8=int8.tsv

Each argument names a system and its file of translations of dev.tsv: lines of
`from, to, source, translation`, one for each sentence of dev.tsv in each
direction (hypotheses.py says more). The first system is what the others are
compared with: how far their chrF differs, and how many of their translations
are identical to its own. Directions that a file leaves out are skipped.
"""
import argparse

import sacrebleu

import hypotheses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--references", default=hypotheses.REFERENCES, help="default: dev.tsv beside this script")
    parser.add_argument("--max-loss", type=float, help="fail if a system loses more chrF than this in some direction")
    parser.add_argument("--min-identical", type=float,
                        help="fail if less than this share (percent) of all its translations is identical")
    arguments = parser.parse_args()
    systems = {}
    for system in arguments.system:
        name, found, path = system.partition("=")
        if not found:
            parser.error(f"{system}: write NAME=FILE")
        systems[name] = hypotheses.read(path)
    table, failures = compare(hypotheses.references(arguments.references), systems,
                              arguments.max_loss, arguments.min_identical)
    print("\n".join(table))
    print(f"\nchrF by sacrebleu {sacrebleu.__version__}, 6 characters, no word n-grams.")
    if failures:
        raise SystemExit("\n".join(failures))


def compare(references, systems, max_loss, min_identical):
    """The table's lines and what broke a limit."""
    first, *others = systems
    head = ["set", "direction", "n", f"chrF {first}"]
    for other in others:
        head += [f"chrF {other}", "difference", "identical"]
    lines, failures = [_line(head), _line(["---"] * len(head))], []
    same, total = dict.fromkeys(others, 0), 0
    for (name, source, target), pairs in references.items():
        keys = [(source, target, text) for text, _ in pairs]
        got = {system: [found.get(key) for key in keys] for system, found in systems.items()}
        if any(all(t is None for t in translations) for translations in got.values()):
            continue
        for system, translations in got.items():
            if None in translations:
                raise SystemExit(f"{system} lacks {translations.count(None)} of {len(keys)} translations "
                                 f"{source} to {target}, such as that of {keys[translations.index(None)][2]!r}")
        score = {system: hypotheses.chrf(pairs, translations) for system, translations in got.items()}
        line = [name, f"{source} → {target}", len(pairs), f"{score[first]:.2f}"]
        total += len(pairs)
        for other in others:
            equal = sum(a == b for a, b in zip(got[first], got[other]))
            same[other] += equal
            difference = score[other] - score[first]
            line += [f"{score[other]:.2f}", f"{difference:+.2f}", f"{100 * equal / len(pairs):.1f}%"]
            if max_loss is not None and difference < -max_loss:
                failures.append(f"{other} loses {-difference:.2f} chrF {source} to {target}, more than {max_loss}")
        lines.append(_line(line))
    if not total:
        raise SystemExit("no direction that every system translated")
    for other in others:
        share = 100 * same[other] / total
        lines.append(f"\n{other}: {share:.2f}% of {total} translations identical to {first}'s.")
        if min_identical is not None and share < min_identical:
            failures.append(f"{other} has {share:.2f}% of its translations identical, less than {min_identical}%")
    return lines, failures


def _line(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
