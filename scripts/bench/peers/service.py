"""POST /translation in front of a function, as small as a service can be.

Records of all requests wait in one queue. Each worker takes up to batch of them,
waiting up to wait seconds for that many, and translates them together; with batch 0
each request is translated alone. As many requests as limit may run or wait; one more
gets 503. translate runs in threads, as many at once as there are workers.
"""
import asyncio
import concurrent.futures
import contextlib
import time

import fastapi
import uvicorn


def run(translate, port, batch, wait, workers, limit):
    """Serves translate([(from, to, text)]) -> [text] on a port of this machine."""
    threads = concurrent.futures.ThreadPoolExecutor(workers)
    waiting = asyncio.Queue()
    requests = 0

    def in_thread(items):
        return asyncio.get_running_loop().run_in_executor(threads, translate, items)

    async def batches():
        while True:
            taken = [await waiting.get()]
            end = time.monotonic() + wait
            while len(taken) < batch:
                with contextlib.suppress(asyncio.QueueEmpty):
                    taken.append(waiting.get_nowait())
                    continue
                try:
                    taken.append(await asyncio.wait_for(waiting.get(), end - time.monotonic()))
                except asyncio.TimeoutError:
                    break
            try:
                texts = await in_thread([item for item, _ in taken])
                for (_, future), text in zip(taken, texts):
                    if not future.cancelled():
                        future.set_result(text)
            except Exception as e:  # the requests fail, the worker goes on
                for _, future in taken:
                    if not future.done():
                        future.set_exception(e)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        tasks = [asyncio.create_task(batches()) for _ in range(workers if batch else 0)]
        yield
        for task in tasks:
            task.cancel()

    app = fastapi.FastAPI(lifespan=lifespan)

    @app.post("/translation")
    async def translation(body: dict):
        nonlocal requests
        if requests >= limit:
            raise fastapi.HTTPException(503)
        requests += 1
        try:
            payload = body["payload"]
            items = [(payload["fromLang"], payload["toLang"], r["text"]) for r in payload["records"]]
            if batch:
                futures = [asyncio.get_running_loop().create_future() for _ in items]
                for entry in zip(items, futures):
                    waiting.put_nowait(entry)
                texts = await asyncio.gather(*futures)
            else:
                texts = await in_thread(items)
            return {"result": [{"id": r["id"], "text": text} for r, text in zip(payload["records"], texts)]}
        finally:
            requests -= 1

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)
