"""Runs Weblate's machine translation services, as they are configured on its page, against a server: weblate_machinery.py BASE_URL [toy]."""

import os
import sys
import tempfile

import django

from checks import TOY, check, report, using

BASE = sys.argv[1].rstrip("/")
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "settings_of_test.py"), "w") as settings:
        settings.write(f"from weblate.settings_example import *\nDATA_DIR = CACHE_DIR = {folder!r}\nDATABASES = {{}}\nSITE_DOMAIN = 'localhost'\n"
                       "CACHES = {'default': {'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}\n")
    sys.path.append(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "settings_of_test"
    django.setup()

from weblate.machinery import deepl, libretranslate, openai  # noqa: E402, models need the application

TEXTS = ["Good morning.", "Thank you very much."]


def translates(service, source, target):
    service.validate_settings()  # asks for the languages, and for "test" in German
    check(f"{service.name} settings", True)
    got = service.download_multiple_translations(source, target, [(text, None) for text in TEXTS])
    for text in TEXTS:
        found = got[text][0]["text"]
        check(f"{service.name} text", found == text.upper() if TOY else found.strip() and found != text, found)


for slash in ["", "/"]:
    using("weblate", "LibreTranslate")
    translates(libretranslate.LibreTranslateTranslation({"url": BASE + slash, "key": ""}), "en", "fr")
    using("weblate", "DeepL")
    translates(deepl.DeepLTranslation({"url": BASE + "/v2" + slash, "key": "some", "formality": "default", "context": ""}), "EN", "FR")
    using("weblate", "OpenAI")
    translates(openai.OpenAITranslation({"base_url": BASE + "/v1" + slash, "key": "some", "model": "custom", "custom_model": "dragoman", "persona": "", "style": ""}), "en", "fr")
report()
