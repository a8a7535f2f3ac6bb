"""A thin service over fxtranslate, with LibreTranslate's POST /translate: serve_fxtranslate.py MODEL_FOLDER PORT

fxtranslate translates one sentence after the other and keeps Python's lock meanwhile: a process for each core does it.
"""
import glob
import json
import multiprocessing
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")


def load(folder):
    import fxtranslate
    global engine
    model, vocabulary = (open(glob.glob(os.path.join(folder, name))[0], "rb").read() for name in ("model.*.bin", "vocab.*.spm"))
    engine = fxtranslate.Translator(model, vocabulary, vocabulary)


def translate(sentence):
    return engine.translate(sentence)


class Server(ThreadingHTTPServer):
    request_queue_size = 256


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pool = None

    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
        texts = [SENTENCE_END.split(text.strip()) for text in (q if isinstance(q, list) else [q])]
        made = iter(self.pool.map(translate, [sentence for text in texts for sentence in text], chunksize=4))
        made = [" ".join(next(made) for _ in text) for text in texts]
        body = json.dumps({"translatedText": made if isinstance(q, list) else made[0]}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def log_message(self, *_):
        pass


def main(folder, port):
    Handler.pool = multiprocessing.Pool(os.cpu_count(), load, (folder,))
    Server(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
