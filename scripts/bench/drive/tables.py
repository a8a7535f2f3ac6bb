"""Medians of measured runs and Markdown tables of them."""
import statistics


def median(runs, field):
    """The median of a field, and the number of runs it is of. Runs during which
    something else used the machine are left out where enough others are there."""
    runs = [r for r in runs if field in r]
    clean = [r for r in runs if not r.get("noisy")]
    chosen = clean if 2 * len(clean) >= len(runs) else runs
    return (statistics.median(r[field] for r in chosen), len(chosen)) if chosen else (None, 0)


def group(runs, *fields):
    """{values of the fields: runs}, in the order of their first run."""
    found = {}
    for run in runs:
        found.setdefault(tuple(run.get(f) for f in fields), []).append(run)
    return found


def table(head, rows):
    """A Markdown table; None is an empty cell."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |\n" for line in lines) + "\n"


def number(x, unit=""):
    """x with about three digits."""
    if x is None:
        return None
    return (f"{x:,.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}") + unit
