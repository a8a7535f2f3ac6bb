"""The stress test of the service that dragoman replaces: 100 requests at fixed
intervals, of 1 or 16 records. See README.md.
"""
import itertools
import sys

import servers
import settings
from host import Noise
from results import Results
from servers import Server, ServerError, load
from settings import knob

REQUESTS = knob("STRESS_REQUESTS", 100, quick=20)
TIMEOUT = knob("STRESS_TIMEOUT", 60)  # seconds that a client waits, as proxies do
MODELS = knob("STRESS_MODELS", ["bundled"])  # 1,600 sentences take the 418M shape minutes on two cores
REPETITIONS = knob("STRESS_REPS", settings.REPETITIONS)


def main():
    results = Results("stress", repetitions=REPETITIONS, requests=REQUESTS, timeout_s=TIMEOUT, beams=servers.BEAMS, precision=servers.PRECISION)
    for model in MODELS:
        texts = servers.texts(model)
        sides = {
            "dragoman": servers.dragoman(model),
            # No request is turned away by a peer; dragoman runs with its default limits.
            "ctranslate2-batched": servers.ctranslate2(model, 32, 1, limit=10 * REQUESTS),
            "original": servers.original(model, limit=10 * REQUESTS),
        }
        if names := knob("SIDES", ""):
            sides = {k: v for k, v in sides.items() if k in names.split()}
        cells = itertools.product(range(REPETITIONS), [1, 16], [0.5, 0.1, 0.01], sides.items())
        for repetition, records, interval, (name, command) in cells:
            run = {"model": model, "side": name, "records": records, "interval": interval, "repetition": repetition}
            try:
                with Server(name, model, command) as server, Noise() as noise:
                    run |= load(server, texts, REQUESTS * interval + TIMEOUT, "--sleep", interval, "--num-req",
                                REQUESTS, "--pay-size", records, "--timeout", TIMEOUT)
                run |= noise.fields()
            except (ServerError, OSError) as e:
                run["error"] = str(e)
                print(e, file=sys.stderr)
            results.add(**run)
            print(f"{model} {records:2} records every {interval} s: {name:20} {run.get('answered', 0)} of {REQUESTS}, "
                  f"mean {run.get('mean_ms', 0) / 1000:.2f} s, max {run.get('max_ms', 0) / 1000:.2f} s "
                  f"{run.get('errors', '')}", flush=True)


if __name__ == "__main__":
    main()
