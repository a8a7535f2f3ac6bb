#!/usr/bin/env bash
# Ollama's and Hugging Face's clients for Python break off an answer at a line separator in its text.
#
# A streamed answer of Ollama has a JSON object in each line, one of OpenAI's protocol behind "data: ". JSON lets U+0085, U+2028 and U+2029
# stand in a string as they are, and servers write them so (Go's encoding/json escapes only the latter two). ollama 0.6.3 and
# huggingface_hub 2.4.0 read by a function for lines of text that ends a line there, too, and stop in the middle of the answer with a
# JSONDecodeError. U+0085 is the ellipsis of Windows that somebody has read as Latin-1, and U+2028 a soft line end copied from a PDF or a
# layout program: a translation keeps them. openai 3.57.0 of Python and ollama 0.6.4 of npm read the whole.
#
#   ollama: U+0085 JSONDecodeError, U+2028 JSONDecodeError        huggingface_hub: the same
#   openai: U+0085 whole, U+2028 whole                             ollama of npm: the same
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check ollama==0.6.3 huggingface_hub==2.4.0 openai==3.57.0
cd "$work"
npm install --silent --no-audit --no-fund ollama@0.6.4
cat >chat.mjs <<'JS'
import { Ollama } from 'ollama'

let text = ''
for await (const part of await new Ollama({ host: process.argv[2] }).chat({ model: 'm', messages: [], stream: true })) text += part.message.content
process.stdout.write(text)
JS
cat >chat.py <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub
import ollama
import openai

separator = ""
QUESTION = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "stream": True}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        text = f"Bonjour.{separator}Bonsoir."
        if self.path == "/api/chat":
            objects = [{"model": "m", "created_at": "2026-11-30T00:00:00Z", "message": {"role": "assistant", "content": c}, "done": not c} for c in (text, "")]
            start, end = "", "\n"
        else:
            objects = [{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [
                {"index": 0, "delta": {"role": "assistant", "content": c}, "finish_reason": None if c else "stop"}]} for c in (text, "")]
            start, end = "data: ", "\n\n"
        body = "".join(f"{start}{json.dumps(o, ensure_ascii=False)}{end}" for o in objects) + (start and "data: [DONE]\n\n")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if start else "application/x-ndjson")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
hub = huggingface_hub.InferenceClient(base_url=url + "/v1")
programs = {
    "ollama": lambda: "".join(c.message.content for c in ollama.Client(url).chat(**QUESTION)),
    "huggingface_hub": lambda: "".join(c.choices[0].delta.content for c in hub.chat_completion(**QUESTION)),
    "openai": lambda: "".join(c.choices[0].delta.content for c in openai.OpenAI(base_url=url + "/v1", api_key="none").chat.completions.create(**QUESTION)),
    "ollama of npm": lambda: subprocess.run(["node", "chat.mjs", url], check=True, capture_output=True, encoding="utf-8").stdout,
}
for name, ask in programs.items():
    found = []
    for separator in "\n", "\u0085", "\u2028":
        try:
            found.append("whole" if ask() == f"Bonjour.{separator}Bonsoir." else "changed")
        except json.JSONDecodeError as error:
            found.append(type(error).__name__)
    print(f"{name}: line feed {found[0]}, U+0085 {found[1]}, U+2028 {found[2]}")
    expected = ["whole", "whole", "whole"] if name in ("openai", "ollama of npm") else ["whole", "JSONDecodeError", "JSONDecodeError"]
    assert found == expected, "other answers than were seen"
PYTHON
venv/bin/python chat.py
