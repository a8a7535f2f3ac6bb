"""Runs azure-ai-translation-document against a server: document_azure.py BASE_URL [toy]."""

import sys

from azure.ai.translation.document import SingleDocumentTranslationClient
from azure.ai.translation.document.models import DocumentTranslateContent
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from checks import TOY, check, report, using

BASE = sys.argv[1].rstrip("/")
TEXT = "Good morning.\n\nThe house is old.\n"

client = SingleDocumentTranslationClient(BASE, AzureKeyCredential("some"))

using("azure-ai-translation-document", "Azure Translator, documents")


def translate(content, name="letter.txt", media_type="text/plain", glossary=None, to="fr", **options):
    body = DocumentTranslateContent(document=(name, content, media_type), glossary=glossary)
    return client.translate(body, target_language=to, **options).decode()


got = translate(TEXT.encode())
check("lines", got.count("\n") == TEXT.count("\n"), got)
check("a document", got == TEXT.upper() if TOY else got.strip() and got != TEXT, got)
got = translate(b"<p>Good <b>morning</b>.</p>", "page.html", "text/html", source_language="en", to="ja")
check("HTML", got.count("<b>") == 1 and "morning" not in got, got)
got = translate(b"An artist.", source_language="en", glossary=("terms.csv", b"artist,ma\xc3\xaetre\n", "text/csv"))
check("a glossary", got == "AN maître." if TOY else got.strip(), got)

for what, options, words in [
    ("language", {"to": "tlh"}, "tlh"), ("kind", {"name": "letter.xyz", "media_type": "application/octet-stream"}, "can be translated"),
    ("deployment", {"deployment_name": "gpt"}, "deploymentName"), ("glossary", {"glossary": ("terms.xlf", b"<xliff/>", "application/xliff+xml"), "source_language": "en"}, ".csv"),
]:
    try:
        translate(TEXT.encode(), **options)
        check(f"another {what}", False)
    except HttpResponseError as e:
        check(f"another {what}", e.error.code == "InvalidRequest" and words in str(e), str(e))
try:
    SingleDocumentTranslationClient(BASE + "/models/nope", AzureKeyCredential("some")).translate(
        DocumentTranslateContent(document=("a.txt", b"a", "text/plain")), target_language="fr")
    check("another model", False)
except ResourceNotFoundError as e:
    check("another model", "nope" in str(e), str(e))

report()
