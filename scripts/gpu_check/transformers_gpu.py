"""transformers on PyTorch in half precision on a GPU (see scripts/bench/peers/protocol.py):

    transformers_gpu.py CHECKPOINT
"""
import pathlib
import sys

import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench" / "peers"))
from protocol import serve  # noqa: E402


def main(checkpoint):
    transformers.utils.logging.set_verbosity_error()
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(checkpoint, dtype=torch.float16).eval().cuda()
    start, pad = model.config.decoder_start_token_id, model.config.pad_token_id

    def decode(sources, target, beams, length):
        width = max(map(len, sources))
        sources = torch.tensor([source + [pad] * (width - len(source)) for source in sources], device="cuda")
        prefix = torch.tensor([[start, target]] * len(sources), device="cuda")
        with torch.inference_mode():
            ids = model.generate(
                sources, attention_mask=sources.ne(pad), decoder_input_ids=prefix, num_beams=beams, do_sample=False,
                min_new_tokens=length, max_new_tokens=length)
        return ids[:, prefix.shape[1]:].tolist()  # this waits for the GPU

    serve({"torch": torch.__version__, "transformers": transformers.__version__}, decode)


if __name__ == "__main__":
    main(*sys.argv[1:])
