"""Writes weights that are a mean of those of several checkpoints.

    python scripts/training/blend.py --weights FIRST.safetensors SECOND.safetensors --shares 0.4 0.6 \\
        --out CHECKPOINT/model.safetensors

For a checkpoint and one that was trained further from it: what lies between them can be better
than both in the mean of all directions, as in Wortsman et al., "Robust fine-tuning of zero-shot
models" (2022). An encoder that grew must grow in both (grow.py).
"""
import argparse

from safetensors.torch import load_file

import checkpoint


def blend(checkpoints, shares):
    """The sum of weights, each times its share, in the type that they have in the last of the checkpoints.

    ValueError where they are not of one shape."""
    *others, last = ({name: tensor.shape for name, tensor in weights.items()} for weights in checkpoints)
    if any(shapes != last for shapes in others):
        raise ValueError("the checkpoints have different shapes: grow.py may help")
    return {name: sum(share * weights[name].float() for weights, share in zip(checkpoints, shares, strict=True)).to(tensor.dtype)
            for name, tensor in checkpoints[-1].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--shares", nargs="+", required=True, type=float, help="as many, which make 1 together")
    parser.add_argument("--out", required=True, metavar="FILE")
    arguments = parser.parse_args()
    if len(arguments.weights) != len(arguments.shares) or abs(sum(arguments.shares) - 1) > 1e-6:
        parser.error("give as many shares as files, which make 1 together")
    try:
        blended = blend([load_file(path) for path in arguments.weights], arguments.shares)
    except ValueError as err:
        parser.error(str(err))
    checkpoint.save_weights(arguments.out, blended)


if __name__ == "__main__":
    main()
