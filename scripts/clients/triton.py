"""Runs Triton's published Python client against a server: triton.py BASE_URL [toy].

With "toy" the server is the one in server/, and answers are known exactly. ADMIN_KEY is a key
that may load and unload models, in a service with a repository.
"""

import asyncio
import os
import pathlib
import re
import sys

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio

from checks import TOY, check, report, using
from tritonchecks import ADMIN_KEY, fails, texts, translated

GRPC = os.environ.get("GRPC_URL", "localhost:8001")
BASE = sys.argv[1].rstrip("/").removeprefix("http://")


def key():
    """Makes headers with the key. The client adds its own to those that it is given."""
    return {"Authorization": f"Bearer {ADMIN_KEY}"} if ADMIN_KEY else {}


def tensor(name, values, shape=None, binary=True, kind=triton):
    """Makes an input of texts, as a column where shape says nothing else."""
    shape = shape or [len(values), 1]
    made = kind.InferInput(name, shape, "BYTES")
    made.set_data_from_numpy(np.array([v.encode() for v in values], dtype=np.object_).reshape(shape), binary_data=binary)
    return made


def describes(client):
    check("live", client.is_server_live(headers=key()))
    check("ready", client.is_server_ready(headers=key()))
    about = client.get_server_metadata(headers=key())
    check("server", about["name"] == "dragoman" and "binary_tensor_data" in about["extensions"], about)
    index = client.get_model_repository_index(headers=key())
    name, version = next((m["name"], m["version"]) for m in index if m["state"] == "READY")
    for at in ["", version]:
        check("model ready", client.is_model_ready(name, at, headers=key()))
        model = client.get_model_metadata(name, at, headers=key())
        check("model", [i["name"] for i in model["inputs"]] == ["text", "from", "to"] and version in model["versions"], model)
        config = client.get_model_config(name, at, headers=key())
        check("config", config["max_batch_size"] > 1 and config["output"][1]["data_type"] == "TYPE_FP32", config)
    check("no such model is ready", not client.is_model_ready("nope", headers=key()))
    check("no such version is ready", not client.is_model_ready(name, "999", headers=key()))
    return name


def infers(client, name):
    sources = ["Good morning.", "Good night, Zoë."]
    for binary in [True, False]:
        for shape in [[2], [2, 1]]:
            got = client.infer(name, [tensor("text", sources, shape, binary), tensor("from", ["en"], [1], binary),
                                      tensor("to", ["fr"], [1], binary)], headers=key(), request_id="id-1")
            translated(f"texts, binary {binary}, {shape}", sources, texts(got))
            check("id", got.get_response()["id"] == "id-1", got.get_response())
            score = got.as_numpy("score")
            check("scores", list(score.shape) == shape and score.dtype == np.float32 and (score <= 0).all(), score)
        outputs = [triton.InferRequestedOutput("text", binary_data=binary)]
        got = client.infer(name, [tensor("text", sources)], outputs=outputs, headers=key(),
                           parameters={"from": "en", "to": "fr", "beams": 2}, priority=1, timeout=60_000_000)
        translated(f"parameters, binary {binary}", sources, texts(got))
        check("one output", got.as_numpy("score") is None)
    mixed = [triton.InferRequestedOutput("score", binary_data=False), triton.InferRequestedOutput("text", binary_data=True)]
    got = client.infer(name, [tensor("text", sources), tensor("to", ["fr", "ja"])], outputs=mixed, headers=key())
    translated("a language for each", sources, texts(got))
    check("score beside binary texts", got.as_numpy("score").shape == (2, 1))
    pending = [client.async_infer(name, [tensor("text", [s])], parameters={"to": "fr"}, headers=key()) for s in sources]
    translated("asynchronous", sources, [texts(p.get_result())[0] for p in pending])


async def infers_aio(name):
    async with triton_aio.InferenceServerClient(BASE) as client:
        got = await client.infer(name, [tensor("text", ["Good evening."], kind=triton_aio)], parameters={"to": "fr"}, headers=key())
        translated("asyncio", ["Good evening."], texts(got))


