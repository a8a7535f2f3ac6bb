"""Runs LibreTranslate with its own command line. MiniSBD's files of weights, with which it finds sentences, are only on GitHub: a regular
expression that costs almost nothing stands in for them, so that its side is a little faster than it is."""
import re

import minisbd


class Sentences:
    """Has the interface of minisbd.SBDetect."""

    END = re.compile(r"(?<=[.!?…])\s+")

    def __init__(self, lang, use_gpu=True, max_threads=None):
        pass

    def sentences(self, text):
        return [sentence for sentence in self.END.split(text.strip()) if sentence]


minisbd.SBDetect = Sentences

from libretranslate import main  # noqa: E402  takes SBDetect by name

if __name__ == "__main__":
    main()
