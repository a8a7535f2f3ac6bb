"""Translates with a dragoman service.

    from dragoman import Client

    client = Client("http://localhost:9527")
    for result in client.translate(["Where is the station?"], from_lang="en", to_lang="fr"):
        print(result.text)

stream() yields each translation as soon as it is there, submit() and submit_document() return a job, create_glossary() stores terms, put_memory() translations.
"""

from .client import Client
from .errors import ConnectionBrokenError, Error, InvalidAnswerError, JobCancelledError, ServiceTimeoutError
from .job import Job
from .types import Alternative, Dictionary, Glossary, JobStatus, Language, Memory, Progress, Record, Result, Term

__all__ = [
    "Alternative", "Client", "ConnectionBrokenError", "Dictionary", "Error", "Glossary", "InvalidAnswerError", "Job", "JobCancelledError",
    "JobStatus", "Language", "Memory", "Progress", "Record", "Result", "ServiceTimeoutError", "Term",
]
