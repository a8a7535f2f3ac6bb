"""Translates by a tiny language model behind real servers: checks.py DRAGOMAN GGUF HF_FOLDER FOLDER [TRANSFORMERS_PYTHON]"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
ANSWER, LIMIT = "Bonjour le monde.", 90
count = 0


def check(what, ok, got=None):
    global count
    if not ok:
        sys.exit(f"FAILED: {what}: {got!r}")
    count += 1


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def call(url, body=None, timeout=LIMIT):
    """Returns the status and the answer, which is JSON or None."""
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as r:
            return r.status, json.load(r)
    except urllib.error.HTTPError as e:
        raw = e.read()
        return e.code, json.loads(raw) if raw[:1] == b"{" else None
    except OSError:  # also urllib's
        return 0, None


def wait_for(what, ready):
    """Waits until ready returns something, and returns that. Nothing else depends on time."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if found := ready():
            return found
        time.sleep(0.05)
    sys.exit(f"FAILED: {what} not within {LIMIT} s")


@contextlib.contextmanager
def running(log, command, **env):
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **env})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(LIMIT)


class Service:
    """dragoman with the repository in a folder."""

    def __init__(self, dragoman, models, log):
        self.log = log
        self.process = running(log, [dragoman, "serve"], MODEL_REPOSITORY=str(models), APP_HOST="127.0.0.1", APP_PORT="0", GRPC_PORT="0",
                               LOG_FORMAT="json", JOB_FILE=str(log.parent / "jobs"), GLOSSARY_FILE=str(log.parent / "glossaries"),
                               MEMORY_FILE=str(log.parent / "memories"))

    def __enter__(self):
        self.process.__enter__()
        listening = wait_for("the service", lambda: re.search(r'"msg":"listening","address":"([^"]+)"', self.log.read_text()))
        self.url = "http://" + listening.group(1)
        wait_for("the service", lambda: call(self.url + "/readyz")[0] == 200)
        return self

    def __exit__(self, *error):
        return self.process.__exit__(*error)

    def translate(self, *texts, **payload):
        records = [{"id": str(i), "text": text} for i, text in enumerate(texts)]
        return call(self.url + "/translation", {"payload": {"fromLang": "en", "toLang": "fr", "detail": True, "records": records, **payload}})


def pulled(dragoman, folder, name, server, **fields):
    """Adds a model to a repository, with more fields of config.yaml."""
    done = subprocess.run([dragoman, "pull", "--repository", str(folder), "--name", name, f"openai:{server}"], capture_output=True, text=True)
    check(f"pull {server}", done.returncode == 0, done.stderr)
    config = folder / name / "config.yaml"
    text = config.read_text()
    for field, value in fields.items():
        text = re.sub(rf"(?m)^    {field}: .*\n", "", text) + f"    {field}: {value}\n"
    config.write_text(text)
    return text


