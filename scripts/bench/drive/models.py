"""Latency and memory of services of many models, of which few are popular: see README.md."""
import concurrent.futures
import functools
import itertools
import sys
import threading

import servers
import settings
from host import Noise
from quota import Limited
from results import Results
from servers import Server, ServerError, load
from settings import built, knob

MODELS = [f"m{i + 1:02}" for i in range(knob("CATALOGUE", 12))]  # the most popular first
SHAPE = "418M" if knob("MODELS_BEAMS", 5) == 5 else "418M-greedy"
REPETITIONS = knob("MODELS_REPS", 1)
RATES = knob("MODELS_RATES", [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], quick=[0.5, 2.0])
SECONDS = knob("MODELS_SECONDS", 60, quick=10)
TIMEOUT = knob("MODELS_TIMEOUT", 60, quick=20)
LAMBDA = knob("MODELS_LAMBDA", 0.3)
PROBES = knob("MODELS_PROBES", 3, quick=0)
MEMORY = knob("MODEL_MEMORY", "")  # of the catalogue
WAITING = 1024  # requests that may wait in a service: dragoman's default, and no peer turns any away


class Group:
    """A side inside a with statement: a process, or one for each model. All have
    started when it is entered."""

    def __init__(self, servers_of):
        self.servers = servers_of  # {model: Server}, or {"": Server} of all models
        self.model = SHAPE

    def __enter__(self):
        with concurrent.futures.ThreadPoolExecutor(settings.THREADS) as starting:
            started = [starting.submit(s.__enter__) for s in self.servers.values()]
        if failed := [f.exception() for f in started if f.exception()]:
            for server, start in zip(self.servers.values(), started):
                if not start.exception():
                    server.__exit__()
            raise failed[0]
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            server.__exit__()

    @property
    def url(self):
        return next(iter(self.servers.values())).url

    def targets(self):
        """The stress test's --models."""
        if "" in self.servers:
            return ",".join(MODELS)
        return ",".join(f"{model}={server.url}" for model, server in self.servers.items())

    def memory(self):
        """Resident memory of all processes in MB, with what they share counted for each."""
        return sum(server.memory() for server in self.servers.values())


class Memory:
    """The most memory that a group's processes take while it is entered, in MB:

    anon_mb      pages of their own, that no file is behind
    anon_one_mb  of them those of the process with the most
    pss_mb       these and their share of the page cache's that they map
    """

    INTERVAL = 10  # seconds: to count pages takes time, too

    def __init__(self, group):
        self.processes = [server.process.pid for server in group.servers.values()]
        self.most, self.done = {}, threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def _watch(self):
        while not self.done.wait(self.INTERVAL):
            self._take()
        self._take()

    def _take(self):
        rows = [_rollup(pid) for pid in self.processes]
        now = {"anon_mb": sum(r["Anonymous"] for r in rows), "anon_one_mb": max(r["Anonymous"] for r in rows),
               "pss_mb": sum(r["Pss"] for r in rows)}
        self.most = {k: round(max(v, self.most.get(k, 0))) for k, v in now.items()}


def _rollup(pid):
    """The sums of a process's memory in MB, by name; zeros of one that has ended."""
    found = {"Anonymous": 0.0, "Pss": 0.0}
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
            for line in itertools.islice(f, 1, None):
                name, number, _ = line.split()
                found[name.rstrip(":")] = int(number) * 1024 / 1e6
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def catalogue():
    """One dragoman with a repository of all models."""
    budget = {"MODEL_MEMORY": MEMORY} if MEMORY else {}
    return Group({"": _dragoman("catalogue", MODEL_WEIGHTS="", MODEL_REPOSITORY=built("repository"), **budget)})


def processes():
    """A dragoman for each model."""
    return Group({m: _dragoman(m, MODEL_WEIGHTS=built("repository", m, "1")) for m in MODELS})


