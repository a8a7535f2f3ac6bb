"""Tables and plots of the served stage."""
import os

from matplotlib import pyplot

import settings
from tables import group, median, number, table

NAMES = {
    "bundled": "The bundled model, real sentences and translations",
    "418M": "The 418M shape, random weights, {} tokens for every translation",
    "418M-greedy": "The same, greedy",
}


def report(found):
    """The stage's Markdown and its targets."""
    header, targets = found["header"], []
    text = ["## Served\n\nPoisson arrivals of requests of one record in mixed directions, an open loop; latency counts from "
            f"when a request was due. Goodput is answers within {header['good_s']} s per second. A failed request counts with "
            f"a latency of {header['timeout_s']} s, the clients' timeout. At most {header['limit']} requests wait or run in "
            f"each service; more get 503.\n"]
    for (model,), runs in group(found["runs"], "model").items():
        settled = f"{header['precision'][model]}, beams: {header['beams'][model]}"
        text.append(f"### {NAMES[model].format(header['length'])} ({settled})\n")
        sustained = _sustained(runs, header["good_s"] * 1000)
        text += [_capacities(runs, sustained), _rates(runs), f"![Latency against rate]({_plot(model, runs)})\n"]
        for side, wanted in (("ctranslate2-batched", 2), ("original", 10)):
            ours, theirs = sustained.get("dragoman"), sustained.get(side)
            # A peer that cannot keep p95 at any rate that was tried is beaten by any factor.
            ratio = None if not ours or not _tried(runs, side) else ours / theirs if theirs else float("inf")
            targets.append((f"served, {model}: goodput with p95 under {header['good_s']} s, × {side}", wanted, ratio))
    return "\n".join(text), targets


def _sustained(runs, limit):
    """{side: median over the repetitions of the best goodput with p95 within the limit}"""
    best = []
    for (side, _), same in group([r for r in runs if r.get("kind") == "sustain"], "side", "repetition").items():
        met = [r for r in same if r.get("p95_ms", limit + 1) <= limit]
        if met:
            top = max(met, key=lambda r: r["good_per_s"])
            best.append({"side": side, "good_per_s": top["good_per_s"], "noisy": any(r.get("noisy") for r in same)})
    return {side: median(same, "good_per_s")[0] for (side,), same in group(best, "side").items()}


def _tried(runs, side):
    return any(r.get("kind") == "sustain" and r["side"] == side and "p95_ms" in r for r in runs)


def _capacities(runs, sustained):
    rows = []
    for (side,), same in group([r for r in runs if r.get("kind") == "capacity"], "side").items():
        rows.append([side, number(median(same, "answered_per_s")[0]), number(sustained.get(side)),
                     number(median(same, "rss_mb")[0])])
    tuned = [r for r in runs if r.get("kind") == "tune" and "p95_ms" in r]
    best = max(tuned, key=lambda r: (r["good_per_s"], -r["p95_ms"]), default=None)
    note = best and (f"CTranslate2's batches were tuned first, at half of its capacity: up to {best['batch']} records, "
                     f"{best['inter']} at a time, had the best goodput.\n")
    return table(["side", "capacity, answers/s (closed loop)", "goodput with p95 in time, answers/s", "memory, MB"], rows) + (note or "")


def _rates(runs):
    rows = []
    for (share, side), same in group([r for r in runs if r.get("kind") == "rate"], "share", "side").items():
        errors = [sum(r.get("errors", {}).values()) / r["requests"] for r in same if r.get("requests")]
        rows.append([f"{100 * share:.0f}%", number(median(same, "rate")[0]), side,
                     *(number(median(same, f)[0]) for f in ("good_per_s", "p50_ms", "p95_ms", "p99_ms")),
                     f"{100 * sum(errors) / len(errors):.1f}%" if errors else "failed"])
    return table(["of dragoman's capacity", "requests/s", "side", "goodput/s", "p50, ms", "p95, ms", "p99, ms", "failed"], rows)


def _plot(model, runs):
    name = f"latency-{model}.svg"
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.6))
    points = group([r for r in runs if r.get("rate") and "p95_ms" in r], "side", "rate")
    for side in dict.fromkeys(side for side, _ in points):
        line = sorted((rate, median(same, "p95_ms")[0], median(same, "good_per_s")[0])
                      for (s, rate), same in points.items() if s == side)
        rates, p95, good = zip(*line)
        axes[0].plot(rates, [x / 1000 for x in p95], marker="o", markersize=3, label=side)
        axes[1].plot(rates, good, marker="o", markersize=3, label=side)
    axes[0].set(xlabel="requests/s", ylabel="p95 latency, s", yscale="log")
    axes[1].set(xlabel="requests/s", ylabel="goodput, answers/s")
    axes[0].legend()
    figure.savefig(os.path.join(settings.OUT, name), metadata={"Date": None})
    pyplot.close(figure)
    return name
