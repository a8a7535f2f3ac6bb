"""Errors of the client and of the service."""

from __future__ import annotations

from typing import Optional

_TEMPORARY = frozenset((
    "busy", "not_ready", "model_broken", "stuck", "broker_unavailable", "shutting_down", "rate_limited", "too_many_jobs", "jobs_unavailable",
    "glossaries_unavailable", "memories_unavailable", "too_many_sessions",
))


class Error(Exception):
    """An error answer of the service.

    status is that of HTTP, 0 for an error within a stream or of a job; code is one of those of docs/api.md, "" if the answer is
    not the service's; field names the field of the request that is meant, such as payload.records[3].text, or is "";
    request_id is the id of the request in the service's log; retry_after are the seconds that the service asks to wait, or 0.
    """

    def __init__(self, message: str, *, status: int = 0, code: str = "", field: str = "", request_id: str = "", retry_after: float = 0) -> None:
        self.message, self.status, self.code, self.field = message, status, code, field
        self.request_id, self.retry_after = request_id, retry_after
        prefix = " ".join(part for part in (str(status or ""), code) if part)
        suffix = f" (request id {request_id})" if request_id else ""
        super().__init__(f"dragoman: {prefix}{': ' if prefix else ''}{message}{suffix}")

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed in a moment. The service's own timeout is not temporary: the request would take as long again."""
        return self.code in _TEMPORARY or self.status in (429, 502, 503) or (self.status == 504 and self.code != "timeout")


class ServiceTimeoutError(Error, TimeoutError):
    """The service did not finish in the time that it, or the call, allows."""


class InvalidAnswerError(Exception):
    """The answer does not belong to the request: not JSON, too large, other ids or another number of results."""


class ConnectionBrokenError(ConnectionError):
    """There was no answer, or a part of one. The outcome of the request is unknown."""


class JobCancelledError(Exception):
    """The job was cancelled."""


def service_error(value: object, *, status: int = 0, request_id: str = "", retry_after: float = 0) -> Optional[Error]:
    """Return the error of the service's form {"code": …, "message": …}; None for another value."""
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        return None
    kind = ServiceTimeoutError if value["code"] == "timeout" else Error
    return kind(
        str(value.get("message", "")), status=status, code=value["code"], field=str(value.get("field", "")), request_id=request_id, retry_after=retry_after
    )
