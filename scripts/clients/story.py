"""Sends a text that grows to a service over gRPC, in three ways: story.py ADDRESS [SENTENCES [RATE]].

    build/dragoman &
    python scripts/clients/story.py localhost:8001 300 50

1. Each request has all of the text so far; SENTENCES of them at RATE a second, answered by callbacks with their ids.
2. The same as one sequence: each request has only the sentence that is new.
3. The same in batches of ten sentences.

All must show the same translations. It prints the bytes of texts that went over the wire, and writes story.csv, with
what the service says of queue and compute times, and a drawing of it, story.svg, where there is matplotlib.
"""

import csv
import queue
import sys
import threading
import time

import numpy as np
import tritonclient.grpc as triton

ADDRESS = sys.argv[1]
SENTENCES = int(sys.argv[2]) if len(sys.argv) > 2 else 300
RATE = float(sys.argv[3]) if len(sys.argv) > 3 else 50
BATCH, EVERY = 10, 25  # statistics are read after so many answers
LANGUAGES = {"from": "en", "to": "fr"}
THINGS = ["books", "cats", "friends", "apples", "houses", "children", "trees", "letters", "days", "cups"]


def sentences():
    return [f"I have {i % 97 + 3} {THINGS[i % len(THINGS)]}. " for i in range(SENTENCES)]


def tensor(text):
    made = triton.InferInput("text", [1], "BYTES")
    made.set_data_from_numpy(np.array([text.encode()], dtype=np.object_))
    return made


class Way:
    """A way to send the text: parts, each with its options, on a stream of its own."""

    def __init__(self, client, name, model):
        self.client, self.name, self.model = client, name, model
        self.answers, self.sent, self.received, self.shown, self.rows = queue.Queue(), 0, 0, "", []

    def run(self, parts, options):
        self.client.start_stream(lambda result, error: self.answers.put((result, error)))
        threading.Thread(target=self.send, args=(parts, options)).start()
        before, translations = self.statistics(), {}
        for n in range(len(parts)):
            result, error = self.answers.get(timeout=300)
            if error is not None:
                sys.exit(f"FAILED: {self.name}: {error}")
            answer = result.get_response()
            text = result.as_numpy("text")[0].decode()
            self.received += len(text.encode())
            if "kept" in answer.parameters:
                self.shown = self.shown[:answer.parameters["kept"].int64_param] + text
                text = self.shown
            translations[int(answer.id)] = text
            if (n + 1) % EVERY == 0:
                self.rows.append((self.name, n + 1, *self.since(before)))
        self.client.stop_stream()
        return [translations[i] for i in range(len(parts))]

    def send(self, parts, options):
        start = time.monotonic()
        for i, text in enumerate(parts):
            time.sleep(max(0, start + i / RATE - time.monotonic()))
            self.sent += len(text.encode())
            self.client.async_stream_infer(self.model, [tensor(text)], request_id=str(i), parameters=LANGUAGES, **options(i))

    def statistics(self):
        stats = self.client.get_inference_statistics(self.model).model_stats[0].inference_stats
        return np.array([stats.queue.count, stats.queue.ns, stats.compute_infer.ns], dtype=np.float64)

    def since(self, before):
        count, waited, computed = self.statistics() - before
        return int(count), waited / 1e6 / max(count, 1), computed / 1e6 / max(count, 1)


def main():
    client = triton.InferenceServerClient(ADDRESS)
    while not client.is_server_ready():
        time.sleep(0.1)
    model = client.get_model_repository_index().models[0].name
    text = sentences()
    batches = ["".join(text[i:i + BATCH]) for i in range(0, len(text), BATCH)]
    ways = [Way(client, name, model) for name in ["whole text", "sequence", "sequence in batches"]]
    sequence = lambda key, last: lambda i: {"sequence_id": key, "sequence_start": i == 0, "sequence_end": i == last}
    whole = ways[0].run(["".join(text[:i + 1]) for i in range(len(text))], lambda i: {})
    one = ways[1].run(text, sequence("one by one", len(text) - 1))
    batched = ways[2].run(batches, sequence("batched", len(batches) - 1))
    same = [w.strip() for w in whole] == [o.strip() for o in one] and [w.strip() for w in whole[BATCH - 1::BATCH]] == [b.strip() for b in batched[:len(text) // BATCH]]
    for way in ways:
        print(f"{way.name}: {way.sent:,} bytes of text sent, {way.received:,} received")
    share = (ways[1].sent + ways[1].received) / (ways[0].sent + ways[0].received)
    print(f"equal translations: {same}; the sequence takes {share:.1%} of the bytes")
    write([row for way in ways for row in way.rows])
    if not same or share > 0.1:
        sys.exit(1)


def write(rows):
    with open("story.csv", "w", newline="", encoding="utf8") as f:
        out = csv.writer(f)
        out.writerow(["way", "answers", "sentences", "queue_ms", "compute_ms"])
        out.writerows(rows)
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError:
        return
    figure, axes = plt.subplots(2, sharex=True)
    for name in dict.fromkeys(row[0] for row in rows):
        for axis, column in zip(axes, [3, 4]):
            axis.plot([r[1] for r in rows if r[0] == name], [r[column] for r in rows if r[0] == name], label=name)
    axes[0].set_ylabel("queue, ms a sentence")
    axes[1].set_ylabel("compute, ms a sentence")
    axes[1].set_xlabel("answers")
    axes[0].legend()
    figure.savefig("story.svg")


main()
