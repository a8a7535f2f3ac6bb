"""Sends requests, again where that may help: see Client."""

from __future__ import annotations

import datetime
import email.utils
import http.client
import json
import random
import re
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import IO, Any, Callable, Dict, Optional, TypeVar

from .errors import ConnectionBrokenError, Error, InvalidAnswerError, service_error

T = TypeVar("T")

FIRST_PAUSE = 0.5
"""The longest pause before the second try, in seconds; it doubles with each try."""

MAX_ERROR_BYTES = 64 << 10

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows redirections of GET within the service: another method would become GET, and another host would be sent the key."""

    def redirect_request(self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> Optional[urllib.request.Request]:
        before, after = urllib.parse.urlsplit(req.full_url), urllib.parse.urlsplit(newurl)
        if req.get_method() != "GET" or (before.scheme, before.netloc) != (after.scheme, after.netloc):
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Deadline:
    """The time that a call may take; None: as long as it takes."""

    def __init__(self, timeout: Optional[float]) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> Optional[float]:
        """Return the seconds that are left. Raises TimeoutError if none are."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left < 0.001:
            raise TimeoutError("dragoman: the time of the call is over")
        return left


class Call:
    """A request, the same at each try but for the time that is left."""

    def __init__(self, method: str, path: str, *, body: Optional[bytes] = None, media: str = "application/json", accept: str = "application/json",
                 key: str = "", once: bool = False, request_id: Optional[str] = None) -> None:
        self.method, self.path, self.body, self.media, self.accept = method, path, body, media, accept
        self.key = key
        self.once = once  # a second try would have another effect
        self.id = request_id or uuid.uuid4().hex
        if not _REQUEST_ID.fullmatch(self.id):
            raise ValueError("dragoman: request_id has more than 128 characters, or others than letters, digits and ._:/+=-")


class Transport:
    def __init__(self, url: str, key: Optional[str], retries: int, max_backoff: float, max_response_bytes: int, user_agent: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"dragoman: the URL is {url!r}: use one such as http://localhost:9527")
        if parts.query or parts.fragment:
            raise ValueError("dragoman: leave out of the URL what follows ? or #")
        if any(c < " " or c == "\x7f" for c in (key or "") + user_agent):
            raise ValueError("dragoman: key or user_agent has control characters, such as the end of a line: leave them out")
        if retries < 0 or max_backoff < 0 or max_response_bytes <= 0:
            raise ValueError("dragoman: retries and max_backoff are 0 or more, max_response_bytes is more than 0")
        self.base = url.rstrip("/")
        self.key, self.retries, self.max_backoff = key, retries, max_backoff
        self.max_response_bytes, self.user_agent = max_response_bytes, user_agent
        handlers: list[urllib.request.BaseHandler] = [_SameOrigin()]
        if parts.hostname == "localhost" or parts.hostname.startswith("127.") or parts.hostname == "::1":
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def send(self, call: Call, deadline: Deadline, silence: Optional[float] = None) -> http.client.HTTPResponse:
        """Make one try. silence limits the time without data."""
        left = deadline.left()
        headers = {"Accept": call.accept, "User-Agent": self.user_agent, "X-Request-Id": call.id}
        if call.body is not None:
            headers["Content-Type"] = call.media
        if self.key:
            headers["Authorization"] = "Bearer " + self.key
        if call.key:
            headers["Idempotency-Key"] = call.key
        if left is not None and left <= 86400:
            headers["Request-Timeout"] = f"{left:.3f}"
        waits = [t for t in (left, silence) if t is not None]
        request = urllib.request.Request(self.base + call.path, data=call.body, headers=headers, method=call.method)
        try:
            return self._opener.open(request, timeout=min(waits) if waits else None)  # type: ignore[no-any-return]
        except urllib.error.HTTPError as answer:
            with answer:
                raise _error_of(answer, call.id) from None
        except (OSError, http.client.HTTPException) as err:
            deadline.left()
            raise ConnectionBrokenError(f"dragoman: {err}") from err

    def fetch(self, call: Call, deadline: Deadline) -> bytes:
        """Make one try and return the answer's body."""
        with self.send(call, deadline) as response:
            try:
                body = response.read(self.max_response_bytes + 1)
            except (OSError, http.client.HTTPException) as err:
                deadline.left()
                raise ConnectionBrokenError(f"dragoman: the answer was cut off: {err}") from err
            # Unlike without a limit, read returns less without an error.
            if len(body) <= self.max_response_bytes and response.length:
                raise ConnectionBrokenError(f"dragoman: the answer was cut off after {len(body)} bytes")
        if len(body) > self.max_response_bytes:
            raise InvalidAnswerError(f"the answer has more than {self.max_response_bytes} bytes: send fewer records, or raise max_response_bytes")
        return body

    def retry(self, call: Call, deadline: Deadline, attempt: Callable[[], T]) -> T:
        """Call attempt until it succeeds, fails for good, or has failed retries + 1 times."""
        for n in range(self.retries + 1):
            try:
                return attempt()
            except (Error, ConnectionBrokenError) as err:
                if n == self.retries or not retryable(err) or call.once and isinstance(err, ConnectionBrokenError):
                    raise
                pause, ok = self.pause(err, n)
                left = deadline.left()
                if not ok or left is not None and left <= pause:
                    raise
            time.sleep(pause)
        raise AssertionError("unreachable")

    def persist(self, deadline: Deadline, attempt: Callable[[], T]) -> T:
        """Call attempt until it succeeds or fails for good, or the time is over: also while the service restarts."""
        failures = 0
        while True:
            try:
                return attempt()
            except (Error, ConnectionBrokenError) as err:
                if not retryable(err):
                    raise
                self.sleep(err, failures, deadline)
                failures += 1

    def sleep(self, err: Exception, failures: int, deadline: Deadline) -> None:
        """Pause after a failure. Raises TimeoutError where that would be too long for the call."""
        pause, _ = self.pause(err, min(failures, 16))
        left = deadline.left()
        if left is not None and left <= pause:
            raise TimeoutError(f"dragoman: the time of the call is over, after: {err}") from err
        time.sleep(pause)

    def pause(self, err: Exception, tries: int) -> tuple[float, bool]:
        """Return the pause after a failure, and whether it is no longer than max_backoff."""
        asked = err.retry_after if isinstance(err, Error) else 0
        pause = random.uniform(0, min(FIRST_PAUSE * 2**tries, self.max_backoff)) + asked
        return min(pause, max(self.max_backoff, asked)), asked <= self.max_backoff

    def read(self, call: Call, deadline: Deadline, read: Callable[[Any], T]) -> T:
        """Make one try and return what read makes of the answer's JSON."""
        return checked(read, self.fetch(call, deadline))

    def ask(self, call: Call, deadline: Deadline, read: Callable[[Any], T]) -> T:
        """Return what read makes of the answer's JSON, after as many tries as it takes."""
        return self.retry(call, deadline, lambda: self.read(call, deadline, read))

    def remove(self, path: str, unknown: str, deadline: Deadline) -> None:
        """Delete what is at a path. After a try whose answer was lost, what is not there any more is deleted."""
        call = Call("DELETE", path)
        tries = 0

        def attempt() -> None:
            nonlocal tries
            tries += 1
            try:
                self.fetch(call, deadline)
            except Error as err:
                if tries == 1 or err.code != unknown:
                    raise

        self.retry(call, deadline, attempt)


