"""Gives a checkpoint further layers in its encoder, which change nothing until they are trained.

    python scripts/training/grow.py --checkpoint FOLDER --encoder-layers 8 --out grown.safetensors
    python scripts/training/train.py --init grown.safetensors --encoder-layers 8 ...

Each new layer stands behind one that it is a copy of, but for the last matrices of its attention
and of its feed-forward part: these are zero, so that both add nothing at first. Starting deep from
shallow is Gong et al., "Efficient Training of BERT by Progressively Stacking" (2019), the zeros
are of Chen, Goodfellow and Shlens, "Net2Net" (2016), who want the function to stay the same.
"""
import argparse
import collections
import os
import re

import torch
from safetensors.torch import load_file

import checkpoint

PREFIX = "model.encoder.layers."
_LAYER = re.compile(re.escape(PREFIX) + r"(\d+)\.(.*)")
_LAST = ("self_attn.out_proj.", "fc2.")


def grow(weights, layers):
    """The weights with so many layers in the encoder, the new ones at equal distances.

    ValueError where there are as many already."""
    grown, old = {}, collections.defaultdict(dict)
    for name, tensor in weights.items():
        if match := _LAYER.match(name):
            old[int(match[1])][match[2]] = tensor
        else:
            grown[name] = tensor
    there = len(old)
    if layers <= there:
        raise ValueError(f"the encoder has {there} layers already: ask for more of them")
    copied = None
    for i in range(layers):
        layer = (i * there + there - 1) // layers  # the old ones at equal distances, the first and the last among them
        for part, tensor in old[layer].items():
            zero = layer == copied and part.startswith(_LAST)
            grown[f"{PREFIX}{i}.{part}"] = torch.zeros_like(tensor) if zero else tensor.clone()
        copied = layer
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, metavar="FOLDER", help="in Hugging Face's form")
    parser.add_argument("--encoder-layers", required=True, type=int)
    parser.add_argument("--out", required=True, metavar="FILE")
    arguments = parser.parse_args()
    try:
        grown = grow(load_file(os.path.join(arguments.checkpoint, "model.safetensors")), arguments.encoder_layers)
    except ValueError as err:
        parser.error(str(err))
    checkpoint.save_weights(arguments.out, grown)
    print(f"{sum(tensor.numel() for tensor in grown.values()):,} parameters")


if __name__ == "__main__":
    main()
