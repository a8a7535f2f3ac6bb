"""Runs Triton's published Python client for gRPC against a server: triton_grpc.py ADDRESS [toy].

With "toy" the server is the one in server/, and answers are known exactly; it has no sequences. ADMIN_KEY is a key
that may load and unload models, in a service with a repository.
"""

import asyncio
import queue
import sys

import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio

from checks import TOY, check, report, using
from tritonchecks import ADMIN_KEY, fails, texts, translated

ADDRESS = sys.argv[1]
KEY = {"authorization": f"Bearer {ADMIN_KEY}"} if ADMIN_KEY else {}
TO_FRENCH = {"from": "en", "to": "fr"}


def tensor(name, values, shape=None, kind=triton):
    made = kind.InferInput(name, shape or [len(values)], "BYTES")
    made.set_data_from_numpy(np.array([v.encode() for v in values], dtype=np.object_).reshape(shape or [len(values)]))
    return made


def describes(client):
    check("live", client.is_server_live(headers=KEY))
    check("ready", client.is_server_ready(headers=KEY))
    about = client.get_server_metadata(headers=KEY)
    check("server", about.name == "dragoman" and "binary_tensor_data" in about.extensions, about)
    index = client.get_model_repository_index(headers=KEY).models
    name, version = next((m.name, m.version) for m in index if m.state == "READY")
    for at in ["", version]:
        check("model ready", client.is_model_ready(name, at, headers=KEY))
        model = client.get_model_metadata(name, at, headers=KEY)
        check("model", [i.name for i in model.inputs] == ["text", "from", "to"] and version in model.versions, model)
        config = client.get_model_config(name, at, headers=KEY).config
        check("config", config.max_batch_size > 1 and config.output[1].data_type == 11 and config.backend == "dragoman", config)
    check("no such model is ready", not client.is_model_ready("nope", headers=KEY))
    stats = client.get_inference_statistics(name, headers=KEY).model_stats
    check("statistics", stats[0].name == name, stats)
    check("statistics of all", name in [s.name for s in client.get_inference_statistics(headers=KEY).model_stats])
    return name


def infers(client, name):
    sources = ["Good morning.", "Good night, Zoë."]
    for shape in [[2], [2, 1]]:
        got = client.infer(name, [tensor("text", sources, shape), tensor("from", ["en"]), tensor("to", ["fr"])], headers=KEY, request_id="id-1")
        translated(f"texts, {shape}", sources, texts(got))
        check("id", got.get_response().id == "id-1", got.get_response())
        score = got.as_numpy("score")
        check("scores", list(score.shape) == shape and score.dtype == np.float32 and (score <= 0).all(), score)
    got = client.infer(name, [tensor("text", sources)], outputs=[triton.InferRequestedOutput("text")], headers=KEY,
                       parameters=TO_FRENCH | {"beams": 2}, priority=1, timeout=60_000_000)
    translated("parameters", sources, texts(got))
    check("one output", got.as_numpy("score") is None)
    answers = queue.Queue()
    for s in sources:
        client.async_infer(name, [tensor("text", [s])], lambda result, error: answers.put((result, error)), parameters=TO_FRENCH, headers=KEY)
    got = [answers.get(timeout=60) for _ in sources]
    check("asynchronous", all(error is None for _, error in got) and sorted(len(texts(r)) for r, _ in got) == [1, 1], got)


def streams(client, name):
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)), headers=KEY)
    for i in range(100):
        client.async_stream_infer(name, [tensor("text", [f"I have {i} books."])], request_id=str(i), parameters=TO_FRENCH)
    got = [answers.get(timeout=60) for _ in range(100)]
    check("a stream", all(error is None for _, error in got) and {r.get_response().id for r, _ in got} == {str(i) for i in range(100)}, got[:2])
    client.async_stream_infer("nope", [tensor("text", ["x"])], parameters=TO_FRENCH)
    _, error = answers.get(timeout=60)
    check("an error in a stream", error is not None and "there is no model" in error.message(), error)
    client.stop_stream()


