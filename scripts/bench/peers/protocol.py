"""The protocol of an offline side: a process that loads its model once and decodes
a batch for each line of standard input, so that sides can take turns.

    ready    {"ready": true, "versions": {"torch": "2.15.0"}}
    request  {"sources": [[8018, 17, 2]], "target": 8027, "beams": 5, "length": 32}
    answer   {"seconds": 1.25, "ids": [[5, 7, 9]]}  or  {"error": "why not"}

Sources are [language token, pieces, </s>]. length is the number of ids to generate
for each, with </s> banned; answers hold the best hypothesis without the prefix.
"""
import json
import sys
import time


def serve(versions, decode):
    """Answers requests with decode(sources, target, beams, length) -> ids."""
    out = sys.stdout
    sys.stdout = sys.stderr  # output of libraries must not break the protocol

    def answer(**fields):
        print(json.dumps(fields), file=out, flush=True)

    answer(ready=True, versions=versions)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            begin = time.perf_counter()
            ids = decode(**request)
            answer(seconds=time.perf_counter() - begin, ids=ids)
        except (RuntimeError, ValueError, MemoryError) as e:
            answer(error=f"{type(e).__name__}: {e}")
