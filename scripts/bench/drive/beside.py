"""Measures dragoman beside the services that people would use instead, by LibreTranslate's API: beside.py libretranslate|firefox

beside.sh prepares what this needs. Sides take turns, another one first in each repetition; tables have medians. A cell in which a side takes
long is measured once. Writes OUT/beside-NAME.md and .json.
"""
import functools
import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile

import psutil

import host
import settings
import tables
from settings import built, knob, path

REPETITIONS = knob("REPS", 3, quick=1)
SECONDS = knob("BESIDE_SECONDS", 4, quick=2)  # of a cell with clients
LONG = knob("BESIDE_LONG", 15.0, quick=5.0)  # seconds from which on a cell is measured once
HTML, PAGES = knob("BESIDE_HTML", 60_000, quick=6_000), knob("BESIDE_PAGES", 30, quick=3)
PART = 3  # the other sides translate files of this part of the size
CLIENTS = [1, 4, 16, 64]
WORDS_OF_PAGE = 300
COMPARED = 100  # texts whose translations are compared


class Side:
    """A service that runs inside a with statement."""

    def __init__(self, name, command, package, slow=False, **env):
        self.name, self.command, self.package, self.env = name, command, package, env
        self.slow = slow  # leaves out the long texts

    def __enter__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        home = built("beside", "home")
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home)
        env = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, **self.env, "APP_PORT": str(self.port)}
        command = [str(self.port) if word == "PORT" else word for word in self.command]
        begin = time.perf_counter()
        with open(built("log", f"beside-{self.name}.log".replace(" ", "-")), "w", encoding="utf8") as log:
            self.process = subprocess.Popen(command, env=env, cwd=home, stdout=log, stderr=log)
        while True:
            try:
                self.first = self.translate("Where is the station?")
                break
            except (OSError, http.client.HTTPException):
                if self.process.poll() is not None or time.perf_counter() - begin > 120:
                    self.__exit__()
                    sys.exit(f"{self.name} does not answer: see its log")
                time.sleep(0.01)
        self.started = time.perf_counter() - begin
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for process in self.processes():
                process.kill()
        self.process.wait()

    def processes(self):
        own = psutil.Process(self.process.pid)
        return [*own.children(recursive=True), own]

    def memory(self):
        """Anonymous memory in MB, of all processes."""
        total = 0
        for process in self.processes():
            with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as f:
                total += next(int(line.split()[1]) for line in f if line.startswith("Anonymous:"))
        return total / 1e3

    def translate(self, q, form="text"):
        return self.post("/translate", json.dumps({"q": q, "source": "en", "target": "fr", "format": form}), "application/json")["translatedText"]

    def post(self, route, body, kind):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=900)
        connection.request("POST", route, body, {"Content-Type": kind})
        answer = connection.getresponse()
        read = answer.read()
        connection.close()
        if answer.status != 200:
            raise OSError(f"{self.name}: {answer.status} {read[:300]}")
        return json.loads(read)

    def translate_file(self, name, data):
        line, boundary = "\r\n", "b0undary"
        fields = "".join(f'--{boundary}{line}Content-Disposition: form-data; name="{k}"{line}{line}{v}{line}' for k, v in (("source", "en"), ("target", "fr")))
        head = f'{fields}--{boundary}{line}Content-Disposition: form-data; name="file"; filename="{name}"{line}Content-Type: application/octet-stream{line}{line}'
        body = head.encode() + data + f"{line}--{boundary}--{line}".encode()
        url = self.post("/translate_file", body, f"multipart/form-data; boundary={boundary}")["translatedFileUrl"]
        with urllib.request.urlopen(url) as f:
            return f.read()

    def closed_loop(self, texts, clients):
        """Texts a second that clients get who send one after the other."""
        requests = [self.raw(text) for text in texts]
        state = {"next": 0, "done": 0, "errors": 0}
        begin, end = time.perf_counter() + 0.3, time.perf_counter() + 0.3 + SECONDS

        def client():
            with socket.create_connection(("127.0.0.1", self.port)) as s:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while (now := time.perf_counter()) < end:
                    i = state["next"]
                    state["next"] += 1
                    s.sendall(requests[i % len(requests)])
                    ok = answered(s)
                    now = time.perf_counter()
                    if begin <= now < end:
                        state["done" if ok else "errors"] += 1

        threads = [threading.Thread(target=client) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if state["errors"]:
            sys.exit(f"{self.name}: {state['errors']} errors with {clients} clients")
        return state["done"] / SECONDS

    def raw(self, text):
        body = json.dumps({"q": text, "source": "en", "target": "fr", "format": "text"}).encode()
        return f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def answered(s):
    """Reads an answer and reports whether it is one."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (part := s.recv(65536)):
            return False
        data += part
    head, body = data.split(b"\r\n\r\n", 1)
    size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < size:
        body += s.recv(65536)
    return head.startswith(b"HTTP/1.1 200")


def sentences():
    """English sentences, each once, whose translations end: those of the small network that the package is made of sometimes go on."""
    with open(built("beside", "sentences.txt"), encoding="utf8") as f:
        return f.read().splitlines()


def paragraphs(lines):
    """Two to six sentences each."""
    draw, lines, found = random.Random(1), list(lines), []
    while lines:
        n = draw.randint(2, 6)
        found.append(lines[:n])
        lines = lines[n:]
    return found


def page(lines, size):
    """HTML of about that many bytes, with some words in tags."""
    out = ["<!DOCTYPE html><html><head><title>A page</title></head><body>"]
    for i, paragraph in enumerate(paragraphs(lines)):
        text = " ".join(paragraph).replace("&", "&amp;").replace("<", "&lt;")
        words = text.split(" ")
        if i % 3 == 0 and len(words) > 4:
            words[2] = f"<b>{words[2]}</b>"
            words[-2] = f'<a href="/page/{i}">{words[-2]}</a>'
        out.append(f'<p class="text">{" ".join(words)}</p>')
        if i % 8 == 7:
            out.append(f"<h2>{paragraph[0]}</h2>")
        if sum(map(len, out)) > size:
            return "\n".join([*out, "</body></html>"])
    sys.exit("too few sentences for the HTML")


def docx(lines, pages):
    """A document of about that many pages, with some words in bold."""
    paragraph, words = [], 0
    for i, text in enumerate(paragraphs(lines)):
        escaped = " ".join(text).replace("&", "&amp;").replace("<", "&lt;").split(" ")
        words += len(escaped)
        bold = 1 if i % 3 == 0 else 0
        runs = [" ".join(escaped[:2]) + " ", escaped[2], " " + " ".join(escaped[3:])] if bold and len(escaped) > 3 else [" ".join(escaped)]
        paragraph.append("<w:p>" + "".join(
            f'<w:r>{"<w:rPr><w:b/></w:rPr>" if j == 1 else ""}<w:t xml:space="preserve">{run}</w:t></w:r>' for j, run in enumerate(runs)) + "</w:p>")
        if words >= pages * WORDS_OF_PAGE:
            break
    ns = "http://schemas.openxmlformats.org"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{ns}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{ns}/package/2006/relationships"><Relationship Id="rId1" Type="{ns}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{ns}/wordprocessingml/2006/main"><w:body>{"".join(paragraph)}</w:body></w:document>',
    }
    name = built("beside", "document.docx")
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        for part, xml in parts.items():
            z.writestr(part, '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + xml)
    with open(name, "rb") as f:
        return f.read(), words


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def dragoman(model, name="dragoman"):
    # CACHE_BYTES: every text is translated. The rest are defaults, but for where the files are.
    return Side(name, [settings.DRAGOMAN, "serve"], model, MODEL_WEIGHTS=model, ONNXRUNTIME_LIB=settings.LIBRARY, APP_HOST="127.0.0.1", GRPC_PORT="0",
                CACHE_BYTES="0", LOG_LEVEL="warn")


def libretranslate():
    package = built("beside", "packages", "translate-en_fr-1_9")
    peer = functools.partial(Side, package=package, ARGOS_PACKAGES_DIR=built("beside", "packages"))
    command = [settings.PYTHON, path("scripts", "bench", "peers", "serve_libretranslate.py"), "--host", "127.0.0.1", "--port", "PORT", "--disable-web-ui"]
    return [
        dragoman(built("beside", "argos")),
        peer("LibreTranslate, best settings", [*command, "--threads", "16"], ARGOS_BATCH_SIZE="2048", ARGOS_INTER_THREADS="2", ARGOS_INTRA_THREADS="1"),
        peer("LibreTranslate, defaults", command, slow=True),
    ]


def firefox():
    model = built("beside", "tiny-checkpoint")
    return [
        dragoman(built("beside", "tiny")),
        Side("fxtranslate", [settings.PYTHON, path("scripts", "bench", "peers", "serve_fxtranslate.py"), model, "PORT"], model),
    ]


class Cell:
    """A row of a table: how a side is measured, and whether more is better. own: dragoman alone is; long: slow sides are not."""

    def __init__(self, label, call, more=False, own=False, long=False):
        self.label, self.call, self.more, self.own, self.long = label, call, more, own, long


def cells(name):
    lines = sentences()
    text = " ".join(" ".join(lines).split(" ")[:2000])
    found = [Cell(f"texts/s, {n} client{'s' * (n > 1)}", lambda s, n=n: s.closed_loop(lines, n), more=True) for n in CLIENTS]
    found += [Cell("a text of 2,000 words, s", lambda s: timed(lambda: s.translate(text))),
              Cell("a batch of 100 texts, s", lambda s: timed(lambda: s.translate(lines[:100])))]
    if name == "libretranslate":
        for part in (PART, 1):
            html, (document, words) = page(lines, HTML // part), docx(lines, PAGES // part)
            kind = {"own": part == 1, "long": True}
            found += [Cell(f"{HTML // part // 1000} kB of HTML, s", lambda s, html=html: timed(lambda: s.translate(html, "html")), **kind),
                      Cell(f"docx of {PAGES // part} pages ({words:,} words), s", lambda s, d=document: timed(lambda: s.translate_file("document.docx", d)), **kind)]
    return found


def size(folder):
    return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(folder) for f in files) / 1e6


def measure(name):
    sides, runs, noise, texts = {"libretranslate": libretranslate, "firefox": firefox}[name](), [], {}, {}
    lines, plan = sentences(), cells(name)

    def add(side, label, value):
        runs.append({"side": side.name, "cell": label, "value": round(value, 4)})
        print(f"{side.name:32} {label:40} {value:8.2f}", flush=True)

    for repetition in range(REPETITIONS):
        turn = repetition % len(sides)
        for side in sides[turn:] + sides[:turn]:
            with side, host.Noise() as watched:
                add(side, "first answer after the start, s", side.started)
                if repetition == 0:
                    texts[side.name] = [side.translate(line) for line in lines[:COMPARED]]
                for cell in plan:
                    before = [r["value"] for r in runs if (r["side"], r["cell"]) == (side.name, cell.label)]
                    if not (cell.own and side is not sides[0] or cell.long and side.slow or before and not cell.more and before[0] > LONG):
                        add(side, cell.label, cell.call(side))
                add(side, "anonymous memory at the end, MB", side.memory())
            noise[side.name] = max(noise.get(side.name, 0), round(watched.other / watched.seconds, 3))
    for side in sides:
        add(side, "files of the model, MB", size(side.package))
    same = {side.name: sum(map(str.__eq__, texts[sides[0].name], texts[side.name])) for side in sides[1:]}
    write(name, [s.name for s in sides], runs, same, noise, {cell.label for cell in plan if cell.more})


NOTES = {
    "libretranslate": "LibreTranslate's best settings are ARGOS_BATCH_SIZE=2048, two translators of one thread and 16 threads of its HTTP server. Argos "
                      "Translate sends the sentences of one paragraph to CTranslate2, in batches of 32 tokens by default, and a request's texts one after the "
                      "other; dragoman decodes the sentences of all requests together. MiniSBD's weights are only on GitHub: a regular expression, which "
                      "costs almost nothing, finds sentences in its place.",
    "firefox": "fxtranslate, which has no batches, runs in a process for each core behind a thin HTTP service. Neither side has a shortlist.",
}


def write(name, sides, runs, same, noise, more):
    rows = []
    for label in dict.fromkeys(r["cell"] for r in runs):
        medians = [tables.median([r for r in runs if (r["side"], r["cell"]) == (side, label)], "value")[0] for side in sides]
        row = [label, tables.number(medians[0])]
        for peer in medians[1:]:
            if peer is None:
                row.append(None)
                continue
            times = medians[0] / peer if label in more else peer / medians[0]
            row.append(f"{tables.number(peer)} (**{tables.number(times)}**)")
        rows.append(row)
    described = host.describe()
    equal = ", ".join(f"{count} of {side}" for side, count in same.items())
    head = (f"{described['cpu']}, {described['cores']} cores, {', '.join(described['instructions'])}; commit {described['commit']}; medians of {REPETITIONS} "
            f"runs in turns, of one where a side takes more than {LONG:.0f} s. In parentheses: how many times as fast or small dragoman is. Of {COMPARED} "
            f"translations as many are the same as dragoman's: {equal}. Other programs used up to {max(noise.values()):.2f} cores meanwhile. {NOTES[name]}\n\n")
    table = head + tables.table(["", *sides], rows)
    os.makedirs(settings.OUT, exist_ok=True)
    out = os.path.join(settings.OUT, f"beside-{name}")
    with open(out + ".md", "w", encoding="utf8") as f:
        f.write(table)
    with open(out + ".json", "w", encoding="utf8") as f:
        json.dump({"host": described, "other_cores": noise, "same": same, "runs": runs}, f, indent=1)
    print(table)
    if settings.OUT == path("docs", "benchmarks") and not settings.QUICK:
        enter(name, table)


def enter(name, table):
    """Puts the table into its place in docs/benchmarks.md."""
    page = path("docs", "benchmarks.md")
    with open(page, encoding="utf8") as f:
        before, _, rest = f.read().partition(mark := f"<!-- beside.sh {name} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    with open(page, "w", encoding="utf8") as f:
        f.write(f"{before}{mark}\n{table.rstrip()}\n\n{end}{after}")


if __name__ == "__main__":
    for stage in sys.argv[1:]:
        measure(stage)
