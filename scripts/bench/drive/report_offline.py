"""Tables of the offline stage."""
from tables import group, median, number, table

TARGETS = {  # {shape, and for the 418M shape the target language: {beams: {sentences: times CTranslate2 int8}}}
    **{f"418M-{target}": {1: {1: 4, 8: 3.5, 32: 2.5, 64: 2.2}, 5: {1: 5, 8: 3, 32: 2.4, 64: 2.3}} for target in ("fr", "ja", "ru")},
    **{f"opus-{shape}": {beams: dict.fromkeys((1, 8, 32), 2) for beams in (1, 4)} for shape in ("base", "tc-big")},
    "madlad-3B": {beams: dict.fromkeys((1, 8, 32), 1.5) for beams in (1, 4)}}
INT8, FP32 = ["dragoman-int8", "ctranslate2-int8"], ["dragoman-fp32", "ctranslate2-float32", "transformers-fp32"]


def report(found):
    """The stage's Markdown and its targets."""
    speeds = _speeds(found["runs"])
    shared = found["header"].get("identical_greedy_ids", {})
    shape = found["header"]["shape"]
    text = [f"## Offline, {shape} shape\n\nGenerated tokens per second, of the best hypothesis only, of batches that are decoded at once; "
            "as many source tokens as generated ones. Sentences per second are that by the length. Ratios are to the best "
            "peer of the same precision, of CTranslate2 the faster of its settings for each cell. "
            f"A cell is empty where one run would have taken longer than {found['header']['cell_seconds']} s.\n",
            "Checked first: the same greedy ids from " + ", ".join(s for s, share in shared.items() if share == 1) + ".\n"]
    cells = sorted({cell for _, *cell in map(list, speeds) for cell in [tuple(cell)]})
    rows = []
    for beams, length, sentences in cells:
        at = {side: speeds.get((side, beams, length, sentences)) for side in INT8 + FP32}
        rows.append([beams, length, sentences, *(number(at[s]) for s in INT8), _ratio(at, INT8),
                     *(number(at[s]) for s in FP32), _ratio(at, FP32)])
    text.append(table(["beams", "length", "sentences", *INT8, "ratio", *FP32, "ratio"], rows))
    return "\n".join(text), _targets(shape, speeds, cells)


def _speeds(runs):
    """{(side, beams, length, sentences): tokens per second}, the best setting of each side."""
    best = {}
    for (name, beams, length, sentences), same in group(runs, "side", "beams", "length", "sentences").items():
        seconds, _ = median(same, "seconds")
        if seconds:
            key = (name.split()[0], beams, length, sentences)
            best[key] = max(best.get(key, 0), sentences * length / seconds)
    return best


def _compare(at, sides):
    """The first side's speed as a multiple of the best other's, or None."""
    others = [at[s] for s in sides[1:] if at[s]]
    return at[sides[0]] / max(others) if others and at[sides[0]] else None


def _ratio(at, sides):
    ratio = _compare(at, sides)
    return ratio and f"**{ratio:.2f}**"


def _targets(shape, speeds, cells):
    """Lengths count alike: the target must hold at each, so the worst is compared."""
    def worst(beams, sentences):
        ratios = [_compare({s: speeds.get((s, b, l, n)) for s in INT8}, INT8) for b, l, n in cells
                  if (b, n) == (beams, sentences)]
        return min((r for r in ratios if r), default=None)

    return [(f"{shape}, int8, beams: {beams}, sentences: {sentences}: × CTranslate2 int8", wanted, worst(beams, sentences))
            for beams, by_sentences in TARGETS[shape].items() for sentences, wanted in by_sentences.items()]