def limited():
    """The same, each with its share of the cores and no more."""
    share = settings.THREADS / len(MODELS)
    return Group({m: _dragoman(m, functools.partial(Limited, cores=share), MODEL_WEIGHTS=built("repository", m, "1")) for m in MODELS})


def _dragoman(name, make=Server, **env):
    return make(f"dragoman {name}", SHAPE, servers.dragoman(SHAPE), APP_CONCURRENCY=str(WAITING), QUEUE_WAIT=f"{TIMEOUT}s", **env)


def ctranslate2():
    """A CTranslate2 for each model, with batches as they were tuned in the stage served."""
    return Group({m: Server(f"ctranslate2 {m}", SHAPE, servers.ctranslate2(
        SHAPE, 4, settings.THREADS, limit=WAITING, checkpoint=built("random"), converted=built("ct2-repository", m)))
        for m in MODELS})


SIDES = {
    "catalogue": catalogue,
    "process-per-model": processes,
    "process-per-model-limited": limited,
    "ctranslate2-per-model": ctranslate2,
}


def main():
    results = Results("models", repetitions=REPETITIONS, models=len(MODELS), beams=servers.BEAMS[SHAPE], precision=servers.PRECISION[SHAPE],
                      length=servers.LENGTH, good_s=servers.GOOD, timeout_s=TIMEOUT, seconds=SECONDS, **{"lambda": LAMBDA},
                      memory=MEMORY)
    texts = servers.texts(SHAPE)
    wanted = knob("SIDES", "").split() or SIDES
    sides = [name for name in SIDES if name in wanted]
    # With BENCH_ADD the file may have repetitions already.
    first = 1 + max((r["repetition"] for r in results.runs), default=0)
    for repetition in range(first, first + REPETITIONS):
        p95 = {name: {} for name in sides}
        for i, rate in enumerate(RATES):
            for name in sides[i % len(sides):] + sides[:i % len(sides)]:  # another one first each time
                if max(p95[name].values(), default=0) >= TIMEOUT * 1000:
                    continue  # at a lower rate clients gave up already
                p95[name] |= measure(results, texts, name, rate, repetition)
        for name in sides:
            probe(p95[name], lambda rate, name=name: measure(results, texts, name, rate, repetition))


def probe(p95, measured):
    """Looks for the highest rate with p95 in time, between rates that were measured."""
    for _ in range(PROBES):
        within = list(itertools.takewhile(lambda rate: p95[rate] <= servers.GOOD * 1000, sorted(p95)))
        beyond = sorted(p95)[len(within):]
        if not within or not beyond:
            return
        rate = round((within[-1] + beyond[0]) / 2, 3)
        if not (found := measured(rate)):
            return
        p95 |= found


def measure(results, texts, name, rate, repetition):
    """Measures a rate on services of its own, with the same requests for all sides, and
    returns {rate: p95 in ms}, which is empty where a side fails: it loses this run only."""
    run = {"side": name, "rate": rate, "repetition": repetition}
    arguments = ["--lambda", LAMBDA, "--timeout", TIMEOUT, "--seed", repetition]
    try:
        with SIDES[name]() as group:
            load(group, texts, 2, "--models", group.targets(), "--sleep", "10ms", "--num-req", 4, *arguments)  # to warm up
            with Memory(group) as memory, Noise() as noise:
                run |= load(group, texts, SECONDS, "--models", group.targets(), "--rate", rate, "--duration", SECONDS, *arguments)
            run |= memory.most | noise.fields()
    except (ServerError, OSError) as e:
        run["error"] = str(e)
        print(e, file=sys.stderr)
    results.add(**run)
    print(" ".join(f"{k}={v}" for k, v in run.items() if k in (
        "side", "rate", "answered", "good_per_s", "mean_all_ms", "p50_ms", "p95_ms", "max_all_ms", "last_s", "errors", "anon_mb", "pss_mb",
        "noisy", "error")), flush=True)
    return {rate: run["p95_ms"]} if "p95_ms" in run else {}


if __name__ == "__main__":
    main()
