"""The client."""

from __future__ import annotations

import collections
import http.client
import os
import time
import urllib.parse
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import ConnectionBrokenError, Error, InvalidAnswerError, service_error
from .job import Job
from .transport import Call, Deadline, T, Transport, checked, encode, query, retryable
from .types import Glossary, JobStatus, Language, Memory, Record, Result, Term, Texts, glossary, job_status, memory, result, results

TermsLike = Iterable[Union[Term, Tuple[str, str]]]


class Client:
    """Sends requests to one dragoman service. It may be used by several threads.

    Translating twice does no harm, so a try that fails for the moment (no connection, a broken one, 429, 502, 503, a proxy's 504) is
    followed by up to `retries` others, after random pauses of up to 0.5, 1, 2 … `max_backoff` seconds on top of the Retry-After of
    the service. All tries of a call have the same request id, and those of a submit the same idempotency key.

    A call takes as long as it takes, or up to `timeout` seconds with all its tries; the service is told the rest of that time. Then
    it raises TimeoutError.
    """

    def __init__(self, url: str = "http://localhost:9527", *, key: Optional[str] = None, retries: int = 3, max_backoff: float = 30.0,
                 max_response_bytes: int = 64 << 20, user_agent: str = "dragoman-python-client") -> None:
        self._transport = Transport(url, key, retries, max_backoff, max_response_bytes, user_agent)

    def translate(self, texts: Texts, *, from_lang: str, to_lang: Union[str, Sequence[str]], timeout: Optional[float] = None,
                  request_id: Optional[str] = None, **fields: Any) -> List[Result]:
        """Return the translations, in the order of the texts; with several languages all in the first one first.

        from_lang may be "auto". fields are the others of docs/api.md, such as model, format, detail, alternatives, glossary_id, memory_id,
        glossary, priority, options.
        """
        q = _Query(texts, from_lang, to_lang, fields)
        call = Call("POST", "/translation", body=q.body(), request_id=request_id)
        return self._transport.ask(call, Deadline(timeout), q.results)

    def stream(self, texts: Texts, *, from_lang: str, to_lang: Union[str, Sequence[str]], timeout: Optional[float] = None,
               request_id: Optional[str] = None, **fields: Any) -> Iterator[Result]:
        """Yield each translation as soon as it arrives, in any order. A stream that breaks off raises ConnectionBrokenError."""
        q = _Query(texts, from_lang, to_lang, fields)
        call = Call("POST", "/translation/stream", body=q.body(), accept="application/x-ndjson", request_id=request_id)
        return self._stream(q, call, Deadline(timeout))

    def _stream(self, q: _Query, call: Call, deadline: Deadline) -> Iterator[Result]:
        def begin() -> Tuple[Optional[Result], Iterator[Result]]:
            rest = self._lines(q, call, deadline)
            return next(rest, None), rest

        first, rest = self._transport.retry(call, deadline, begin)
        if first is not None:
            yield first
            yield from rest

    def _lines(self, q: _Query, call: Call, deadline: Deadline) -> Iterator[Result]:
        left = collections.Counter((to, id) for to in q.langs for id in q.ids)
        got, want, most = 0, len(q.ids) * len(q.langs), self._transport.max_response_bytes
        with self._transport.send(call, deadline) as response:
            while True:
                try:
                    line = response.readline(most + 1)
                except (OSError, http.client.HTTPException) as err:
                    deadline.left()
                    raise ConnectionBrokenError(f"dragoman: the stream was cut off after {got} of {want} results: {err}") from err
                if len(line) > most:
                    raise InvalidAnswerError(f"a line of the stream has more than {most} bytes: send shorter records, or raise max_response_bytes")
                if not line.endswith(b"\n"):
                    raise ConnectionBrokenError(f"dragoman: the stream was cut off after {got} of {want} results")
                if not line.strip():
                    continue
                r, done = checked(lambda event: q.event(event, call.id), line)
                if done:
                    if got != want:
                        raise InvalidAnswerError(f"the stream ended after {got} of {want} results")
                    return
                if r is not None:
                    if not left[r.to_lang, r.id]:
                        raise InvalidAnswerError(f"there is a result too much for record {r.id!r:.100} in {r.to_lang!r}")
                    left[r.to_lang, r.id] -= 1
                    got += 1
                    yield r

    def submit(self, texts: Texts, *, from_lang: str, to_lang: Union[str, Sequence[str]], idempotency_key: Optional[str] = None,
               webhook: Optional[str] = None, timeout: Optional[float] = None, **fields: Any) -> Job:
        """Submit texts that the service translates in the background. The same idempotency_key with the same request is the same job."""
        q = _Query(texts, from_lang, to_lang, fields)
        job = self._submit(Call("POST", "/jobs", body=q.body(webhook), key=_key(idempotency_key)), timeout)
        return Job(self._transport, job.id, q.ids, q.langs, q.named)

    def submit_document(self, content: bytes, name: str, *, from_lang: str, to_lang: str, idempotency_key: Optional[str] = None,
                        webhook: Optional[str] = None, timeout: Optional[float] = None, **fields: Any) -> Job:
        """Submit a file, whose name says what it is. fields are the others of docs/documents.md: columns, header, also, as_, glossary_id, …"""
        values: Dict[str, Optional[str]] = {"fromLang": from_lang, "toLang": to_lang, "name": os.path.basename(name), "webhook": webhook}
        for field, value in fields.items():
            if isinstance(value, Mapping):
                value = encode(value).decode()
            elif isinstance(value, (list, tuple)):
                if any("," in item for item in value):
                    raise ValueError(f"dragoman: {field}: the service takes no name with a comma: use the number of a column")
                value = ",".join(value)
            values[_camel(field)] = None if value is None else str(value)
        call = Call("POST", query("/documents", values), body=content, media="application/octet-stream", key=_key(idempotency_key))
        return Job(self._transport, self._submit(call, timeout).id)

    def _submit(self, call: Call, timeout: Optional[float]) -> JobStatus:
        return self._transport.ask(call, Deadline(timeout), lambda answer: job_status(answer["job"]))

    def job(self, id: str) -> Job:
        """Return a job by its id, without asking the service."""
        return Job(self._transport, id)

    def jobs(self, *, timeout: Optional[float] = None) -> List[JobStatus]:
        """Return the jobs of this client's key, the newest first."""
        return self._get("/jobs", timeout, lambda answer: [job_status(job) for job in answer["jobs"]])

    def create_glossary(self, name: str, terms: TermsLike, *, from_lang: str, to_lang: str, timeout: Optional[float] = None) -> Glossary:
        """Create a glossary with the terms of one dictionary. Where the outcome of a try is unknown there is no other one."""
        body = encode({"name": name, "dictionaries": [_dictionary(terms, from_lang, to_lang)]})
        return self._transport.ask(Call("POST", "/glossaries", body=body, once=True), Deadline(timeout), _one_glossary)

    def set_terms(self, id: str, terms: TermsLike, *, from_lang: str, to_lang: str, timeout: Optional[float] = None) -> Glossary:
        """Replace the terms of a glossary for two languages."""
        body = encode({"dictionaries": [_dictionary(terms, from_lang, to_lang)]})
        return self._transport.ask(Call("PATCH", _path(id), body=body), Deadline(timeout), _one_glossary)

    def glossaries(self, *, timeout: Optional[float] = None) -> List[Glossary]:
        """Return the glossaries of this client's key, the newest first."""
        return self._get("/glossaries", timeout, lambda answer: [glossary(value) for value in answer["glossaries"]])

    def glossary(self, id: str, *, timeout: Optional[float] = None) -> Glossary:
        """Describe a glossary."""
        return self._get(_path(id), timeout, _one_glossary)

    def glossary_terms(self, id: str, *, from_lang: str = "", to_lang: str = "", timeout: Optional[float] = None) -> List[Term]:
        """Return the terms of a glossary for two languages; without them those of its only dictionary."""
        call = Call("GET", query(_path(id) + "/entries", {"from": from_lang, "to": to_lang}), accept="text/tab-separated-values")
        deadline = Deadline(timeout)
        text = self._transport.retry(call, deadline, lambda: self._transport.fetch(call, deadline)).decode()
        return [Term(*line.split("\t")[:2]) for line in text.split("\n") if line]

    def delete_glossary(self, id: str, *, timeout: Optional[float] = None) -> None:
        """Delete a glossary. Jobs that use it go on."""
        self._transport.remove(_path(id), "unknown_glossary", Deadline(timeout))

    def put_memory(self, id: str, content: bytes, *, media: str = "application/x-tmx+xml", from_lang: str = "", to_lang: str = "",
                   keep: bool = False, timeout: Optional[float] = None) -> Memory:
        """Make a file a translation memory: TMX, XLIFF, or TSV with its languages. With keep the present entries stay."""
        path = query(_memory_path(id), {"from": from_lang, "to": to_lang, "keep": "true" if keep else None})
        return self._transport.ask(Call("PUT", path, body=content, media=media), Deadline(timeout), _one_memory)

    def add_to_memory(self, id: str, entries: Iterable[Tuple[str, str]], *, from_lang: str, to_lang: str, timeout: Optional[float] = None) -> Memory:
        """Add sources with their translations to a translation memory, which is made if it does not exist."""
        body = encode({"from": from_lang, "to": to_lang, "entries": [{"source": source, "target": target} for source, target in entries]})
        return self._transport.ask(Call("POST", _memory_path(id) + "/entries", body=body), Deadline(timeout), _one_memory)

    def memories(self, *, timeout: Optional[float] = None) -> List[Memory]:
        """Return the translation memories of this client's key, the newest first."""
        return self._get("/memories", timeout, lambda answer: [memory(value) for value in answer["memories"]])

    def memory(self, id: str, *, timeout: Optional[float] = None) -> Memory:
        """Describe a translation memory."""
        return self._get(_memory_path(id), timeout, _one_memory)

    def export_memory(self, id: str, *, timeout: Optional[float] = None) -> bytes:
        """Return the entries of a translation memory as TMX."""
        call = Call("GET", _memory_path(id) + "/entries", accept="application/x-tmx+xml")
        deadline = Deadline(timeout)
        return self._transport.retry(call, deadline, lambda: self._transport.fetch(call, deadline))

    def delete_memory(self, id: str, *, timeout: Optional[float] = None) -> None:
        """Delete a translation memory."""
        self._transport.remove(_memory_path(id), "unknown_memory", Deadline(timeout))

    def languages(self, *, model: str = "", timeout: Optional[float] = None) -> List[Language]:
        """Return the languages, each with those that it can be translated into."""
        return self._get(query("/languages", {"model": model}), timeout, lambda answer: [
            Language(v["code"], v["name"], v["nativeName"], tuple(v["targets"])) for v in answer
        ])

    def info(self, *, timeout: Optional[float] = None) -> Mapping[str, Any]:
        """Return the service's description of itself: name, version, model, models."""
        return self._get("/", timeout, dict)

    def wait_ready(self, *, timeout: Optional[float] = None) -> None:
        """Ask four times a second until the service is ready, also where it does not run yet. Raises TimeoutError, or what waiting does not mend."""
        deadline = Deadline(timeout)
        while True:
            try:
                self._transport.fetch(Call("GET", "/readyz"), deadline)
                return
            except (Error, ConnectionBrokenError) as err:
                if not retryable(err):
                    raise
            deadline.left()
            time.sleep(0.25)

    def _get(self, path: str, timeout: Optional[float], read: Callable[[Any], T]) -> T:
        return self._transport.ask(Call("GET", path), Deadline(timeout), read)


