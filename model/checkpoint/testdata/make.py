"""Makes the torch files and goldens of this folder.

    python make.py

Made with torch 2.15.0, transformers 5.23.0 and safetensors 0.8.0 (see versions
in expected.json).
"""

import json
import shutil
from collections import OrderedDict
from pathlib import Path

import safetensors
import torch
import transformers
from safetensors.torch import save_file
from transformers import M2M100Config, M2M100ForConditionalGeneration

HERE = Path(__file__).parent

SIZES = dict(
    vocab_size=12,
    d_model=8,
    encoder_layers=1,
    decoder_layers=1,
    encoder_attention_heads=2,
    decoder_attention_heads=4,
    encoder_ffn_dim=6,
    decoder_ffn_dim=10,
    max_position_embeddings=16,
)

# Values at the edges of the half formats: both can hold all of them exactly,
# or the golden says what they hold.
EDGES = [0.0, -0.0, 1.0, -1.5, 1 / 3, 65504.0, 2.0**-14, 2.0**-24, 3 * 2.0**-24, -(2.0**-15)]


def tiny_model(**kwargs):
    torch.manual_seed(1)
    return M2M100ForConditionalGeneration(M2M100Config(**SIZES, **kwargs)).eval()


def folder(name):
    path = HERE / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def models():
    """The same model as transformers and torch write it, whole and in shards."""
    model = tiny_model()
    path = folder("safetensors")
    model.save_pretrained(path)
    for name in ("config.json", "generation_config.json"):
        shutil.copy(path / name, HERE / name)
        (path / name).unlink()

    state = model.state_dict()  # an OrderedDict with _metadata and tied copies
    torch.save(state, folder("torch") / "pytorch_model.bin")

    torch.save(state, folder("torch_legacy") / "pytorch_model.bin", _use_new_zipfile_serialization=False)

    path = folder("torch_shards")
    names = list(state)
    shards = {"pytorch_model-00001-of-00002.bin": names[:20], "pytorch_model-00002-of-00002.bin": names[20:]}
    for file, part in shards.items():
        torch.save({name: state[name] for name in part}, path / file)
    index = {"metadata": {"total_size": 0}, "weight_map": {n: f for f, part in shards.items() for n in part}}
    (path / "pytorch_model.bin.index.json").write_text(json.dumps(index, indent=1) + "\n")

    path = folder("untied")
    untied = tiny_model(tie_word_embeddings=False)
    with torch.no_grad():
        for copy in (untied.model.encoder.embed_tokens, untied.model.decoder.embed_tokens):
            copy.weight.copy_(untied.model.shared.weight)
    untied.save_pretrained(path)
    (path / "generation_config.json").unlink()


def pickles():
    """Small state dicts in the forms that torch.save knows."""
    path = folder("pickles")
    base = torch.arange(24, dtype=torch.float32) / 7
    edges = torch.tensor(EDGES)
    good = {
        "ordered": OrderedDict(a=base.view(4, 6).clone(), b=torch.ones(3)),
        "parameters": OrderedDict(a=torch.nn.Parameter(base.view(4, 6).clone()), b=torch.nn.Parameter(torch.ones(3))),
        "half": OrderedDict(a=edges.half()),
        "bfloat16": OrderedDict(a=edges.bfloat16()),
        "views": OrderedDict(a=base[4:16].view(3, 4), b=base, c=base[23:], d=base[:6].view(6, 1, 1)),
    }
    expected = {}
    for name, state in good.items():
        torch.save(state, path / f"{name}.bin")
        expected[name] = {
            k: {"dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape), "values": t.detach().double().flatten().tolist()}
            for k, t in state.items()
        }
    torch.save(good["ordered"], path / "protocol4.bin", pickle_protocol=4)
    expected["protocol4"] = expected["ordered"]

    torch.save(OrderedDict(a=base.view(4, 6).t()), path / "transposed.bin")
    torch.save(OrderedDict(a=base[::2]), path / "strided.bin")
    torch.save(OrderedDict(a=torch.ones(3).expand(2, 3)), path / "expanded.bin")
    torch.save({"state_dict": good["ordered"]}, path / "nested.bin")
    torch.save(torch.nn.Linear(2, 2), path / "module.bin")
    torch.save(torch.ones(2), path / "tensor.bin")
    torch.jit.script(torch.nn.Linear(2, 2)).save(path / "torchscript.bin")
    torch.save(OrderedDict(a=torch.ones(3, dtype=torch.float64)), path / "double.bin")

    # The format of torch before 1.6. A model is saved with its source there, which is none of
    # a state dict's matters.
    def legacy(obj, name, **kwargs):
        torch.save(obj, path / f"{name}.bin", _use_new_zipfile_serialization=False, **kwargs)

    for name, state in good.items():
        name = f"legacy_{name}".removesuffix("_ordered")
        legacy(state, name)
        expected[name] = expected[name.removeprefix("legacy_").replace("legacy", "ordered")]
    legacy(good["ordered"], "legacy_protocol4", pickle_protocol=4)
    expected["legacy_protocol4"] = expected["ordered"]
    legacy(OrderedDict(a=base.view(4, 6).t()), "legacy_transposed")
    legacy({"state_dict": good["ordered"]}, "legacy_nested")
    legacy(torch.nn.Linear(2, 2), "legacy_module")

    save_file({"a": edges.half(), "b": edges.bfloat16(), "c": edges}, path / "edges.safetensors")
    expected["edges"] = {k: {"dtype": d, "shape": [len(EDGES)], "values": v.double().tolist()} for k, d, v in (
        ("a", "float16", edges.half()), ("b", "bfloat16", edges.bfloat16()), ("c", "float32", edges))}
    expected = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__,
                "safetensors": safetensors.__version__, "files": expected}
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    models()
    pickles()
