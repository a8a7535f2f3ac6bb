"""CTranslate2 in half precision on a GPU (see scripts/bench/peers/protocol.py):

    ctranslate2_gpu.py CHECKPOINT WORK

It converts the checkpoint into WORK/ctranslate2 first, once.
"""
import pathlib
import sys

import ctranslate2

PEERS = pathlib.Path(__file__).parents[1] / "bench" / "peers"
sys.path.insert(0, str(PEERS))
import convert  # noqa: E402
from protocol import serve  # noqa: E402
from text import vocabulary  # noqa: E402


def main(checkpoint, work):
    folder = pathlib.Path(work) / "ctranslate2"
    if not (folder / "model.bin").exists():
        convert.main(checkpoint, str(folder), "float16")
    tokens = vocabulary(checkpoint)
    ids = {token: i for i, token in enumerate(tokens)}
    translator = ctranslate2.Translator(str(folder), "cuda", compute_type="float16")

    def decode(sources, target, beams, length):
        results = translator.translate_batch(
            [[tokens[i] for i in source] for source in sources],
            target_prefix=[[tokens[target]]] * len(sources),
            beam_size=beams, min_decoding_length=length + 1, max_decoding_length=length + 1)  # the prefix counts
        return [[ids[token] for token in result.hypotheses[0][1:]] for result in results]

    serve({"ctranslate2": ctranslate2.__version__}, decode)


if __name__ == "__main__":
    main(*sys.argv[1:])
