"""Writes weights that are a mean of those of several checkpoints.

    python scripts/training/blend.py --weights FIRST.safetensors SECOND.safetensors --shares 0.4 0.6 --out CHECKPOINT/model.safetensors

For a checkpoint and one that was trained further from it: what lies between them can be better than both in the mean of
all directions, as in Wortsman et al., "Robust fine-tuning of zero-shot models" (2022). An encoder that grew must grow in both (grow.py).
"""
import argparse

from safetensors.torch import load_file, save_file


def blend(checkpoints, shares):
    """The sum of weights, each times its share, in the type that they have in the last of the checkpoints.

    ValueError where they are not of one shape."""
    last = checkpoints[-1]
    for weights in checkpoints:
        if {name: tensor.shape for name, tensor in weights.items()} != {name: tensor.shape for name, tensor in last.items()}:
            raise ValueError("the checkpoints have different shapes: grow.py may help")
    return {name: sum(share * weights[name].float() for weights, share in zip(checkpoints, shares, strict=True)).to(tensor.dtype)
            for name, tensor in last.items()}


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
    save_file(blended, arguments.out, metadata={"format": "pt"})


if __name__ == "__main__":
    main()
