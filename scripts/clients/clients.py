"""Runs published Python clients against a server: clients.py BASE_URL [toy].

With "toy" the server is the one in server/, and answers are known exactly.
"""

import io
import re
import sys
import urllib.error

import deepl
import requests
from deep_translator import LibreTranslator
from deep_translator.exceptions import AuthorizationException, ServerException
from libretranslate_aio import BadRequestError, LibreTranslate
from deepl.api_data import MultilingualGlossaryDictionaryEntries
from libretranslatepy import LibreTranslateAPI

from checks import TOY, check, report, using

BASE = sys.argv[1].rstrip("/")


def fails(what, error, call, *args, **options):
    """Checks that a call raises an error and returns it."""
    try:
        got = call(*args, **options)
    except error as e:
        check(what, True)
        return e
    check(what, False, got)


def translated(what, source, got):
    """Checks a translation: exactly where the server is the toy."""
    check(what, got == source.upper() if TOY else isinstance(got, str) and got.strip() and got != source, got)


def libretranslatepy_client():
    using("libretranslatepy", "LibreTranslate")
    api = LibreTranslateAPI(BASE)
    translated("libretranslatepy translate", "Good morning.", api.translate("Good morning.", "en", "fr"))
    translated("libretranslatepy translate, odd text", "50% & more; café", api.translate("50% & more; café", "en", "fr"))
    found = api.detect("Good morning, how are you today?")
    check("libretranslatepy detect", found[0]["language"] == "en" and 0 < found[0]["confidence"] <= 100, found)
    languages = api.languages()
    by_code = {l["code"]: l for l in languages}
    check("libretranslatepy languages", by_code["fr"]["name"] == "French" and "en" in by_code["fr"]["targets"], languages)
    e = fails("libretranslatepy unknown language", urllib.error.HTTPError, api.translate, "x", "en", "zz")
    check("libretranslatepy unknown language: status", e.code == 400, e.code)
    check("libretranslatepy unknown language: body", b'"error":"zz is not supported"' in e.read())
    if TOY:
        keyed = LibreTranslateAPI(BASE + "/", api_key="wrong")
        e = fails("libretranslatepy wrong key", urllib.error.HTTPError, keyed.translate, "x", "en", "fr")
        check("libretranslatepy wrong key: status", e.code == 403, e.code)


def libretranslate_aio_client():
    using("libretranslate-aio", "LibreTranslate")
    with LibreTranslate(BASE) as api:
        plain = api.translate("Good morning.", "en", "fr")
        check("libretranslate-aio plain", plain.alternatives is None, plain)
        got = api.translate("Good morning.", "en", "fr", alternatives=2)
        translated("libretranslate-aio translate", "Good morning.", got.translated_text)
        check("libretranslate-aio translates the same", got.translated_text == plain.translated_text, got)
        found = [got.translated_text, *got.alternatives]
        check("libretranslate-aio alternatives", len(found) == len(set(found)) and (2 <= len(found) <= 3), found)
        several = api.translate(["One apple.", "Two pears."], "en", "fr", alternatives=1)
        check("libretranslate-aio alternatives of several", [len(a) for a in several.alternatives] == [1, 1], several)
        fails("libretranslate-aio too many alternatives", BadRequestError, api.translate, "x", "en", "fr", alternatives=5000)


def same_lines(what, source, got):
    """Checks a document: as many lines, each of them translated."""
    lines = got.split("\n")
    check(f"{what}: lines", len(lines) == source.count("\n") + 1, got)
    for before, after in zip(source.split("\n"), lines):
        if before.strip():
            translated(what, before, after)
        else:
            check(f"{what}: blank line", after == before, got)


DOCUMENT = "Good morning.\n\nThe house is old.\nGood morning.\n"


