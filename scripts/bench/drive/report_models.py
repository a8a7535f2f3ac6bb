"""Tables and plots of the stage with many models."""
import itertools
import math
import os

from matplotlib import pyplot

import settings
from tables import group, median, number, table

LATENCIES = {"mean_all_ms": "mean", "p50_ms": "median", "p95_ms": "p95", "max_all_ms": "maximum"}
MEMORY = {"anon_mb": "of their own", "pss_mb": "with mapped files"}
OURS, BASE = "catalogue", "process-per-model"


def report(found):
    """The stage's Markdown and its targets."""
    header, runs = found["header"], [r for r in found["runs"] if "p95_ms" in r]
    text = [f"## {header['models']} models at once\n\n{header['models']} models of the 418M shape with random weights of their own "
            f"({header['precision']}, beams: {header['beams']}, {header['length']} tokens for every translation). Poisson arrivals of "
            f"requests of one record for {header['seconds']} s, an open loop, the same for all sides. The model of each is drawn by a "
            f"Poisson distribution with λ = {header['lambda']:g}, cut off at the number of models: m01 gets most. Latencies are of all requests "
            f"and count from when a request was due; one that failed counts with {header['timeout_s']} s, the clients' timeout, or more. "
            f"Goodput is answers within {header['good_s']} s per second. Memory is the most during a run, of all processes of a side: pages "
            f"of their own, and with them what they map of the page cache, shared pages counted once.\n"]
    limit, sides = header["good_s"] * 1000, group(runs, "side")
    sustained = {side: _sustained(same, limit) for (side,), same in sides.items()}
    saturated = _saturated(sides.get((BASE,), []), header["seconds"])
    text += [_sides(sides, sustained), _rates(runs),
             f"![Latency against rate]({_latencies(sides, header)})\n", f"![Memory against rate]({_memory(sides)})\n"]
    return "\n".join(text), _targets(sides, sustained, saturated)


def _sustained(runs, limit):
    """The highest rate up to which p95 is within the limit at all rates; 0: there is none."""
    rates = sorted((rate, median(same, "p95_ms")[0]) for (rate,), same in group(runs, "rate").items())
    return max((rate for rate, _ in itertools.takewhile(lambda point: point[1] <= limit, rates)), default=0)


def _saturated(runs, seconds):
    """The lowest rate that a side does not keep up with: the last answer comes more than a
    tenth of the time late. None: it keeps up with all."""
    return min((rate for (rate,), same in group(runs, "rate").items() if median(same, "last_s")[0] > 1.1 * seconds), default=None)


def _sides(sides, sustained):
    rows = [[side, number(sustained[side]) if sustained[side] else "none", number(max(r["good_per_s"] for r in same)),
             *(number(max(r[f] for r in same)) for f in ("anon_mb", "anon_one_mb", "pss_mb"))] for (side,), same in sides.items()]
    return table(["side", "highest rate with p95 in time, requests/s", "best goodput/s", "memory of its own, MB", "of one process, MB",
                  "with mapped files, MB"], rows)


def _rates(runs):
    rows = []
    for (rate, side), same in sorted(group(runs, "rate", "side").items(), key=lambda item: item[0][0]):
        failed = [sum(r.get("errors", {}).values()) / max(1, r["requests"]) for r in same]
        seconds = [number(median(same, f)[0] / 1000) for f in LATENCIES]
        popular, others = (_mean([m for r in same for m in r.get("models", []) if (m["name"] == "m01") is first]) for first in (True, False))
        rows.append([f"{rate:g}", side, number(median(same, "good_per_s")[0]), *seconds, number(popular), number(others),
                     f"{100 * sum(failed) / len(failed):.1f}%", *(number(median(same, f)[0]) for f in MEMORY)])
    return table(["requests/s", "side", "goodput/s", *(f"{name}, s" for name in LATENCIES.values()), "mean of m01", "of the others",
                  "failed", "memory of its own, MB", "with mapped files"], rows)


def _mean(models):
    """The mean latency of all requests for some models in seconds; None where there is none."""
    requests = sum(m["requests"] for m in models)
    return sum(m["requests"] * m["mean_all_ms"] for m in models) / requests / 1000 if requests else None


def _latencies(sides, header):
    name = "models-latency.svg"
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 7), sharex=True, sharey=True)
    for (field, label), ax in zip(LATENCIES.items(), axes.flat):
        for (side,), same in sides.items():
            _curve(ax, same, field, 1000, label=side)
        ax.axhline(header["good_s"], color="grey", linestyle="dashed", linewidth=0.8)
        ax.set(title=label, yscale="log")
    for ax in axes[1]:
        ax.set(xlabel="requests/s")
    for ax in axes[:, 0]:
        ax.set(ylabel="latency, s")
    axes[0, 0].legend()
    return _save(figure, name)


def _memory(sides):
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6))
    for (field, label), ax in zip(MEMORY.items(), axes):
        for (side,), same in sides.items():
            _curve(ax, same, field, 1, label=side)
        ax.set(xlabel="requests/s", ylabel=f"memory {label}, MB", ylim=(0, None))
    axes[0].legend()
    return _save(figure, "models-memory.svg")


def _curve(ax, runs, field, unit, label):
    points = sorted((rate, median(same, field)[0] / unit) for (rate,), same in group(runs, "rate").items())
    ax.plot(*zip(*points), marker="o", markersize=3, label=label)


def _save(figure, name):
    figure.savefig(os.path.join(settings.OUT, name), metadata={"Date": None})
    pyplot.close(figure)
    return name


def _targets(sides, sustained, saturated):
    """What the catalogue is to reach, against a process per model."""
    ours, base = sides.get((OURS,)), sides.get((BASE,))
    if not ours or not base:
        return []
    factor = sustained[OURS] / sustained[BASE] if sustained[BASE] else math.inf if sustained[OURS] else None
    latency = [median([r for r in runs if r["rate"] == saturated], "mean_all_ms")[0] for runs in (base, ours)]
    one = max(r["anon_one_mb"] for r in base)
    return [
        ("models: highest rate with p95 in time, × a process per model", 3, factor),
        (f"models: mean latency of a process per model at {saturated} requests/s, which it does not keep up with, × the catalogue's", 5,
         latency[0] / latency[1] if all(latency) else None),
        ("models: 1.5 × the memory of a process with one model beyond the page cache, × the catalogue's", 1,
         1.5 * one / max(r["anon_mb"] for r in ours)),
    ]
