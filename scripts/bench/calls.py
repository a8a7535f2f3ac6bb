"""Measures gRPC against a running service on this machine: calls.py PID HTTP_ADDRESS GRPC_ADDRESS.

    LIVE_SESSIONS=50000 CACHE_BYTES=0 build/dragoman &
    python scripts/bench/calls.py $! localhost:9527 localhost:8001

Needs tritonclient[grpc,http] (scripts/clients/requirements.txt). It prints

- the CPU time of the service for a request of one short sentence, over HTTP and over gRPC in turns, medians;
- the time of an edit of a sequence while others type, and the memory of 10,000 sequences on 100 streams.
"""

import os
import queue
import statistics
import sys
import time

import numpy as np
import tritonclient.grpc as grpc
import tritonclient.http as http

PID, HTTP, GRPC = sys.argv[1:]
TICK = os.sysconf("SC_CLK_TCK")
SENTENCE, LANGUAGES = "Where is the station?", {"from": "en", "to": "fr"}


def cpu():
    """Is the CPU time of the service so far, in seconds."""
    with open(f"/proc/{PID}/stat", encoding="utf8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory():
    """Is the memory of the service that is not mapped files, in MB."""
    with open(f"/proc/{PID}/smaps_rollup", encoding="utf8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Anonymous:")) / 1e3


def tensor(kind, text):
    made = kind.InferInput("text", [1], "BYTES")
    made.set_data_from_numpy(np.array([text.encode()], dtype=np.object_))
    return made


def requests(rounds=7, count=400):
    sides = {"HTTP": (http.InferenceServerClient(HTTP), http), "gRPC": (grpc.InferenceServerClient(GRPC), grpc)}
    name = sides["gRPC"][0].get_model_repository_index().models[0].name
    taken, latencies = {side: [] for side in sides}, {side: [] for side in sides}
    for r in range(rounds):
        for side in sorted(sides, reverse=r % 2 == 1):
            client, kind = sides[side]
            inputs, before = [tensor(kind, SENTENCE)], cpu()
            for _ in range(count):
                start = time.perf_counter()
                client.infer(name, inputs, parameters=LANGUAGES)
                latencies[side].append(time.perf_counter() - start)
            if r > 0:  # the first one warms up
                taken[side].append((cpu() - before) / count * 1e3)
    for side in sides:
        print(f"{side}: {statistics.median(taken[side]):.3f} ms CPU a request, {statistics.median(latencies[side]) * 1e3:.2f} ms until the answer")
    print(f"gRPC / HTTP: {statistics.median(g / h for g, h in zip(taken['gRPC'], taken['HTTP'])):.2f}")
    return name


def sequences(name, streams=100, each=100):
    before, times, started = memory(), [], {}
    clients = [grpc.InferenceServerClient(GRPC) for _ in range(streams)]
    answers = queue.Queue()
    for client in clients:
        client.start_stream(lambda result, error: answers.put((time.perf_counter(), result, error)))
    for turn, text in enumerate(["Where is", " the station?"]):
        pending = [(s, n) for n in range(each) for s in range(streams)]
        for i, (s, n) in enumerate(pending):
            key = f"{s}-{n}"
            started[key] = time.perf_counter()
            clients[s].async_stream_infer(name, [tensor(grpc, text)], request_id=key, parameters=LANGUAGES, sequence_id=key, sequence_start=turn == 0)
            if i >= 20:  # from then on 20 clients type at the same time
                times.append(answered(answers, started))
        for _ in range(20):
            times.append(answered(answers, started))
    times.sort()
    print(f"{streams * each} sequences on {streams} streams: {memory() - before:.0f} MB, an edit {times[len(times) // 2] * 1e3:.0f} ms, "
          f"{times[len(times) * 95 // 100] * 1e3:.0f} ms for 95%")
    for client in clients:
        client.stop_stream()


def answered(answers, started):
    at, result, error = answers.get(timeout=120)
    if error is not None:
        sys.exit(f"FAILED: {error}")
    return at - started[result.get_response().id]


sequences(requests())