def checked(read: Callable[[Any], T], body: bytes) -> T:
    """Return what read makes of JSON."""
    try:
        return read(json.loads(body))
    except ValueError as err:
        raise InvalidAnswerError(f"{len(body)} bytes are no JSON: {err}") from None
    except (KeyError, TypeError, AttributeError, IndexError) as err:
        raise InvalidAnswerError(f"{len(body)} bytes are not as the API has them: {err!r}") from None


def encode(value: object) -> bytes:
    """Return JSON in UTF-8. Raises ValueError for text that UTF-8 cannot have."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as err:
        raise ValueError(f"dragoman: a text has half of a surrogate pair, which is no character: {err}") from None


def query(path: str, values: Dict[str, Optional[str]]) -> str:
    """Return a path with the values that are not empty as its query."""
    encoded = urllib.parse.urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{encoded}" if encoded else path


def retryable(err: Exception) -> bool:
    """Tell whether another try may succeed. It is always safe, for translating twice does no harm."""
    if isinstance(err, Error):
        return err.temporary
    cause = err.__cause__
    cause = getattr(cause, "reason", cause)
    unknown_host = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
    return isinstance(err, ConnectionBrokenError) and not unknown_host and not isinstance(cause, ssl.SSLError)


def _error_of(answer: urllib.error.HTTPError, sent_id: str) -> Error:
    """Return the error of an answer: the service's own, {"error": "what happened"} of compatible routes, or a proxy's."""
    try:
        raw = answer.read(MAX_ERROR_BYTES)
    except (OSError, http.client.HTTPException):
        raw = b""  # the status says the most
    status, request_id, wait = answer.code, answer.headers.get("X-Request-Id") or sent_id, _retry_after(answer.headers)
    try:
        value = json.loads(raw)
    except ValueError:
        value = None
    told = value.get("error") if isinstance(value, dict) else None
    own = service_error(told, status=status, request_id=request_id, retry_after=wait)
    if own is not None:
        return own
    message = answer.reason or "error"
    if isinstance(told, str):
        message = told
    elif 300 <= status < 400:
        message = f"the service has moved to {answer.headers.get('Location')}: use its address as the URL"
    elif raw:
        message = f"{message}: {' '.join(raw[:200].decode(errors='replace').split())}"
    return Error(message, status=status, request_id=request_id, retry_after=wait)


def _retry_after(headers: Any) -> float:
    """Return the seconds that an answer asks to wait, relative to its own date if it has one; 0 if it does not ask."""
    value = headers.get("Retry-After") or ""
    if value.isascii() and value.isdigit():
        return float(min(int(value), 10**9))
    try:
        at = email.utils.parsedate_to_datetime(value)
        now = email.utils.parsedate_to_datetime(headers["Date"]) if headers.get("Date") else datetime.datetime.now(datetime.timezone.utc)
        return max(0.0, (at - now).total_seconds())
    except (TypeError, ValueError):
        return 0
