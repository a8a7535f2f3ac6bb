"""Writes peers.md and the plots beside the results: see README.md."""
import math
import os

import matplotlib

import report_models
import report_offline
import report_served
import report_soak
import report_stress
import results
import settings
from tables import number, table

STAGES = {**{f"offline-{shape}": report_offline for shape in report_offline.TARGETS}, "served": report_served, "stress": report_stress,
          "soak": report_soak, "models": report_models}


def main():
    matplotlib.use("svg")
    # Plots of the same numbers are the same files.
    matplotlib.rcParams |= {"svg.hashsalt": "dragoman", "axes.spines.top": False, "axes.spines.right": False,
                            "axes.grid": True, "grid.alpha": 0.3, "figure.constrained_layout.use": True}
    parts = ["# Measured against peers\n\nWritten by `scripts/bench/run.sh report` from the `.json` files in this folder; "
             "`scripts/bench/README.md` says how they were measured.\n"]
    targets = []
    for name, stage in STAGES.items():
        found = results.read(name)
        if found is None or not found["runs"]:
            continue
        text, reached = stage.report(found)
        parts.append(text + _origin(found))
        targets += reached
    if targets:
        parts.insert(1, _targets(targets))
    path = os.path.join(settings.OUT, "peers.md")
    with open(path, "w", encoding="utf8") as f:
        f.write("\n".join(parts))
    print("\n".join(parts))


def _targets(targets):
    """targets are (what, wanted, measured), the last two numbers. measured may be None
    where something is missing, or infinite where a peer managed nothing at all."""
    def row(what, wanted, measured):
        verdict = None if measured is None else "met" if measured >= wanted else "**missed**"
        shown = "the peer met it at no rate tried" if measured == math.inf else number(measured)
        return [what, f"at least {wanted:g}", shown, verdict]

    return "## Targets\n\n" + table(["target", "wanted", "measured", ""], [row(*t) for t in targets])


def _origin(found):
    """Where and with what numbers were measured, and how many of them in peace."""
    header, runs = found["header"], found["runs"]
    host = header["host"]
    timed = [r for r in runs if "noisy" in r]
    noisy = sum(r["noisy"] for r in timed)
    versions = ", ".join(f"{k} {v}" for k, v in header.get("versions", {}).items())
    days = sorted({h["time"][:10] for h in [host, *header.get("earlier", [])]})
    commits = dict.fromkeys(h["commit"] for h in [*header.get("earlier", []), host])
    return (f"{', '.join(days)}, commit {', '.join(commits)}, {host['cores']} cores of {host['cpu']} "
            f"({', '.join(host['instructions'])}), {host['memory_gb']} GB, {header['threads']} threads each, "
            f"{header['repetitions']} repetitions{', ' + versions if versions else ''}. "
            f"{noisy} of {len(timed)} runs were disturbed by other load; they are left out of a median where at least "
            f"half of its runs were not.{' QUICK RUN: no measurement.' if header['quick'] else ''}\n")


if __name__ == "__main__":
    main()
