"""Latency and goodput of the services: see README.md."""
import statistics
import sys

import servers
import settings
from host import Noise
from results import Results
from servers import Server, ServerError, load
from settings import knob

MODELS = knob("MODELS", ["bundled", "418M", "418M-greedy"])
REPETITIONS = knob("SERVED_REPS", settings.REPETITIONS)
SECONDS = knob("SERVED_SECONDS", 20, quick=5)  # at each rate, at least
CAPACITY_SECONDS = {"bundled": SECONDS, "418M": 3 * SECONDS, "418M-greedy": 3 * SECONDS}
ARRIVALS = knob("SERVED_ARRIVALS", 80, quick=10)  # at each rate, at least, as far as LONGEST allows
LONGEST = knob("SERVED_LONGEST", 90, quick=10)  # seconds at each rate
SHARES = knob("SERVED_SHARES", [0.25, 0.5, 0.8, 1.2])  # of dragoman's capacity
PROBES = knob("SERVED_PROBES", 5, quick=2)  # rates tried to find the highest that a side can sustain
BEYOND = 2  # times its capacity: a side is measured at such rates in the first repetition only
CLIENTS = 32
PATIENCE = 60  # seconds that these clients wait: a side is not slower for a queue that is too long


def main():
    results = Results("served", repetitions=REPETITIONS, beams=servers.BEAMS, good_s=servers.GOOD, timeout_s=servers.TIMEOUT,
                      limit=servers.LIMIT, length=servers.LENGTH, precision=servers.PRECISION)
    for model in MODELS:
        Stage(model, results).run()


class Stage:
    """All measurements with one model."""

    def __init__(self, model, results):
        self.model, self.results = model, results
        self.texts = servers.texts(model)
        batched = "ctranslate2-batched"
        # With BENCH_ADD the file may have repetitions already.
        self.first = 1 + max((r.get("repetition") or 0 for r in results.runs if r["model"] == model), default=-1)
        self.hopeless = set()  # sides that met p95 at no rate in a repetition: not tried again
        self.commands = {
            "dragoman": servers.dragoman(model),
            batched: None,  # see tune
            "ctranslate2-unbatched": servers.ctranslate2(model, 0, settings.THREADS),
            "original": servers.original(model),
        }
        if names := knob("SIDES", ""):
            self.commands = {k: v for k, v in self.commands.items() if k in names.split()}
        if batched in self.commands:
            self.commands[batched] = self.tune(batched)

    def tune(self, name):
        """The command line of CTranslate2's service that has the best goodput at a
        rate of half of its capacity, of batches of several sizes, one at a time on all
        threads or one on each. Large batches translate more, and later."""
        def command(batch, inter):
            return servers.ctranslate2(self.model, batch, inter)

        rate = self.capacity(name, command(16, 1), kind="tune capacity", batch=16, inter=1) / 2
        best = {}
        for inter in {1, settings.THREADS} if not settings.QUICK else {1}:
            for batch in [4, 8, 16, 32] if not settings.QUICK else [16, 32]:
                run = self.point(name, command(batch, inter), rate, kind="tune", batch=batch, inter=inter, repetition=0)
                best[run.get("good_per_s", 0), -run.get("p95_ms", float("inf"))] = command(batch, inter)
        return best[max(best)]

    def run(self):
        capacities = {}
        for repetition in range(min(3, REPETITIONS)):
            for name, command in self.turn(repetition):
                rate = self.capacity(name, command, kind="capacity", repetition=repetition)
                capacities.setdefault(name, []).append(rate)
        capacity = {name: statistics.median(rates) for name, rates in capacities.items()}
        reference = capacity.get("dragoman") or max(capacity.values())
        for repetition in range(self.first, self.first + REPETITIONS):
            for share in SHARES:
                for name, command in self.turn(repetition):
                    # A rate far beyond a side's capacity is measured once: it only
                    # fills queues.
                    if repetition > 0 and share * reference > BEYOND * capacity[name]:
                        continue
                    self.point(name, command, share * reference, kind="rate", share=share, repetition=repetition)
            for name, command in self.turn(repetition):
                if capacity[name] > 0 and name not in self.hopeless:
                    self.sustain(name, command, capacity[name], repetition)

    def turn(self, repetition):
        """The sides, another one first each time."""
        sides = list(self.commands.items())
        first = repetition % len(sides)
        return sides[first:] + sides[:first]

    def capacity(self, name, command, **fields):
        """Answers a second with as many requests in flight as clients; 0 on failure."""
        seconds = CAPACITY_SECONDS[self.model]
        run = self.measure(name, command, seconds, "--clients", CLIENTS, "--duration", seconds,
                           "--timeout", PATIENCE, **fields)
        return run.get("answered_per_s", 0)

    def point(self, name, command, rate, **fields):
        """Measures one rate."""
        if rate <= 0:
            return {}
        seconds = round(min(LONGEST, max(SECONDS, ARRIVALS / rate)), 1)
        seed = fields["repetition"] + 1
        return self.measure(name, command, seconds, "--rate", rate, "--duration", seconds, "--seed", seed,
                            rate=round(rate, 3), **fields)

    def sustain(self, name, command, capacity, repetition):
        """Searches the highest rate at which 95% of the answers come in time."""
        low, high = 0.0, 1.2 * capacity
        for _ in range(PROBES):
            rate = (low + high) / 2
            run = self.point(name, command, rate, kind="sustain", repetition=repetition)
            if run.get("p95_ms", float("inf")) <= servers.GOOD * 1000:
                low = rate
            else:
                high = rate
        if low == 0:
            self.hopeless.add(name)

    def measure(self, name, command, seconds, *arguments, **fields):
        """One run against a server of its own. A side that fails loses this run only."""
        run = {"model": self.model, "side": name, **fields}
        try:
            with Server(name, self.model, command, APP_CONCURRENCY=str(servers.LIMIT)) as server, Noise() as noise:
                load(server, self.texts, 2, "--sleep", "10ms", "--num-req", 4)  # to warm up
                run |= load(server, self.texts, seconds, *arguments)
            run |= noise.fields()
        except (ServerError, OSError) as e:
            run["error"] = str(e)
            print(e, file=sys.stderr)
        self.results.add(**run)
        print(" ".join(f"{k}={v}" for k, v in run.items() if k in (
            "model", "side", "kind", "batch", "inter", "rate", "answered_per_s", "good_per_s", "p50_ms", "p95_ms",
            "p99_ms", "errors", "noisy")), flush=True)
        return run


if __name__ == "__main__":
    main()
