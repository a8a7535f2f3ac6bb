"""What the scripts of Triton's clients, over HTTP and gRPC, have in common."""

import os

from tritonclient.utils import InferenceServerException

from checks import TOY, check

ADMIN_KEY = "admin" if TOY else os.environ.get("ADMIN_KEY", "")


def fails(what, status, message, call, *args, **options):
    """Checks that a call raises an error with a status, such as 404 or NOT_FOUND, and a part of a message."""
    try:
        got = call(*args, **options)
    except InferenceServerException as e:
        check(what, e.status().removeprefix("StatusCode.") == str(status) and message in e.message(), e)
        return
    check(what, False, got)


def texts(result, name="text"):
    """Reads texts of an answer, which are bytes where they came as binary data."""
    return [v.decode() if isinstance(v, bytes) else v for v in result.as_numpy(name).flatten()]


def translated(what, sources, got):
    """Checks translations: exactly where the server is the toy."""
    ok = len(got) == len(sources) and all(g == s.upper() if TOY else g.strip() and g != s for g, s in zip(got, sources))
    check(what, ok, got)
