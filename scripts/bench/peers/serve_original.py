"""The design of the service that dragoman replaces: FastAPI, transformers on PyTorch
in fp32, one model in one worker, batches of 8 records that wait up to 0.1 s.
"""
import argparse

import torch
import transformers

import service
from text import Text


def main():
    p = argparse.ArgumentParser()
    p.add_argument("checkpoint")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--beams", type=int, default=5)
    p.add_argument("--length", type=int, default=0, help="tokens of every translation, 0: up to </s>")
    p.add_argument("--limit", type=int, default=64, help="requests that may run or wait")
    p.add_argument("--port", type=int, required=True)
    args = p.parse_args()

    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(args.threads)
    text = Text(args.checkpoint)
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(args.checkpoint, dtype=torch.float32).eval()
    start, pad = model.config.decoder_start_token_id, model.config.pad_token_id
    lengths = dict(min_new_tokens=args.length, max_new_tokens=args.length) if args.length else {}

    def translate(items):
        sources = [text.encode(source, record) for source, _, record in items]
        width = max(map(len, sources))
        sources = torch.tensor([ids + [pad] * (width - len(ids)) for ids in sources])
        prefix = torch.tensor([[start, text.language(target)] for _, target, _ in items])
        with torch.inference_mode():
            ids = model.generate(sources, attention_mask=sources.ne(pad), decoder_input_ids=prefix,
                                 num_beams=args.beams, do_sample=False, **lengths)
        return [text.decode(row) for row in ids[:, prefix.shape[1]:].tolist()]

    service.run(translate, args.port, batch=8, wait=0.1, workers=1, limit=args.limit)


if __name__ == "__main__":
    main()