class _Query:
    """A request for translations, with what its answer must have."""

    def __init__(self, texts: Texts, from_lang: str, to_lang: Union[str, Sequence[str]], fields: Mapping[str, Any]) -> None:
        listed = [texts] if isinstance(texts, (str, Record)) else list(texts)
        records = [text if isinstance(text, Record) else Record(str(i), text) for i, text in enumerate(listed)]
        self.ids = [record.id for record in records]
        self.named = not isinstance(to_lang, str)
        self.langs = [to_lang] if isinstance(to_lang, str) else list(to_lang)
        self._payload: Dict[str, Any] = {_camel(name): _plain(value) for name, value in fields.items() if value is not None}
        self._payload["fromLang"] = from_lang
        self._payload["toLangs" if self.named else "toLang"] = self.langs if self.named else self.langs[0]
        self._payload["records"] = [{"id": record.id, "text": record.text} for record in records]

    def body(self, webhook: Optional[str] = None) -> bytes:
        body: Dict[str, Any] = {"payload": self._payload}
        if webhook:
            body["webhook"] = webhook
        return encode(body)

    def event(self, event: Any, request_id: str) -> Tuple[Optional[Result], bool]:
        """Return the result of a line of a stream, and whether the stream is complete. Raises the error of a line."""
        if "error" in event:
            raise service_error(event["error"], request_id=request_id) or InvalidAnswerError("the stream has an error without a code")
        return result(event["result"], self.langs, self.named) if "result" in event else None, "done" in event

    def results(self, answer: Any) -> List[Result]:
        return results(answer["result"], self.ids, self.langs, self.named)


def _plain(value: Any) -> Any:
    """Return a field's value as JSON has it: terms as objects, the names of options as the service spells them."""
    if isinstance(value, Term):
        return {"source": value.source, **({"target": value.target} if value.target else {})}
    if isinstance(value, Mapping):
        return {_camel(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def _key(given: Optional[str]) -> str:
    key = Call("GET", "").id if given is None else given
    if not 1 <= len(key) <= 200 or any(not "!" <= c <= "~" for c in key):
        raise ValueError("dragoman: idempotency_key has more than 200 characters, or others than visible ASCII ones")
    return key


def _dictionary(terms: TermsLike, from_lang: str, to_lang: str) -> Dict[str, Any]:
    return {"from": from_lang, "to": to_lang, "entries": [_plain(term if isinstance(term, Term) else Term(*term)) for term in terms]}


def _one_glossary(answer: Any) -> Glossary:
    return glossary(answer["glossary"])


def _one_memory(answer: Any) -> Memory:
    return memory(answer["memory"])


def _memory_path(id: str) -> str:
    return "/memories/" + urllib.parse.quote(id, safe="")


def _path(id: str) -> str:
    return "/glossaries/" + urllib.parse.quote(id, safe="")
