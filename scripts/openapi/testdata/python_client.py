"""Uses the client of openapi-python-client."""

import io
import sys
import time

from dragoman_client import Client, types
from dragoman_client.api.documents import download_document, submit_document
from dragoman_client.api.jobs import get_job, submit_job
from dragoman_client.api.translation import translate
from dragoman_client.models import DocumentRequest, JobPayload, JobRequest, JobTextRecord, TextRecord, TranslationPayload, TranslationRequest

TEXT = "Where is the station?"

with Client(base_url=sys.argv[1], raise_on_unexpected_status=True) as client:
    payload = TranslationPayload(from_lang="en", to_lang="fr", records=[TextRecord(id="1", text=TEXT)])
    answer = translate.sync(client=client, body=TranslationRequest(payload=payload))
    translation = answer.result[0].text
    assert translation and translation != TEXT, translation

    def wait(job):
        while job.state in ("queued", "running"):
            time.sleep(0.05)
            answer = get_job.sync(job.id, client=client)
            job = answer.job
        assert job.state == "done", job
        return answer

    payload = JobPayload(from_lang="en", to_lang="fr", records=[JobTextRecord(id="1", text=TEXT)])
    done = wait(submit_job.sync(client=client, body=JobRequest(payload=payload)).job)
    assert done.result[0].text == translation, done
    print("ok: job")

    file = types.File(payload=io.BytesIO(f"{TEXT}\n".encode()), file_name="text.txt", mime_type="text/plain")
    answer = submit_document.sync(client=client, body=DocumentRequest(file=file, from_lang="en", to_lang="fr"))
    wait(answer.job)
    content = download_document.sync(answer.job.id, client=client).payload.read().decode().strip()
    assert content == translation, content
    print("ok: document")
