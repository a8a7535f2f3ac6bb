"""What requests and answers are made of. Fields are named as in docs/api.md, in Python's spelling."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from .errors import Error, InvalidAnswerError, service_error


@dataclasses.dataclass(frozen=True)
class Record:
    """A text with an id, which the answer repeats. Ids may repeat and be empty."""

    id: str
    text: str


Texts = Union[str, Record, Sequence[Union[str, Record]]]
"""One text, or several. Texts without an id have their position, from "0" on."""


@dataclasses.dataclass(frozen=True)
class Term:
    """A term and what it becomes. Without a target it stays as it is."""

    source: str
    target: str = ""


@dataclasses.dataclass(frozen=True)
class Alternative:
    text: str
    score: float


@dataclasses.dataclass(frozen=True)
class Result:
    """A record's translation.

    detail has how the translation was made, with the names of docs/api.md, if the request has detail=True. alternatives are the best
    translations, the best first, if they were requested. error is why this record alone has no translation, such as one of code
    "unfinished"; text is "" then.
    """

    id: str
    text: str
    to_lang: str
    detail: Optional[Mapping[str, Any]] = None
    alternatives: Sequence[Alternative] = ()
    error: Optional[Error] = dataclasses.field(default=None, compare=False)

    @property
    def flags(self) -> Sequence[str]:
        """What looks wrong after all retries, such as "truncated" or "loop"; needs detail=True."""
        return tuple((self.detail or {}).get("flags", ()))


@dataclasses.dataclass(frozen=True)
class Progress:
    records: int = 0
    done: int = 0
    flagged: int = 0
    characters: int = 0


@dataclasses.dataclass(frozen=True)
class JobStatus:
    """A job at some moment. state is queued, running, done, failed or cancelled; times that are not known yet are None."""

    id: str
    state: str
    created: Optional[datetime.datetime] = None
    started: Optional[datetime.datetime] = None
    finished: Optional[datetime.datetime] = None
    expires: Optional[datetime.datetime] = None
    progress: Progress = Progress()
    document: Optional[Mapping[str, Any]] = None
    error: Optional[Error] = dataclasses.field(default=None, compare=False)

    @property
    def ended(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


@dataclasses.dataclass(frozen=True)
class Dictionary:
    """Describes a glossary's terms for two languages."""

    from_lang: str
    to_lang: str
    terms: int


@dataclasses.dataclass(frozen=True)
class Glossary:
    """Describes a glossary that the service stores, without its terms."""

    id: str
    name: str
    created: Optional[datetime.datetime]
    changed: Optional[datetime.datetime]
    dictionaries: Sequence[Dictionary]


@dataclasses.dataclass(frozen=True)
class Memory:
    """Describes a translation memory, without its entries. languages are mappings with from, to and entryCount."""

    id: str
    created: Optional[datetime.datetime]
    changed: Optional[datetime.datetime]
    entries: int
    languages: Sequence[Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class Language:
    code: str
    name: str
    native_name: str
    targets: Sequence[str]


def moment(value: object) -> Optional[datetime.datetime]:
    """Parse a time of the service."""
    if not isinstance(value, str):
        return None
    text = value.replace("Z", "+00:00")
    whole, point, rest = text.partition(".")
    if point:  # Python 3.10 and older know three or six decimals only
        zone = max(rest.find("+"), rest.find("-"))
        digits, offset = (rest[:zone], rest[zone:]) if zone >= 0 else (rest, "")
        text = f"{whole}.{digits[:6]:0<6}{offset}"
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise InvalidAnswerError(f"{value!r:.100} is no time") from None


def job_status(value: object) -> JobStatus:
    """Parse a job."""
    if not isinstance(value, dict) or not value.get("id") or not value.get("state"):
        raise InvalidAnswerError("the job has no id or no state")
    counts = value.get("progress")
    known = {field.name for field in dataclasses.fields(Progress)}
    progress = Progress(**{name: count for name, count in counts.items() if name in known}) if isinstance(counts, dict) else Progress()
    error = service_error(value.get("error"))
    if error is None and value["state"] == "failed":
        error = Error("the service does not say why the job failed")
    times = {name: moment(value.get(name)) for name in ("created", "started", "finished", "expires")}
    return JobStatus(value["id"], value["state"], progress=progress, document=value.get("document"), error=error, **times)


def memory(value: object) -> Memory:
    """Parse a translation memory."""
    if not isinstance(value, Mapping) or not value.get("id"):
        raise InvalidAnswerError("the translation memory has no id")
    return Memory(value["id"], moment(value.get("created")), moment(value.get("changed")), value.get("entryCount", 0), tuple(value.get("languages") or ()))


def glossary(value: object) -> Glossary:
    """Parse a glossary."""
    if not isinstance(value, dict) or not value.get("id"):
        raise InvalidAnswerError("the glossary has no id")
    dictionaries = tuple(Dictionary(d["from"], d["to"], d["entryCount"]) for d in value.get("dictionaries", ()))
    return Glossary(value["id"], value.get("name", ""), moment(value.get("created")), moment(value.get("changed")), dictionaries)


def results(answers: object, ids: Sequence[str], langs: Sequence[str], named: bool) -> list[Result]:
    """Parse results and check that they are those of a request, in its order."""
    if not isinstance(answers, list) or len(answers) != len(ids) * len(langs):
        count = len(answers) if isinstance(answers, list) else 0
        raise InvalidAnswerError(f"there are {count} results for {len(ids)} records × {len(langs)} languages")
    made = [result(answer, langs, named) for answer in answers]
    for i, got in enumerate(made):
        id, to_lang = ids[i % len(ids)], langs[i // len(ids)]
        if (got.id, got.to_lang) != (id, to_lang):
            raise InvalidAnswerError(f"result {i} is of record {got.id!r:.100} in {got.to_lang!r}, expected {id!r:.100} in {to_lang!r}")
    return made


def result(value: object, langs: Sequence[str], named: bool) -> Result:
    """Parse a result. Without named it is in the only language."""
    error = None
    if isinstance(value, dict) and value.get("error"):
        error = service_error(value["error"]) or Error("the service does not say why a record failed")
        value = {**value, "text": ""}
    if not isinstance(value, dict) or not isinstance(value.get("id"), str) or not isinstance(value.get("text"), str):
        raise InvalidAnswerError("a result has no id or no text")
    to_lang = value.get("toLang", "") if named else langs[0]
    alternatives = tuple(Alternative(a["text"], a["score"]) for a in value.get("alternatives") or ())
    return Result(value["id"], value["text"], to_lang, value.get("detail"), alternatives, error)
