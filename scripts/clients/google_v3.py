"""Runs google-cloud-translate's client of version 3 over REST against a server: google_v3.py BASE_URL [toy]."""

import sys

import requests
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import translate_v3
from google.cloud.translate_v3.services.translation_service.transports import TranslationServiceRestTransport

from checks import TOY, check, report, using

BASE = sys.argv[1].rstrip("/")
PROJECT = "projects/some"
PARENT = PROJECT + "/locations/us-central1"

client = translate_v3.TranslationServiceClient(transport=TranslationServiceRestTransport(host=BASE, credentials=AnonymousCredentials()))

using("google-cloud-translate", "Google Cloud Translation v3")


def translated(what, source, got):
    check(what, got == source.upper() if TOY else got.strip() and got != source, got)


def fails(what, error, words, call, *args, **options):
    try:
        call(*args, **options)
        check(what, False)
    except error as e:
        check(what, words in str(e), str(e))


def translate(*texts, parent=PARENT, **options):
    return client.translate_text(request={"parent": parent, "contents": texts, "target_language_code": "fr", "mime_type": "text/plain", **options})


got = translate("Good morning.", "The house is old.")
for source, translation in zip(["Good morning.", "The house is old."], got.translations, strict=True):
    translated("translate", source, translation.translated_text)
    check("detected", translation.detected_language_code == "en", translation)
got = translate("<p>Good <b>morning</b>.</p>", parent=PROJECT, mime_type="text/html", source_language_code="en-US", model=PARENT + "/models/general/nmt")
check("HTML", got.translations[0].translated_text.count("<b>") == 1 and got.translations[0].model.endswith("nmt"), got)
got = client.detect_language(parent=PARENT, content="Good morning, how are you?")
check("detect", got.languages[0].language_code == "en" and 0 < got.languages[0].confidence <= 1, got)
languages = {l.language_code: l for l in client.get_supported_languages(parent=PROJECT, display_language_code="en").languages}
check("languages", languages["fr"].display_name == "French" and languages["fr"].support_target, languages)

# Google's own are made of files in its Cloud Storage; DeepL's API can make one.
made = requests.post(BASE + "/v3/glossaries", timeout=60, json={
    "name": "ours", "dictionaries": [{"source_lang": "EN", "target_lang": "FR", "entries": "artist\tmaître", "entries_format": "tsv"}]}).json()
name = f"{PARENT}/glossaries/{made['glossary_id']}"
got = translate("An artist.", source_language_code="en", glossary_config={"glossary": name})
check("with a glossary", got.glossary_translations[0].translated_text == "AN maître." if TOY else len(got.glossary_translations) == 1, got)
check("without a glossary", got.translations[0].translated_text == "AN ARTIST." if TOY else len(got.translations) == 1, got)
fails("glossaries", exceptions.BadRequest, "/glossaries", client.list_glossaries, parent=PARENT)
fails("a new glossary", exceptions.BadRequest, "/glossaries", client.create_glossary, parent=PARENT, glossary={"name": name})
fails("another language", exceptions.BadRequest, "tlh", translate, "x", target_language_code="tlh")
fails("another model", exceptions.NotFound, "nope", translate, "x", model=PARENT + "/models/nope")
fails("another method", exceptions.NotFound, ":translateText", client.romanize_text, parent=PARENT, contents=["x"])

report()
