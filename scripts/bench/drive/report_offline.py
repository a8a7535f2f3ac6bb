"""Tables and plots of the offline stage."""
import os

from matplotlib import pyplot

import settings
from tables import group, median, number, table

OTHERS = ["opus-base", "opus-tc-big", "madlad-3B"]  # shapes beside the 418M one
TARGETS = {  # {shape: {beams: {sentences: times CTranslate2 int8}}}
    "418M": {1: {1: 3.5, 8: 3, 32: 2.2, 64: 2}, 5: {1: 5, 8: 2.7, 32: 2.2, 64: 2.2}},
    **{shape: {beams: dict.fromkeys((1, 8, 32), wanted) for beams in (1, 4)}
       for shape, wanted in zip(OTHERS, (2, 2, 1.5))}}
INT8, FP32 = ["dragoman-int8", "ctranslate2-int8"], ["dragoman-fp32", "ctranslate2-float32", "transformers-fp32"]


def report(found):
    """The stage's Markdown and its targets."""
    speeds = _speeds(found["runs"])
    shared = found["header"].get("identical_greedy_ids", {})
    shape = found["header"].get("shape", "418M")
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
    for length in sorted({length for _, length, _ in cells}) if shape == "418M" else []:
        text.append(f"![Throughput against batch size, length {length}]({_plot(speeds, cells, length)})\n")
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


def _plot(speeds, cells, length):
    name = f"throughput-{length}.svg"
    all_beams = sorted({b for b, l, _ in cells if l == length})
    figure, axes = pyplot.subplots(1, len(all_beams), figsize=(5 * len(all_beams), 3.6), squeeze=False)
    for axis, beams in zip(axes[0], all_beams):
        for side in INT8 + FP32:
            points = sorted((n, speeds[side, b, l, n]) for b, l, n in cells
                            if (b, l) == (beams, length) and (side, b, l, n) in speeds)
            if points:
                axis.plot(*zip(*points), marker="o", label=side)
        axis.set(title="greedy" if beams == 1 else f"{beams} beams", xlabel="sentences", ylabel="tokens/s", xscale="log",
                 yscale="log")
        ticks = sorted({n for b, l, n in cells if l == length})
        axis.set_xticks(ticks, labels=map(str, ticks), minor=False)
        axis.minorticks_off()
    axes[0][0].legend()
    figure.savefig(os.path.join(settings.OUT, name), metadata={"Date": None})
    pyplot.close(figure)
    return name
