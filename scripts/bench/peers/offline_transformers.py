"""The offline side of transformers on PyTorch in fp32 (see protocol.py):

    offline_transformers.py CHECKPOINT THREADS
"""
import sys

import torch
import transformers

from protocol import serve


def main(checkpoint, threads):
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(int(threads))
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(checkpoint, dtype=torch.float32).eval()
    start, pad = model.config.decoder_start_token_id, model.config.pad_token_id

    def decode(sources, target, beams, length):
        width = max(map(len, sources))
        sources = torch.tensor([source + [pad] * (width - len(source)) for source in sources])
        prefix = torch.tensor([[start, target]] * len(sources))
        with torch.inference_mode():
            ids = model.generate(
                sources, attention_mask=sources.ne(pad), decoder_input_ids=prefix, num_beams=beams, do_sample=False,
                min_new_tokens=length, max_new_tokens=length)
        return ids[:, prefix.shape[1]:].tolist()

    serve({"torch": torch.__version__, "transformers": transformers.__version__}, decode)


if __name__ == "__main__":
    main(*sys.argv[1:])
