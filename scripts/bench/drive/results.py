"""A file of results that is whole after every run."""
import json
import os

import host
import settings


class Results:
    """Writes OUT/name.json: a header and a list of runs, one a line. The file is
    replaced as a whole by every add, so that a run that is cut off loses nothing.
    With BENCH_ADD the runs that the file has already stay in it, and the header
    says in "earlier" where they were made."""

    def __init__(self, name, **header):
        self.path = os.path.join(settings.OUT, name + ".json")
        self.header = {"host": host.describe(), "threads": settings.THREADS, "repetitions": settings.REPETITIONS,
                       "quick": settings.QUICK, **header}
        self.runs = []
        os.makedirs(settings.OUT, exist_ok=True)
        if settings.ADD and (found := read(name)):
            self.runs = found["runs"]
            before = found["header"]["repetitions"]
            if before != self.header["repetitions"]:
                self.header["repetitions"] = f"{before} and {self.header['repetitions']}"
            self.header["earlier"] = [*found["header"].get("earlier", []), found["header"]["host"]]
        self.write()

    def add(self, **run):
        self.runs.append(run)
        self.write()

    def write(self):
        runs = ",\n".join("  " + json.dumps(run, ensure_ascii=False) for run in self.runs)
        header = json.dumps(self.header, indent=1, ensure_ascii=False)
        with open(self.path + ".tmp", "w", encoding="utf8") as f:
            f.write(f'{{"header": {header},\n"runs": [\n{runs}\n]}}\n')
        os.replace(self.path + ".tmp", self.path)


def read(name):
    """The results of a stage, or None where it has not run."""
    try:
        with open(os.path.join(settings.OUT, name + ".json"), encoding="utf8") as f:
            return json.load(f)
    except FileNotFoundError:
        return None
