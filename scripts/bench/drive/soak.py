"""dragoman for a long time under more requests than it can answer: see README.md."""
import csv
import os
import threading
import time

import servers
import settings
from host import Noise
from results import Results
from servers import Server, load
from settings import knob

MINUTES = knob("SOAK_MINUTES", 30, quick=1)
SHARE = 1.2  # of the capacity
MODEL = knob("SOAK_MODEL", "bundled")


def main():
    results = Results("soak", repetitions=1, minutes=MINUTES, share=SHARE, model=MODEL, beams=servers.BEAMS[MODEL])
    texts, command = servers.texts(MODEL), servers.dragoman(MODEL)
    limit = {"APP_CONCURRENCY": str(servers.LIMIT)}  # else more wait than the clients' patience is worth
    with Server("dragoman", MODEL, command, **limit) as server:
        load(server, texts, 2, "--clients", 32, "--duration", 2)
        capacity = load(server, texts, 20, "--clients", 32, "--duration", 20)
    results.add(kind="capacity", **capacity)
    rate = SHARE * capacity["answered_per_s"]
    print(f"capacity {capacity['answered_per_s']:.1f} requests/s, soaking at {rate:.1f} for {MINUTES} minutes", flush=True)
    with Server("dragoman", MODEL, command, **limit) as server, Memory(server), Noise() as noise:
        run = load(server, texts, MINUTES * 60, "--rate", rate, "--duration", MINUTES * 60, "--same")
    results.add(kind="soak", rate=rate, **run, **noise.fields())
    print({k: run[k] for k in ("requests", "answered", "p50_ms", "p99_ms")}, run.get("errors", {}), flush=True)
    # Refusing is an answer; anything else is lost or wrong.
    wrong = {text: n for text, n in run.get("errors", {}).items() if not text.startswith("status 503")}
    if wrong:
        raise SystemExit(f"soak: {wrong}")


class Memory:
    """Writes a server's resident memory to OUT/soak-memory.csv while it is entered."""

    def __init__(self, server):
        self.server, self.done = server, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def watch(self):
        interval = max(1, MINUTES * 60 / 360)
        begin = time.monotonic()
        with open(os.path.join(settings.OUT, "soak-memory.csv"), "w", encoding="utf8", newline="") as f:
            out = csv.writer(f)
            out.writerow(["seconds", "rss_mb"])
            while not self.done.wait(interval):
                out.writerow([round(time.monotonic() - begin), self.server.memory()])
                f.flush()


if __name__ == "__main__":
    main()
