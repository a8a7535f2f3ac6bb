"""Runs ocr_translate's plugin for LibreTranslate, a model of a Django application, against a server: ocr.py BASE_URL [toy]."""

import os
import sys

import django
from django.conf import settings

from checks import TOY, check, report, using

using("ocr-translate-libretranslate", "LibreTranslate")
settings.configure(INSTALLED_APPS=["ocr_translate", "ocr_translate_libretranslate"], DATABASES={}, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")
os.environ["AUTOCREATE_LANGUAGES"] = os.environ["AUTOCREATE_VALIDATED_MODELS"] = os.environ["LOAD_ON_START"] = "false"
django.setup()
from ocr_translate_libretranslate.plugin import LibreTranslateTSLModel  # noqa: E402, models need the application

texts = [["Good", "morning."], ["Thank you."]]
for slash in ["", "/"]:  # its own address has a slash at the end, and it adds another one
    os.environ["OCT_LIBRETRANSLATE_ENDPOINT"] = sys.argv[1].rstrip("/") + slash
    model = LibreTranslateTSLModel(name="LibreTranslate")
    got = model._translate(texts, "en", "fr")
    check("several texts", got == ["GOOD MORNING.", "THANK YOU."] if TOY else len(got) == 2 and "Good morning." not in got, got)
    got = model._translate(texts[0], "en", "fr")
    check("one text", got == "GOOD MORNING." if TOY else got.strip() and got != "Good morning.", got)
report()