def libretranslate_files():
    using("libretranslate-aio", "LibreTranslate")
    with LibreTranslate(BASE) as api:
        check("libretranslate-aio settings", ".txt" in api.frontend_settings().supported_files_format)
        file = io.BytesIO(DOCUMENT.encode())
        file.name = "letter.txt"
        url = api.translate_file(file, "en", "fr").translated_file_url
        answer = requests.get(url, timeout=60)
        check("libretranslate-aio file", answer.ok and url.endswith("letter.fr.txt"), (answer.status_code, url))
        check("libretranslate-aio file: its name", 'filename=letter.fr.txt' in answer.headers["Content-Disposition"], answer.headers)
        same_lines("libretranslate-aio file", DOCUMENT, answer.text)
        pdf = io.BytesIO(b"%PDF-1.7")
        pdf.name = "letter.pdf"
        fails("libretranslate-aio file of another kind", BadRequestError, api.translate_file, pdf, "en", "fr")


def deepl_documents(client):
    handle = client.translate_document_upload(DOCUMENT.encode(), source_lang="EN", target_lang="FR", filename="letter.txt", formality="prefer_less")
    status = client.translate_document_wait_until_done(handle, timeout_s=60)
    check("deepl document", status.ok and status.done and status.billed_characters > 0, str(status))
    out = io.BytesIO()
    client.translate_document_download(handle, out)
    same_lines("deepl document", DOCUMENT, out.getvalue().decode())
    for what, options in {
        "of another kind": {"filename": "letter.xyz"}, "in another format": {"filename": "letter.txt", "output_format": "pdf"},
        "with formality": {"filename": "letter.txt", "formality": "more"},
    }.items():
        e = fails(f"deepl document {what}", deepl.DeepLException, client.translate_document_upload, b"Good morning.", target_lang="FR", **options)
        check(f"deepl document {what}: status", e.http_status_code == 400, str(e))
    unknown = deepl.DocumentHandle(handle.document_id, "wrong")
    fails("deepl document of another", deepl.DeepLException, client.translate_document_get_status, unknown)


def deepl_lists():
    """What the service does not have is an empty list."""
    client = deepl.DeepLClient("some", server_url=BASE)
    check("deepl style rules", client.get_all_style_rules() == [])
    check("deepl translation memories", client.list_translation_memories() == [])
    fails("deepl segments of a memory", deepl.DeepLException, client.list_translation_memory_segments, "some")


def deepl_document_that_waits():
    """It takes one of two places for good."""
    client = deepl.Translator("some", server_url=BASE)
    waits = client.translate_document_upload(b"wait", target_lang="FR", filename="letter.txt")
    fails("deepl document that is not done", deepl.DocumentNotReadyException, client.translate_document_download, waits, io.BytesIO())


def deep_translator_client():
    using("deep-translator", "LibreTranslate")
    # All in the query of a POST without a body.
    client = LibreTranslator(source="en", target="fr", custom_url=BASE + "/", api_key="some")
    translated("deep-translator translate", "Good morning, Zoë.", client.translate("Good morning, Zoë."))
    got = client.translate_batch(["One apple.", "Two pears."])
    check("deep-translator batch", len(got) == 2, got)
    auto = LibreTranslator(source="auto", target="fr", custom_url=BASE + "/", api_key="some")
    translated("deep-translator auto", "Good morning.", auto.translate("Good morning."))
    # A language that it knows and the server may not.
    if TOY:
        polish = LibreTranslator(source="en", target="pl", custom_url=BASE + "/", api_key="some")
        fails("deep-translator unknown language", ServerException, polish.translate, "Good morning.")
        wrong = LibreTranslator(source="en", target="fr", custom_url=BASE + "/", api_key="wrong")
        fails("deep-translator wrong key", AuthorizationException, wrong.translate, "Good morning.")


