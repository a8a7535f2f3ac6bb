"""The services that are measured, as processes, and the load generator."""
import json
import os
import random
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import psutil

import settings
from settings import built, knob, path, peer

LENGTH = 32  # tokens of every translation of the random model
BEAMS = {"bundled": 5, "418M": 5, "418M-greedy": 1}  # of the models that are served
LIMIT = 64  # requests that may run or wait in a service, dragoman's and the peers'
TIMEOUT = 10  # seconds after which a client gives up
GOOD = 2  # seconds within which an answer is of use
SUMMARY = ("requests answered good errors p50_ms p90_ms p95_ms p99_ms p999_ms min_ms mean_ms max_ms "
           "mean_all_ms max_all_ms").split()
PRECISION = {"bundled": knob("BUNDLED_PRECISION", "fp32"), "418M": "int8", "418M-greedy": "int8"}


def ctranslate2(model, batch, inter, limit=LIMIT, checkpoint=None, converted=None):
    """The command line of CTranslate2's service, of the stages' own models if no other is named."""
    precision = PRECISION[model].replace("fp32", "float32")
    if converted is None:
        checkpoint, converted = (path("model", "bundled"), built(f"ct2-bundled-{precision}")) if model == "bundled" else (
            built("checkpoint"), built(f"ct2-{precision}"))
    return [*peer("serve_ctranslate2.py"), checkpoint, converted, "--compute-type", precision,
            "--inter", str(inter), "--intra", str(settings.THREADS // inter), "--batch", str(batch), *_common(model, limit)]


def original(model, limit=LIMIT):
    checkpoint = path("model", "bundled") if model == "bundled" else built("checkpoint")
    return [*peer("serve_original.py"), checkpoint, "--threads", str(settings.THREADS), *_common(model, limit)]


def _common(model, limit):
    length = [] if model == "bundled" else ["--length", str(LENGTH)]
    return ["--beams", str(BEAMS[model]), "--limit", str(limit), *length]


def dragoman(model):
    if model == "bundled":
        return [settings.DRAGOMAN, "serve"]
    return [built("bin", "server"), "-length", str(LENGTH)]


class Server:
    """A service that runs inside a with statement. It starts anew for every
    measurement, so that no backlog of one is left for the next."""

    START_SECONDS = 120

    def __init__(self, name, model, command, **env):
        self.name, self.model, self.command, self.env = name, model, command, env

    def __enter__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        prefix = "bundled-" if self.model == "bundled" else ""
        env = {
            **os.environ, "OMP_NUM_THREADS": str(settings.THREADS),
            # dragoman's settings; peers have command lines.
            "MODEL_WEIGHTS": built(prefix + PRECISION[self.model]), "ONNXRUNTIME_LIB": settings.LIBRARY,
            "APP_HOST": "127.0.0.1", "APP_PORT": str(self.port),
            "NUM_BEAMS": str(BEAMS[self.model]), "CACHE_BYTES": "0", "LOG_LEVEL": "warn", **self.env,
        }
        if settings.THREADS != os.cpu_count():  # else it shares out the cores itself
            env |= {"APP_WORKERS": "1", "THREADS": str(settings.THREADS)}
        port = [] if "dragoman" in self.name else ["--port", str(self.port)]
        with open(built("log", f"server-{self.name}.log".replace(" ", "-")), "a", encoding="utf8") as log:
            self.process = subprocess.Popen([*self.command, *port], env=env, stdout=log, stderr=log)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # Not gently: a peer would work off its backlog first.
        self.process.kill()
        self.process.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def memory(self):
        """Resident memory in MB, shared pages included."""
        try:
            return round(psutil.Process(self.process.pid).memory_info().rss / 1e6)
        except psutil.NoSuchProcess:
            return 0

    def _wait(self):
        """Returns when the service translates."""
        body = json.dumps({"payload": {"fromLang": "en", "toLang": "fr", "records": [{"id": "1", "text": "Hello."}]}})
        end = time.monotonic() + self.START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                request = urllib.request.Request(self.url + "/translation", body.encode(),
                                                 {"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=30):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise ServerError(f"{self.name} does not answer: see its log")


class ServerError(Exception):
    """A service that cannot be measured."""


def load(server, texts, seconds, *arguments):
    """Runs the stress test for about that long and returns its summary, with rates over
    these seconds. Each of several models that was asked for has one, too."""
    with tempfile.TemporaryDirectory() as out:
        command = [built("bin", "stress_test"), "--quiet", "--out", out, "--url", server.url, "--corpus", texts, "--lambda", "0",
                   "--timeout", str(TIMEOUT), "--limit", str(GOOD), "--hide-timeout",
                   *([] if server.model == "bundled" else ["--allow-empty"]), *map(str, arguments)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds * 2 + 120)
            with open(os.path.join(out, "summary.json"), encoding="utf8") as f:
                summary = json.load(f)["phases"][0]
        except subprocess.TimeoutExpired as e:
            raise ServerError(f"load: not done after {e.timeout:.0f} s") from e
        except (FileNotFoundError, IndexError) as e:  # if only an answer is missing, there is a summary
            raise ServerError(f"load: {done.stderr.strip()}") from e
    run = {k: v for k, v in summary.items() if k in SUMMARY}
    if "models" in summary:
        run["models"] = [{k: v for k, v in m.items() if k in ["name", *SUMMARY]} for m in summary["models"] if m["requests"]]
    rates = {"seconds": seconds, "answered_per_s": round(run["answered"] / seconds, 3), "good_per_s": round(run["good"] / seconds, 3)}
    # Until all were due and the last answer came.
    return {**run, **rates, "last_s": round(summary["seconds"], 1), "rss_mb": server.memory()}


def texts(model):
    """Writes the model's texts and returns the file's path: lines of from, to, text.

    The bundled model gets the sentences of the quality measurements in four
    directions, each once. The random one, whose translations all have the same
    length, gets one to six of them in a text, few of them long, and 90 directions.
    """
    draw = random.Random(1)
    lines = []
    with open(path("scripts", "quality", "dev.tsv"), encoding="utf8") as f:
        for line in f:
            _, a, b, x, y = line.rstrip("\n").split("\t")
            lines += [(a, b, x), (b, a, y)]
    draw.shuffle(lines)
    if model != "bundled":
        languages = "ar cs de en es fr ja pl ru zh".split()
        pairs = [(a, b) for a in languages for b in languages if a != b]
        sentences = [text for a, _, text in lines if a != "ja"]
        lines = []
        for i in range(len(sentences)):
            count = min(6, int(draw.lognormvariate(0.3, 0.7)) + 1)
            lines.append((*pairs[i % len(pairs)], " ".join(draw.sample(sentences, count))))
    lines = list(dict.fromkeys(lines))
    name = built(f"texts-{model}.tsv")
    with open(name, "w", encoding="utf8") as f:
        f.writelines("\t".join(line) + "\n" for line in lines)
    return name