def counts(client, name):
    all_stats = client.get_inference_statistics(headers=key())["model_stats"]
    check("statistics of all", name in [s["name"] for s in all_stats], all_stats)
    stats = client.get_inference_statistics(name, headers=key())["model_stats"][-1]
    check("statistics", {"success", "fail", "queue", "compute_input", "compute_infer", "compute_output", "cache_hit", "cache_miss"}
          == set(stats["inference_stats"]), stats)
    if not TOY:
        done = stats["inference_stats"]["success"]
        check("statistics count", done["count"] > 0 and done["ns"] > 0 and stats["inference_count"] > 0
              and 0 < stats["execution_count"] <= stats["inference_count"] and stats["last_inference"] > 1_600_000_000_000, stats)


def refuses(client, name):
    text = tensor("text", ["x"])
    infer = lambda: {"headers": key(), "parameters": {"to": "fr"}}
    fails("unknown model", 404, "there is no model", client.infer, "nope", [text], **infer())
    fails("unknown version", 404, "999", client.infer, name, [text], model_version="999", **infer())
    fails("metadata of an unknown model", 404, "there is no model", client.get_model_metadata, "nope", headers=key())
    fails("no language", 400, "no language to translate into", client.infer, name, [text], headers=key())
    if not TOY:
        fails("unknown language", 400, "xx", client.infer, name, [text], headers=key(), parameters={"to": "xx"})
        fails("shared memory", 404, "nothing at this path", client.get_system_shared_memory_status, headers=key())
        fails("tracing", 404, "nothing at this path", client.get_trace_settings, headers=key())
    fails("unknown input", 400, 'unexpected input "image"', client.infer, name, [tensor("image", ["x"])], **infer())
    fails("unknown output", 400, 'unexpected output "image"', client.infer, name, [text],
          outputs=[triton.InferRequestedOutput("image")], **infer())
    number = triton.InferInput("text", [1], "INT32")
    number.set_data_from_numpy(np.array([1], dtype=np.int32))
    fails("another type", 400, "INT32", client.infer, name, [number], **infer())
    fails("a row", 400, "[n, 1]", client.infer, name, [tensor("text", ["x", "y"], [1, 2])], **infer())
    fails("no text", 400, "not UTF-8", client.infer, name, [not_text()], **infer())
    fails("compressed", 415, "gzip", client.infer, name, [text], request_compression_algorithm="gzip", parameters={"to": "fr"}, headers=key())
    fails("too large", 413, "bytes", client.infer, name, [tensor("text", ["a" * (16 << 20)])], **infer())
    if TOY:
        wrong = {"Authorization": "Bearer wrong"}
        fails("wrong key", 401, "not valid", client.infer, name, [text], headers=wrong, parameters={"to": "fr"})


def not_text():
    made = triton.InferInput("text", [1], "BYTES")
    made.set_data_from_numpy(np.array([b"\xff"], dtype=np.object_))
    return made


def loads(client, name):
    fails("load without an admin's key", 401 if ADMIN_KEY and not TOY else 403, "key", client.load_model, name)
    fails("unload without an admin's key", 401 if ADMIN_KEY and not TOY else 403, "key", client.unload_model, name)
    if not ADMIN_KEY:
        return
    fails("load with a configuration", 400, "config.yaml", client.load_model, name, headers=key(), config="{}")
    fails("load what is not there", 404, "there is no model", client.load_model, "nope", headers=key())
    client.unload_model(name, headers=key())
    check("unloaded", not client.is_model_ready(name, headers=key()))
    fails("use what is unloaded", 503 if TOY else 404, name, client.infer, name, [tensor("text", ["x"])], headers=key(), parameters={"to": "fr"})
    client.load_model(name, headers=key())
    check("loaded", client.is_model_ready(name, headers=key()))
    translated("after a load", ["Good day."], texts(client.infer(name, [tensor("text", ["Good day."])], headers=key(), parameters={"to": "fr"})))


def documented(name):
    """Runs the examples in Python of the documentation as they are written, but for the address and the model."""
    ran = 0
    for page in sorted(pathlib.Path("docs").glob("*.md")):
        for example in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M):
            if "from dragoman" in example:
                continue  # the tests of package app/client run our own client
            exec(example.replace("localhost:9527", BASE).replace("localhost:8001", GRPC).replace('"bundled"', repr(name)), {})
            ran += 1
    check("examples of the documentation", ran > 0, ran)


def main():
    client = triton.InferenceServerClient(BASE, concurrency=2, network_timeout=300)
    using("tritonclient", "Open Inference Protocol")
    name = describes(client)
    infers(client, name)
    asyncio.run(infers_aio(name))
    counts(client, name)
    refuses(client, name)
    documented(name)
    loads(client, name)
    client.close()
    report()


main()