def deepl_texts(client):
    result = client.translate_text("Good morning.", target_lang="FR")
    translated("deepl translate", "Good morning.", result.text)
    check("deepl detects", result.detected_source_lang == "EN", result.detected_source_lang)
    check("deepl bills", result.billed_characters in (None, len("Good morning.")), result.billed_characters)
    results = client.translate_text(["Good morning.", "Good night.", ""], source_lang="EN", target_lang="JA")
    check("deepl texts", len(results) == 3 and results[2].text == "", [r.text for r in results])
    translated("deepl source language", "Good night.", results[1].text)
    offered = {l.code for l in client.get_target_languages()}
    for target in {"EN-US", "EN-GB", "PT-BR", "PT-PT", "NB", "ZH-HANS"} & offered:
        got = client.translate_text("Bonjour tout le monde.", source_lang="FR", target_lang=target)
        translated(f"deepl target {target}", "Bonjour tout le monde.", got.text)
    got = client.translate_text("<p>Good <b>morning</b>.</p>", target_lang="FR", tag_handling="html")
    check("deepl html", got.text.startswith("<p>") and "<b>" in got.text and "</b>" in got.text and got.text.endswith("</p>"), got.text)
    xml = "<d>\n  <t>Good morning.</t>\n  <p>Press <b>Settings</b>, <x>Good</x>.</p>\n</d>"
    for options in [{}, {"outline_detection": False, "splitting_tags": "t,p"}, {"non_splitting_tags": ["b"]}]:
        got = client.translate_text(xml, source_lang="EN", target_lang="FR", tag_handling="xml", split_sentences="nonewlines", ignore_tags="x", **options)
        tags = re.findall(r"<[^>]*>", got.text)
        check("deepl xml", sorted(tags) == sorted(re.findall(r"<[^>]*>", xml)) and got.text.startswith("<d>\n  <t>"), got.text)
        check("deepl xml, ignored", TOY or "<x>Good</x>" in got.text, got.text)
        check("deepl xml, translated", "Good morning." not in got.text, got.text)
    got = client.translate_text(
        "Good morning.", source_lang="EN", target_lang="FR", context="A greeting.", split_sentences="0",
        preserve_formatting=True, formality="prefer_more", outline_detection=False, splitting_tags="x,y",
        non_splitting_tags=["z"], tag_handling="xml", model_type="prefer_quality_optimized")
    translated("deepl options", "Good morning.", got.text)
    check("deepl model type", got.model_type_used == "quality_optimized", got.model_type_used)


def deepl_others(client):
    sources = {l.code: l for l in client.get_source_languages()}
    check("deepl source languages", sources["EN"].name == "English" and "EN-US" not in sources, sorted(sources))
    targets = {l.code: l for l in client.get_target_languages()}
    check("deepl target languages", "EN-US" in targets and "EN" not in targets, sorted(targets))
    check("deepl formality", targets["FR"].supports_formality is False)
    usage = client.get_usage()
    check("deepl usage", usage.character.valid and not usage.any_limit_reached, str(usage))

def deepl_glossaries(client):
    pairs = {(p.source_lang, p.target_lang) for p in client.get_glossary_languages()}
    check("deepl glossary languages", ("en", "fr") in pairs and ("en", "en") not in pairs, pairs)
    before = len(client.list_glossaries())
    entries = {"artist": "maître", "prize, first": 'le "prix"', "Acme": "Acme"}
    made = client.create_glossary("Ours", source_lang="EN", target_lang="FR", entries=entries)
    check("deepl new glossary", made.ready and made.name == "Ours" and made.source_lang == "EN" and made.entry_count == 3, made)
    check("deepl glossary", client.get_glossary(made.glossary_id).creation_time == made.creation_time)
    check("deepl glossaries", made.glossary_id in [g.glossary_id for g in client.list_glossaries()])
    check("deepl glossary entries", client.get_glossary_entries(made) == entries, client.get_glossary_entries(made))
    source = "The artist was awarded a prize."
    for options in [{"target_lang": "FR", "source_lang": "EN", "glossary": made.glossary_id}, {"target_lang": "FR", "source_lang": "EN", "glossary": made}]:
        got = client.translate_text(source, **options).text
        check("deepl uses a glossary", got == "THE maître WAS AWARDED A PRIZE." if TOY else got and got != source, got)
    got = client.translate_text_with_glossary(source, made).text
    check("deepl translates with a glossary", "maître" in got or not TOY, got)
    e = fails("deepl glossary for other languages", deepl.DeepLException, client.translate_text, "x", target_lang="DE", source_lang="EN", glossary=made.glossary_id)
    check("deepl glossary for other languages: status", e.http_status_code == 400 and "no dictionary" in str(e), str(e))
    e = fails("deepl no terms", deepl.DeepLException, client.create_glossary_from_csv, "Twice", "EN", "FR", "a,b\na,c\n")
    check("deepl no terms: line", "ine 2" in str(e), str(e))
    other = client.create_glossary_from_csv("From CSV", "EN", "FR", '"a, b",c\nd,e,en,fr\n')
    check("deepl glossary of CSV", client.get_glossary_entries(other.glossary_id) == {"a, b": "c", "d": "e"})
    for glossary in [made, other]:
        client.delete_glossary(glossary)
        fails("deepl deleted glossary", deepl.GlossaryNotFoundException, client.get_glossary, glossary.glossary_id)
        fails("deepl glossary deleted twice", deepl.GlossaryNotFoundException, client.delete_glossary, glossary)
    check("deepl glossaries at the end", len(client.list_glossaries()) == before)