def sequences(client, name):
    text = "Where is the station? It is not here. I have three books."
    whole = texts(client.infer(name, [tensor("text", [text])], parameters=TO_FRENCH, headers=KEY))[0]
    for kind in [7, "seven"]:
        answers, shown, words = queue.Queue(), "", text.split(" ")
        client.start_stream(lambda result, error: answers.put((result, error)), headers=KEY)
        for i, word in enumerate(words):
            last = i == len(words) - 1
            client.async_stream_infer(name, [tensor("text", [word + ("" if last else " ")])], request_id=str(i), parameters=TO_FRENCH,
                                      sequence_id=kind, sequence_start=i == 0, sequence_end=last)
        for i in range(len(words)):
            result, error = answers.get(timeout=60)
            check("a part of a sequence", error is None and result.get_response().id == str(i), error)
            shown = shown[:result.get_response().parameters["kept"].int64_param] + texts(result)[0]
        client.stop_stream()
        check("a sequence is its whole text", shown == whole, (shown, whole))
    fails("a sequence that has ended", "NOT_FOUND", "sequence_start", client.infer, name, [tensor("text", ["x"])], parameters=TO_FRENCH, headers=KEY, sequence_id=7)


async def infers_aio(name):
    async with triton_aio.InferenceServerClient(ADDRESS) as client:
        got = await client.infer(name, [tensor("text", ["Good evening."], kind=triton_aio)], parameters={"to": "fr"}, headers=KEY)
        translated("asyncio", ["Good evening."], texts(got))

        async def requests():
            yield {"model_name": name, "inputs": [tensor("text", ["Good evening."], kind=triton_aio)], "parameters": {"to": "fr"}}

        async for result, error in client.stream_infer(requests(), headers=KEY):
            check("an asyncio stream", error is None, error)
            translated("an asyncio stream", ["Good evening."], texts(result))


def refuses(client, name):
    text = tensor("text", ["x"])
    fails("unknown model", "NOT_FOUND", "there is no model", client.infer, "nope", [text], parameters=TO_FRENCH, headers=KEY)
    fails("unknown version", "NOT_FOUND", "999", client.infer, name, [text], model_version="999", parameters=TO_FRENCH, headers=KEY)
    fails("no language", "INVALID_ARGUMENT", "no language to translate into", client.infer, name, [text], headers=KEY)
    fails("unknown input", "INVALID_ARGUMENT", "unexpected input", client.infer, name, [tensor("image", ["x"])], parameters=TO_FRENCH, headers=KEY)
    fails("classification", "UNIMPLEMENTED", "classification", client.infer, name, [text], parameters=TO_FRENCH, headers=KEY,
          outputs=[triton.InferRequestedOutput("text", class_count=2)])
    if TOY:
        fails("wrong key", "UNAUTHENTICATED", "not valid", client.infer, name, [text], parameters=TO_FRENCH, headers={"authorization": "Bearer wrong"})
    for what, call in [("shared memory", client.get_system_shared_memory_status), ("shared memory", client.get_cuda_shared_memory_status),
                       ("shared memory", client.unregister_system_shared_memory), ("shared memory", client.unregister_cuda_shared_memory),
                       ("OTEL", client.get_trace_settings), ("OTEL", client.update_trace_settings), ("LOG_LEVEL", client.get_log_settings)]:
        fails(what, "UNIMPLEMENTED", what, call)
    fails("shared memory", "UNIMPLEMENTED", "shared memory", client.register_system_shared_memory, "a", "b", 1)
    fails("a log setting", "UNIMPLEMENTED", "LOG_LEVEL", client.update_log_settings, {"log_info": True})
    fails("load without an admin's key", "UNAUTHENTICATED" if ADMIN_KEY and not TOY else "PERMISSION_DENIED", "key", client.load_model, name)
    fails("unload without an admin's key", "UNAUTHENTICATED" if ADMIN_KEY and not TOY else "PERMISSION_DENIED", "key", client.unload_model, name)
    if ADMIN_KEY:
        fails("a configuration", "INVALID_ARGUMENT", "config.yaml", client.load_model, name, headers=KEY, config="{}")
        client.unload_model(name, headers=KEY)
        check("unloaded", not client.is_model_ready(name, headers=KEY))
        client.load_model(name, headers=KEY)
        check("loaded", client.is_model_ready(name, headers=KEY))


def main():
    with triton.InferenceServerClient(ADDRESS) as client:
        using("tritonclient", "Open Inference Protocol, gRPC")
        name = describes(client)
        infers(client, name)
        streams(client, name)
        if not TOY:
            sequences(client, name)
        asyncio.run(infers_aio(name))
        refuses(client, name)
    report()


main()
