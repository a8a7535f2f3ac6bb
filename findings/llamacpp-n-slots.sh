#!/usr/bin/env bash
# llama.cpp's server refuses requests for several answers by how it was started: n may be its number of slots at most.
#
# In OpenAI's API n is a field of a request, from 1 to 128. llama.cpp's server, as xllamacpp 2026.10.11549 has it, decodes the answers in
# slots of their own, although they could wait for one another as requests do, and refuses the request if it has fewer slots (--parallel).
# With two slots:
#
#   n: 2 -> 200, 2 answers
#   n: 3 -> 400 Field 'n': Value must be between 1 <= value <= 2, but got 3
#
# while four requests at the same time are all answered. The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
scripts=$(cd "$(dirname "$0")/../scripts/llm" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 gguf==0.19.0 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" "$scripts/model.py" gguf tiny.gguf # a model that always says "Bonjour le monde."
"$work/venv/bin/python" - 2>server.log <<'PYTHON' || { tail -n 20 server.log >&2; exit 1; }
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_parallel, params.n_ctx = "tiny.gguf", 0, 2, 2048
server = xllamacpp.Server(params)


def ask(n):
    body = {"model": "tiny", "messages": [{"role": "user", "content": "Hello."}], "n": n}
    request = urllib.request.Request(server.listening_address + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return f"{answer.status}, {len(json.load(answer)['choices'])} answers"
    except urllib.error.HTTPError as e:
        return f"{e.code} {json.load(e)['error']['message']}"


found = {n: ask(n) for n in (2, 3)}
for n, answer in found.items():
    print(f"n: {n} -> {answer}")
assert found == {2: "200, 2 answers", 3: "400 Field 'n': Value must be between 1 <= value <= 2, but got 3"}
with ThreadPoolExecutor(4) as pool:
    assert set(pool.map(ask, [1] * 4)) == {"200, 1 answers"}
PYTHON