def deepl_multilingual(client):
    def entries(target, terms):
        return MultilingualGlossaryDictionaryEntries("EN", target, terms)

    def stored(target):
        return client.get_multilingual_glossary_entries(made, "EN", target).dictionaries[0].entries

    made = client.create_multilingual_glossary("Ours", [entries("FR", {"artist": "maître"}), entries("DE", {"artist": "Maler"})])
    check("deepl new multilingual glossary", [(d.source_lang, d.target_lang, d.entry_count) for d in made.dictionaries] == [("EN", "DE", 1), ("EN", "FR", 1)], made.dictionaries)
    check("deepl multilingual glossary", client.get_multilingual_glossary(made.glossary_id).name == "Ours")
    check("deepl multilingual glossaries", made.glossary_id in [g.glossary_id for g in client.list_multilingual_glossaries()])
    check("deepl version 2 has no such glossary", made.glossary_id not in [g.glossary_id for g in client.list_glossaries()])
    if TOY:
        for target, want in {"FR": "AN maître.", "DE": "AN Maler."}.items():
            got = client.translate_text("An artist.", source_lang="EN", target_lang=target, glossary=made).text
            check("deepl uses a multilingual glossary", got == want, got)
    changed = client.update_multilingual_glossary_dictionary(made, entries("FR", {"prize": "prix", "artist": "artiste"}))
    check("deepl changed dictionary", {d.target_lang: d.entry_count for d in changed.dictionaries} == {"DE": 1, "FR": 2}, changed.dictionaries)
    check("deepl entries of a dictionary", stored("FR") == "artist\tartiste\nprize\tprix", stored("FR"))
    put = client.replace_multilingual_glossary_dictionary(made, entries("FR", {"cat": "chat"}))
    check("deepl replaced dictionary", put.entry_count == 1 and stored("FR") == "cat\tchat", stored("FR"))
    check("deepl renamed glossary", client.update_multilingual_glossary_name(made, "Theirs").name == "Theirs")
    client.delete_multilingual_glossary_dictionary(made, source_lang="EN", target_lang="DE")
    fails("deepl deleted dictionary", deepl.GlossaryNotFoundException, client.get_multilingual_glossary_entries, made, "EN", "DE")
    client.delete_multilingual_glossary(made)
    fails("deepl deleted multilingual glossary", deepl.GlossaryNotFoundException, client.get_multilingual_glossary, made.glossary_id)


