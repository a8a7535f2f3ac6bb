"""The offline side of CTranslate2 (see protocol.py):

    offline_ctranslate2.py CHECKPOINT MODEL COMPUTE_TYPE INTER INTRA

INTER translations run at once on INTRA threads each; a batch is split among them.
"""
import math
import sys

import ctranslate2

from protocol import serve
from text import vocabulary


def main(checkpoint, folder, compute_type, inter, intra):
    tokens = vocabulary(checkpoint)
    ids = {token: i for i, token in enumerate(tokens)}
    translator = ctranslate2.Translator(folder, "cpu", compute_type=compute_type, inter_threads=int(inter),
                                        intra_threads=int(intra))

    def decode(sources, target, beams, length):
        prefix = [tokens[target]] if target >= 0 else []
        results = translator.translate_batch(
            [[tokens[i] for i in source] for source in sources],
            target_prefix=[prefix] * len(sources),
            beam_size=beams, min_decoding_length=len(prefix) + length, max_decoding_length=len(prefix) + length,
            max_batch_size=math.ceil(len(sources) / int(inter)))
        return [[ids[token] for token in result.hypotheses[0][len(prefix):]] for result in results]

    serve({"ctranslate2": ctranslate2.__version__}, decode)


if __name__ == "__main__":
    main(*sys.argv[1:])
