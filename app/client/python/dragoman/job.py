"""Jobs, which the service goes on with whether or not anyone waits."""

from __future__ import annotations

import http.client
import urllib.parse
from typing import Any, Iterator, Optional, Sequence

from .errors import ConnectionBrokenError, Error, InvalidAnswerError, JobCancelledError
from .transport import Call, Deadline, Transport, checked, retryable
from .types import JobStatus, Result, job_status, result, results

SILENCE = 60.0
"""The longest time without data in a stream of events, in seconds: the service sends comments more often."""

MAX_LINE = 64 << 10


class Job:
    """A job of the service. Any process gets it by its id; it holds nothing, and can be dropped at any time."""

    def __init__(self, transport: Transport, id: str, ids: Optional[Sequence[str]] = None, langs: Sequence[str] = (), named: bool = False) -> None:
        self._transport, self.id = transport, id
        self._ids, self._langs, self._named = ids, langs, named  # what it was submitted with, where that is known
        self._path = "/jobs/" + urllib.parse.quote(id, safe="")

    def status(self, *, timeout: Optional[float] = None) -> JobStatus:
        """Return the state of the job. Raises Error with the code unknown_job if the service does not know it (any more)."""
        return self._transport.ask(Call("GET", self._path), Deadline(timeout), self._status)

    def events(self, *, timeout: Optional[float] = None) -> Iterator[JobStatus]:
        """Yield the state of the job now, and after each change, until it has ended.

        A connection that breaks is opened again, as often as it takes; where a proxy lets no events through, the service is asked
        again and again.
        """
        deadline, listen, failures = Deadline(timeout), True, 0
        id = Call("GET", self._path).id  # of all tries
        last: Optional[JobStatus] = None
        while True:
            received, cause = False, Exception()
            try:
                for status in self._listen(deadline, id) if listen else self._poll(deadline, id):
                    received = True
                    if status != last:
                        last, failures = status, 0
                        yield status
                    if status.ended:
                        return
                listen = listen and received  # else a proxy lets no events through
                cause = ConnectionBrokenError(f"dragoman: job {self.id} has not ended")
            except (Error, ConnectionBrokenError) as err:
                if not retryable(err):
                    raise
                cause = err
            self._transport.sleep(cause, failures, deadline)
            failures += 1

    def wait(self, *, timeout: Optional[float] = None) -> list[Result]:
        """Return the results as soon as the job has ended, also if the service restarts meanwhile.

        Raises the Error of a job that failed, JobCancelledError if it was cancelled, TimeoutError when the time is over; the job
        goes on then.
        """
        deadline = Deadline(timeout)
        self._finish(deadline)
        call = Call("GET", self._path)
        return self._transport.persist(deadline, lambda: self._transport.read(call, deadline, self._results))

    def document(self, *, timeout: Optional[float] = None) -> bytes:
        """Return the translated document as soon as the job has ended. Raises what wait raises."""
        deadline = Deadline(timeout)
        self._finish(deadline)
        call = Call("GET", f"/documents/{urllib.parse.quote(self.id, safe='')}/result", accept="*/*")
        return self._transport.persist(deadline, lambda: self._transport.fetch(call, deadline))

    def cancel(self, *, timeout: Optional[float] = None) -> None:
        """End the job; one that has ended is removed with its results."""
        self._transport.remove(self._path, "unknown_job", Deadline(timeout))

    def _finish(self, deadline: Deadline) -> None:
        for status in self.events(timeout=deadline.left()):
            if status.state == "failed" and status.error is not None:
                raise status.error
            if status.state == "cancelled":
                raise JobCancelledError(f"job {self.id} was cancelled")

    def _status(self, answer: Any) -> JobStatus:
        status = job_status(answer["job"])
        if status.id != self.id:
            raise InvalidAnswerError(f"the answer is about job {status.id!r:.100}, expected {self.id!r:.100}")
        return status

    def _results(self, answer: Any) -> list[Result]:
        self._status(answer)
        if self._ids is not None:
            return results(answer["result"], self._ids, self._langs, self._named)
        if "result" not in answer:
            raise InvalidAnswerError("the job has no results: use document() for one of a document")
        return [result(value, ("",), True) for value in answer["result"]]

    def _poll(self, deadline: Deadline, id: str) -> Iterator[JobStatus]:
        yield self._transport.read(Call("GET", self._path, request_id=id), deadline, self._status)

    def _listen(self, deadline: Deadline, id: str) -> Iterator[JobStatus]:
        """Yield the states of one stream of events, up to where it breaks off."""
        try:
            response = self._transport.send(Call("GET", self._path + "/events", accept="text/event-stream", request_id=id), deadline, SILENCE)
        except ConnectionBrokenError as err:
            if isinstance(err.__cause__, TimeoutError):
                return  # nothing comes, not even headers
            raise
        with response:
            if response.headers.get_content_type() != "text/event-stream":
                return
            event, data = "", ""
            while True:
                try:
                    line = response.readline(MAX_LINE + 1)
                except (OSError, http.client.HTTPException):
                    deadline.left()
                    return
                if not line.endswith(b"\n"):
                    return
                name, _, value = line.decode(errors="replace").rstrip("\r\n").partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "event":
                    event = value
                elif name == "data":
                    data += value
                elif not line.strip():
                    if event == "job" and data:
                        yield checked(self._status, data.encode())
                    event, data = "", ""