def deepl_refusals(client):
    for what, options in {
        "target_lang": {"target_lang": "XX"}, "source_lang": {"target_lang": "FR", "source_lang": "XX"},
        "formality": {"target_lang": "FR", "formality": "more"},
    }.items():
        e = fails(f"deepl refuses {what}", deepl.DeepLException, client.translate_text, "x", **options)
        check(f"deepl refuses {what}: message", f"'{what}'" in str(e) and e.http_status_code == 400, str(e))
    unknown = "def3a26b-3e84-45b3-84ae-0c0aaf3525f7"
    fails("deepl glossary", deepl.GlossaryNotFoundException, client.get_glossary, unknown)
    e = fails("deepl uses no glossary", deepl.DeepLException, client.translate_text, "x", target_lang="FR", source_lang="EN", glossary=unknown)
    check("deepl uses no glossary: status", e.http_status_code == 404 and "no such glossary" in str(e), str(e))
    if TOY:
        wrong = deepl.Translator("wrong", server_url=BASE)
        fails("deepl wrong key", deepl.AuthorizationException, wrong.translate_text, "x", target_lang="FR")
        fails("deepl wrong key for usage", deepl.AuthorizationException, wrong.get_usage)


def one_model():
    """Clients choose a model by their base URL; the slash at its end is what deepl joins to."""
    base = BASE + "/models/en-ja"
    using("libretranslatepy", "LibreTranslate")
    for url in [base, base + "/"]:
        api = LibreTranslateAPI(url)
        translated("libretranslatepy with a model", "Good morning.", api.translate("Good morning.", "en", "ja"))
        targets = {l["code"]: l["targets"] for l in api.languages()}
        check("libretranslatepy languages of a model", targets == {"en": ["en", "ja"], "ja": ["ja"]}, targets)
        fails("libretranslatepy other language of a model", urllib.error.HTTPError, api.translate, "x", "en", "fr")
    e = fails("libretranslatepy without such a model", urllib.error.HTTPError, LibreTranslateAPI(BASE + "/models/xx").languages)
    check("libretranslatepy without such a model: status", e.code == 404, e.code)
    using("deep-translator", "LibreTranslate")
    client = LibreTranslator(source="en", target="ja", custom_url=base + "/", api_key="some")
    translated("deep-translator with a model", "Good morning.", client.translate("Good morning."))
    using("deepl", "DeepL")
    client = deepl.Translator("some", server_url=base + "/")
    translated("deepl with a model", "Good morning.", client.translate_text("Good morning.", target_lang="JA").text)
    check("deepl targets of a model", [l.code for l in client.get_target_languages()] == ["JA"])
    fails("deepl other language of a model", deepl.DeepLException, client.translate_text, "x", target_lang="FR")
    got = deepl.Translator("some", server_url=BASE).translate_text("Good morning.", target_lang="JA", extra_body_parameters={"model": "en-ja"})
    translated("deepl with a field for the model", "Good morning.", got.text)


def oversized():
    """Bodies over MAX_BODY_BYTES: all of these send before they look for an answer."""
    text = "a" * (16 << 20)
    for _ in range(10):
        using("requests", "LibreTranslate")
        r = requests.post(BASE + "/translate", json={"q": text, "source": "en", "target": "fr"})
        check("requests oversized", r.status_code == 413 and "bytes" in r.json()["error"], r.text)
        using("deepl", "DeepL")
        client = deepl.Translator("some", server_url=BASE)
        e = fails("deepl oversized", deepl.DeepLException, client.translate_text, text, target_lang="FR")
        check("deepl oversized: status", e.http_status_code == 413, str(e))
        using("libretranslatepy", "LibreTranslate")
        e = fails("libretranslatepy oversized", urllib.error.HTTPError, LibreTranslateAPI(BASE).translate, text, "en", "fr")
        check("libretranslatepy oversized: status", e.code == 413, e.code)


def main():
    deepl.http_client.max_network_retries = 0
    libretranslatepy_client()
    libretranslate_aio_client()
    libretranslate_files()
    deep_translator_client()
    using("deepl", "DeepL")
    for client in [deepl.Translator("some", server_url=BASE), deepl.DeepLClient("some", server_url=BASE)]:
        deepl_texts(client)
        deepl_others(client)
        deepl_refusals(client)
        deepl_documents(client)
        deepl_glossaries(client)
    deepl_multilingual(deepl.DeepLClient("some", server_url=BASE))
    if TOY:
        one_model()
        deepl_document_that_waits()
    deepl_lists()
    oversized()
    report()


main()
