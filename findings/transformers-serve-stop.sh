#!/usr/bin/env bash
# transformers serve ends an answer behind a stop sequence, and leaves the sequence in the text.
#
# "The returned text will not contain the stop sequence" says OpenAI's API of the field stop. transformers 5.23.0 hands it to generate()
# as stop_strings, which end the search once they are there, and sends all that was generated. A client that asks for a stop at
# "</answer>" or a line end has it in its text, with finish_reason "stop" as if the model had ended. llama.cpp's server leaves it out. Nor
# is n known: one answer comes back for n: 2, without an error.
#
#   stop: ["la la"] -> ' la la', stop
#   n: 2 -> 1 answers
#
# The script fails if that changes. It needs Python 3.11, PyPI and 6 GB of disk for torch.
set -euo pipefail
scripts=$(cd "$(dirname "$0")/../scripts/llm" && pwd)
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; wait || true; rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$scripts/requirements-transformers.txt"
cd "$work"
"$work/venv/bin/python" "$scripts/model.py" hf tiny # a model that says "la la la" until its limit if it is asked for "endless"
port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
HF_HUB_OFFLINE=1 "$work/venv/bin/transformers" serve "$work/tiny" --device cpu --host 127.0.0.1 --port "$port" >server.log 2>&1 &
server=$!
"$work/venv/bin/python" - "$port" <<'PYTHON' || { tail -n 20 server.log >&2; exit 1; }
import json
import os
import sys
import time
import urllib.request

url = f"http://127.0.0.1:{sys.argv[1]}"
for _ in range(1200):
    try:
        urllib.request.urlopen(url + "/health").close()
        break
    except OSError:
        time.sleep(0.1)


def ask(**fields):
    body = {"model": os.path.abspath("tiny"), "messages": [{"role": "user", "content": "endless"}], "max_tokens": 10, **fields}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"]


choice = ask(stop=["la la"])[0]
print(f'stop: ["la la"] -> {choice["message"]["content"]!r}, {choice["finish_reason"]}')
count = len(ask(n=2, temperature=0.8))
print(f"n: 2 -> {count} answers")
assert choice["message"]["content"] == " la la" and choice["finish_reason"] == "stop" and count == 1
PYTHON