def check_translations(service, server):
    status, answer = service.translate("Hello world.")
    check("a sentence", status == 200, answer)
    result = answer["result"][0]
    check("its text", result["text"] == ANSWER, result)
    check("no flags", result["detail"]["flags"] == [], result)
    texts = [f"This is sentence {word}." for word in "one two three four five six seven eight nine ten".split()]
    status, answer = service.translate(*texts)
    check("more sentences than slots", status == 200 and len(answer["result"]) == len(texts), answer)
    status, answer = service.translate("This is endless text.")
    check("an endless answer ends", status == 200, answer)
    flags = answer["result"][0]["detail"]["flags"]
    check("an endless answer is flagged", "truncated" in flags or "loop" in flags, flags)
    status, answer = service.translate("This is endless text.", detail=False)
    check("an endless answer is an error without detail", status >= 400 or "text" in answer["result"][0], answer)
    for several in 2, 4:  # llama.cpp refuses more than it has slots; transformers serve always answers once
        status, answer = service.translate(f"Hello {several} worlds.", alternatives=several)
        check("alternatives", status == 200 and answer["result"][0]["text"].endswith(ANSWER), answer)
    request = urllib.request.Request(service.url + "/translation/stream", json.dumps({"payload": {
        "fromLang": "en", "toLang": "fr", "records": [{"id": str(i), "text": text} for i, text in enumerate(texts)]}}).encode(),
        {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LIMIT) as r:
        lines = [json.loads(line) for line in r]
    check("a stream", lines[-1] == {"done": {"results": len(texts)}}, lines)


def check_cancel(service, slots):
    """A client that leaves takes its calls with it: the server becomes idle, and most sentences were never sent."""
    host, port = service.url.removeprefix("http://").split(":")
    records = [{"id": str(i), "text": f"This is endless text of number {i}."} for i in range(200)]
    body = json.dumps({"payload": {"fromLang": "en", "toLang": "fr", "records": records}})
    with socket.create_connection((host, int(port)), LIMIT) as s:
        s.sendall(f"POST /translation HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        wait_for("two busy slots", lambda: sum(slots()) == 2)
    wait_for("idle slots", lambda: not any(slots()))
    status, _ = service.translate("Hello world again.")
    check("a call after a client left", status == 200, status)
    with urllib.request.urlopen(service.url + "/metrics", timeout=LIMIT) as r:
        text = r.read().decode()
    left = sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("dragoman_sentences_total") and 'outcome="cancelled"' in line)
    check("sentences that were cancelled", left > 0, [line for line in text.splitlines() if line.startswith("dragoman_sentences_total")])


def llama(dragoman, gguf, folder):
    port = free_port()
    server, models = f"http://127.0.0.1:{port}", folder / "models"
    python = [sys.executable, str(HERE / "llama.py"), gguf, str(port)]
    with running(folder / "llama.log", python):
        wait_for("llama.cpp", lambda: call(server + "/health")[0] == 200)
        text = pulled(dragoman, models, "tiny", server + "/v1", concurrency=2)
        check("the context of a slot", "context: 2048" in text, text)
        with Service(dragoman, models, folder / "dragoman.log") as service:
            check_translations(service, server)
            status, answer = service.translate("word " * 900)
            check("a text larger than the context", status == 200, answer)
            check_cancel(service, lambda: [slot["is_processing"] for slot in call(server + "/slots")[1]])
    # The server is away, then loads its model: it answers 503 meanwhile.
    with Service(dragoman, models, folder / "dragoman.log") as service:
        status, answer = service.translate("Hello world.")
        check("no server", status in (502, 503, 504), (status, answer))
        with running(folder / "llama.log", python):
            answers = []
            wait_for("llama.cpp", lambda: answers.append(service.translate("Hello world.")) or answers[-1][0] == 200)
            check("the server is back", answers[-1][1]["result"][0]["text"] == ANSWER, answers[-1])
            check("errors meanwhile are passing", {status for status, _ in answers[:-1]} <= {502, 503, 504}, answers)
    # A key.
    with running(folder / "llama.log", [*python, "secret"]):
        wait_for("llama.cpp", lambda: call(server + "/health")[0] == 200)
        with Service(dragoman, models, folder / "dragoman.log") as service:
            status, answer = service.translate("Hello world.")
            check("without the key", status >= 500, (status, answer))
        (models / "tiny" / "key").write_text("secret\n")
        config = models / "tiny" / "config.yaml"
        config.write_text(config.read_text() + "    key_file: key\n")
        with Service(dragoman, models, folder / "dragoman.log") as service:
            status, answer = service.translate("Hello world.")
            check("with the key", status == 200 and answer["result"][0]["text"] == ANSWER, (status, answer))


def transformers(dragoman, hf, folder, python):
    port = free_port()
    server, models = f"http://127.0.0.1:{port}", folder / "models-transformers"
    cache = folder / "cache"  # without one it answers the list of models with 500
    (cache / "hub").mkdir(parents=True, exist_ok=True)
    command = [str(Path(python).parent / "transformers"), "serve", hf, "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)]
    with running(folder / "transformers.log", command, HF_HUB_OFFLINE="1", HF_HOME=str(cache)):
        wait_for("transformers", lambda: call(server + "/health")[0] == 200)
        pulled(dragoman, models, "tiny", f"{server}/v1#{hf}", concurrency=2)
        with Service(dragoman, models, folder / "dragoman.log") as service:
            check_translations(service, server)


def main():
    dragoman, gguf, hf, folder, *python = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    llama(dragoman, gguf, folder)
    if python:
        transformers(dragoman, hf, folder, python[0])
    print(f"language models: {count} passed, 0 failed")


main()
