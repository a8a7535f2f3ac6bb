"""A side of the offline benchmark as a process (see peers/protocol.py)."""
import contextlib
import json
import os
import queue
import subprocess
import threading

import settings


class SideError(Exception):
    """A side that failed: it died, took too long, or said so."""


class Side:
    """One side. It is started when it is used first, and again after it failed."""

    START_SECONDS = 180

    def __init__(self, name, command, env=None):
        self.name, self.command, self.env = name, command, env or {}
        self.process, self.versions = None, {}

    def decode(self, timeout, **request):
        """The answer to a request. SideError on any failure; the side is stopped then."""
        try:
            if self.process is None:
                self._start()
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self._line(timeout)
        except OSError as e:
            self.stop()
            raise SideError(f"{self.name}: {e}") from e
        if "error" in answer:
            self.stop()
            raise SideError(f"{self.name}: {answer['error']}")
        return answer

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(OSError):  # a request that was not read
                self.process.stdin.close()
            self.process = None

    def _start(self):
        log = open(settings.built("log", self.name + ".log"), "a", encoding="utf8")
        env = {**os.environ, "OMP_NUM_THREADS": str(settings.THREADS), **self.env}
        self.process = subprocess.Popen(self.command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=log, text=True)
        log.close()
        self.lines = queue.Queue()
        threading.Thread(target=_read, args=(self.process.stdout, self.lines), daemon=True).start()
        self.versions = self._line(self.START_SECONDS)["versions"]

    def _line(self, timeout):
        try:
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            self.stop()
            raise SideError(f"{self.name}: no answer within {timeout:.0f} s") from None
        if line is None:
            code = self.process.wait()
            self.stop()
            raise SideError(f"{self.name}: ended with status {code}, see its log")
        return json.loads(line)


def _read(stream, lines):
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)
