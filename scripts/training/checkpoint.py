"""The state of a training run, and weights, on disk."""
import os

import torch
from safetensors.torch import save_file

import files

NAME = "state.pt"


def save(folder, state):
    """Writes the state so that a kill at any moment leaves a whole file: the new or the last one."""
    with files.replaced(os.path.join(folder, NAME)) as f:
        torch.save(state, f)


def load(folder):
    """The state, on the CPU; None if there is none."""
    path = os.path.join(folder, NAME)
    return torch.load(path, map_location="cpu", weights_only=True) if os.path.exists(path) else None


def save_weights(path, weights):
    """Writes the weights of a checkpoint in Hugging Face's form, for everybody to read."""
    save_file(weights, path, metadata={"format": "pt"})
    os.chmod(path, 0o644)  # save_file makes files that only their owner reads
