"""CTranslate2 behind a thin service (see service.py): micro-batching, or each
request alone with --batch 0.
"""
import argparse

import ctranslate2

import service
from text import Text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("checkpoint")
    p.add_argument("model")
    p.add_argument("--compute-type", default="int8")
    p.add_argument("--inter", type=int, default=1, help="batches at once")
    p.add_argument("--intra", type=int, default=2, help="threads of each")
    p.add_argument("--batch", type=int, default=32, help="records of a batch, 0: those of a request")
    p.add_argument("--wait", type=float, default=0.005, help="seconds that a batch may wait to be full")
    p.add_argument("--beams", type=int, default=5)
    p.add_argument("--length", type=int, default=0, help="tokens of every translation, 0: up to </s>")
    p.add_argument("--limit", type=int, default=64, help="requests that may run or wait")
    p.add_argument("--port", type=int, required=True)
    args = p.parse_args()

    text = Text(args.checkpoint)
    translator = ctranslate2.Translator(args.model, "cpu", compute_type=args.compute_type, inter_threads=args.inter,
                                        intra_threads=args.intra)
    # Lengths count the prefix. 200 is the checkpoints' own limit.
    lengths = dict(min_decoding_length=args.length + 1, max_decoding_length=args.length + 1) if args.length else dict(
        max_decoding_length=200)

    def translate(items):
        results = translator.translate_batch(
            [[text.tokens[i] for i in text.encode(source, record)] for source, _, record in items],
            target_prefix=[[f"__{target}__"] for _, target, _ in items], beam_size=args.beams, **lengths)
        return [text.decode(text.ids[token] for token in r.hypotheses[0][1:]) for r in results]

    service.run(translate, args.port, args.batch, args.wait, args.inter, args.limit)


if __name__ == "__main__":
    main()
