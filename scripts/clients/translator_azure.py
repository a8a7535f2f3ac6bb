"""Runs azure-ai-translation-text, of version 1 or 2, against a server: translator_azure.py BASE_URL [toy]."""

import sys

from azure.ai.translation.text import TextTranslationClient, __version__
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError

from checks import TOY, check, report, using

BASE = sys.argv[1].rstrip("/")
OLD = __version__.startswith("1.")

using("azure-ai-translation-text", "Azure Translator " + ("3.0" if OLD else "2026-06-06"))


def translated(what, source, got):
    check(what, got == source.upper() if TOY else got.strip() and got != source, got)


def target(translation):
    return translation.to if OLD else translation.language


client = TextTranslationClient(endpoint=BASE, credential=AzureKeyCredential("some"))

got = client.translate(body=["Good morning, how are you?"], to_language=["fr"])
check("detected", got[0].detected_language.language == "en" and 0 < got[0].detected_language.score <= 1, got)
translated("translate", "Good morning, how are you?", got[0].translations[0].text)
got = client.translate(body=["One apple.", "Two pears."], to_language=["fr", "ja"], from_language="en")
check("two texts, two languages", [[target(t) for t in item.translations] for item in got] == [["fr", "ja"]] * 2, got)
check("no detection with a source", got[0].detected_language is None, got)
translated("the second text", "Two pears.", got[1].translations[1].text)

dictionary = 'The word <mstrans:dictionary translation="wordomatic">station</mstrans:dictionary> is an entry.'
got = client.translate(body=[dictionary], to_language=["fr"], from_language="en")[0].translations[0].text
check("a phrase of a dictionary", "wordomatic" in got and "mstrans" not in got, got)

html = "<p>Good <b>morning</b>.</p>"
if OLD:
    got = client.translate(body=[html], to_language=["fr"], from_language="en", text_type="html")[0].translations[0].text
else:
    from azure.ai.translation.text.models import TranslateInputItem, TranslationTarget

    fr, ja = TranslationTarget(language="fr"), TranslationTarget(language="ja")
    got = client.translate(body=[
        TranslateInputItem(text=html, language="en", text_type="Html", targets=[fr]),
        TranslateInputItem(text="Good morning.", targets=[ja, fr]),
    ])
    check("texts that differ", [[t.language for t in item.translations] for item in got] == [["fr"], ["ja", "fr"]], got)
    got = got[0].translations[0].text
check("HTML", got.startswith("<p>") and got.count("<b>") == 1 and got.endswith("</p>"), got)

languages = client.get_supported_languages()
check("languages", languages.translation["fr"].native_name == "français" and languages.translation["fr"].dir == "ltr", languages)
check("languages of a scope", client.get_supported_languages(scope="transliteration").translation is None)

for what, options in {"language": {"to_language": ["tlh"]}, "source": {"to_language": ["fr"], "from_language": "tlh"}}.items():
    try:
        client.translate(body=["x"], **options)
        check(f"another {what}", False)
    except HttpResponseError as e:
        check(f"another {what}", e.status_code == 400 and "tlh" in str(e), str(e))

report()
