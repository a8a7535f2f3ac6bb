"""The state of a training run on disk."""
import os

import torch

NAME = "state.pt"


def save(folder, state):
    """Writes the state so that a kill at any moment leaves a whole file: the new or the last one."""
    path = os.path.join(folder, NAME)
    with open(path + ".part", "wb") as f:
        torch.save(state, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".part", path)


def load(folder):
    """The state, on the CPU; None if there is none."""
    path = os.path.join(folder, NAME)
    return torch.load(path, map_location="cpu", weights_only=True) if os.path.exists(path) else None
