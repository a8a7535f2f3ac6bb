"""The table and the plot of the soak stage."""
import csv
import os

from matplotlib import pyplot

import settings
from tables import number, table


def report(found):
    """The stage's Markdown and its targets."""
    header = found["header"]
    run = next((r for r in found["runs"] if r["kind"] == "soak"), None)
    if run is None:
        return "## Soak\n\nIt did not end.\n", []
    times, memory = _memory()
    refused = sum(n for text, n in run.get("errors", {}).items() if text.startswith("status 503"))
    wrong = sum(run.get("errors", {}).values()) - refused
    # The first tenth is left out: caches and buffers fill up.
    settled = memory[len(memory) // 10:] or [0]
    half = len(settled) // 2
    growth = max(settled[half:], default=0) - max(settled[:half], default=0)
    rows = [["requests", run["requests"]], ["answered, with the right ids and the same text each time", run["answered"]],
            ["refused with 503", refused], ["lost or wrong", wrong],
            ["time to an answer, mean and longest", f"{number(run['mean_ms'])}, {number(run['max_ms'])} ms"],
            ["memory at the end", f"{run['rss_mb']} MB"],
            ["growth of the highest memory from the first half to the second", f"{growth} MB"]]
    figure, axis = pyplot.subplots(figsize=(8, 3))
    axis.plot([t / 60 for t in times], memory)
    axis.set(xlabel="minutes", ylabel="resident memory, MB", ylim=(0, None))
    figure.savefig(os.path.join(settings.OUT, "soak-memory.svg"), metadata={"Date": None})
    pyplot.close(figure)
    text = (f"## Soak\n\n{header['minutes']} minutes of {run['rate']:.1f} requests/s, {100 * header['share']:.0f}% of the "
            f"capacity, with the {header['model']} model.\n\n")
    return text + table(["", ""], rows) + "![Memory over time](soak-memory.svg)\n", [
        ("soak: neither lost nor wrong, % of the requests", 100, 100 * (1 - wrong / run["requests"]))]


def _memory():
    with open(os.path.join(settings.OUT, "soak-memory.csv"), encoding="utf8") as f:
        rows = list(csv.DictReader(f))
    return [float(r["seconds"]) for r in rows], [float(r["rss_mb"]) for r in rows]
