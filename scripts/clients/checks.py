"""Counts what the clients' scripts check, for the table of clients in docs/front-ends.md."""

import atexit
import os
import sys
from importlib.metadata import version

TOY = "toy" in sys.argv[2:]
clients = {}  # rows of the table, by package and API
row = None


def using(package, api, at=None):
    """Counts the checks that follow for a client: its package, which is of version at, and the API that it speaks."""
    global row
    row = clients.setdefault((package, api), {"api": api, "client": f"`{package}` (PyPI)", "version": at or version(package), "checks": 0, "result": "failed"})


def check(what, ok, got=None):
    """Counts a check that holds; one that does not ends the run."""
    if not ok:
        sys.exit(f"FAILED: {what}: {got!r}")
    row["checks"] += 1


def report():
    """Ends a run in which all checks held."""
    for row in clients.values():
        row["result"] = "passed"


@atexit.register
def write():
    """Prints the rows, and adds them to the file that RESULTS names."""
    with open(os.environ.get("RESULTS", os.devnull), "a", encoding="utf-8") as results:
        for row in clients.values():
            print(row["client"], row["version"], row["checks"], row["result"], flush=True)
            print(*row.values(), sep="\t", file=results)
