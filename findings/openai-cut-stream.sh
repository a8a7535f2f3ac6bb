#!/usr/bin/env bash
# OpenAI's client for Python takes an answer that was cut off for a whole one.
#
# A streamed answer ends with a finish_reason and "data: [DONE]". When a server or a proxy between ends the body cleanly before that, as on a
# restart or at its limit of time, openai 3.57.0 of Python ends the loop as usual, and get_final_completion() of its helper gives the half
# answer, with finish_reason None. In the same place finalChatCompletion() of openai 6.49.0 for Node.js throws; its loop does not.
# Only who looks at finish_reason of the last choice notices that half of the text is missing.
#
#   Python, loop: Bon, end        Python, helper: Bon, None
#   Node.js, loop: Bon, end       Node.js, helper: missing finish_reason for choice 0
#
# The script fails if that changes. It needs Python 3.11, PyPI, Node.js 20 and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0
cd "$work"
npm install --silent --no-audit --no-fund openai@6.49.0
cat >ask.mjs <<'JS'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'none', maxRetries: 0 })
const question = { model: 'm', messages: [{ role: 'user', content: 'Good morning.' }] }
let text = ''
for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) text += chunk.choices[0].delta.content
console.log(`Node.js, loop: ${text}, end`)
await client.chat.completions.stream(question).finalChatCompletion().then(
  (whole) => console.log(`Node.js, helper: ${whole.choices[0].message.content}`),
  (error) => console.log(`Node.js, helper: ${error.message}`),
)
JS
cat >ask.py <<'PYTHON'
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openai

CHUNK = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m",
         "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Bon"}, "finish_reason": None}]}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):  # one chunk of "Bonjour.", and the end of the body
        self.rfile.read(int(self.headers["Content-Length"]))
        body = f"data: {json.dumps(CHUNK)}\n\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
question = {"model": "m", "messages": [{"role": "user", "content": "Good morning."}]}
text = "".join(chunk.choices[0].delta.content for chunk in client.chat.completions.create(**question, stream=True))
print(f"Python, loop: {text}, end")
with client.chat.completions.stream(**question) as stream:
    choice = stream.get_final_completion().choices[0]
print(f"Python, helper: {choice.message.content}, {choice.finish_reason}")
print(subprocess.run(["node", "ask.mjs", url], check=True, capture_output=True, text=True).stdout, end="")
PYTHON
venv/bin/python ask.py | tee found
diff found - <<'SEEN' || { echo "other answers than were seen" >&2; exit 1; }
Python, loop: Bon, end
Python, helper: Bon, None
Node.js, loop: Bon, end
Node.js, helper: missing finish_reason for choice 0
SEEN
