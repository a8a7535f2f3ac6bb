"""Uses the client of OpenAPI Generator (python)."""

import sys
import time

import dragoman_generated as dragoman

TEXT = "Where is the station?"

with dragoman.ApiClient(dragoman.Configuration(host=sys.argv[1])) as client:
    payload = dragoman.TranslationPayload(from_lang="en", to_lang="fr", records=[dragoman.TextRecord(id="1", text=TEXT)])
    answer = dragoman.TranslationApi(client).translate(dragoman.TranslationRequest(payload=payload))
    translation = answer.result[0].text
    assert translation and translation != TEXT, translation

    jobs = dragoman.JobsApi(client)

    def wait(job):
        while job.state in ("queued", "running"):
            time.sleep(0.05)
            answer = jobs.get_job(job.id)
            job = answer.job
        assert job.state == "done", job
        return answer

    payload = dragoman.JobPayload(from_lang="en", to_lang="fr", records=[dragoman.JobTextRecord(id="1", text=TEXT)])
    done = wait(jobs.submit_job(dragoman.JobRequest(payload=payload)).job)
    assert done.result[0].text == translation, done
    print("ok: job")

    documents = dragoman.DocumentsApi(client)
    job = documents.submit_document(file=("text.txt", f"{TEXT}\n".encode()), from_lang="en", to_lang="fr").job
    wait(job)
    content = bytes(documents.download_document(job.id)).decode().strip()
    assert content == translation, content
    print("ok: document")
