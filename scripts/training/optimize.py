"""How weights change: the optimizers, the learning rate over time, the average of weights."""
import copy

import torch


class Optimizers:
    """AdamW, or Muon for the matrices of the layers and AdamW for the rest."""

    def __init__(self, model, name, rate, decay):
        matrices, others, plain = [], [], []
        for key, parameter in model.named_parameters():
            if parameter.dim() < 2:
                plain.append(parameter)
            else:
                (others if "shared" in key else matrices).append(parameter)
        self.rate = rate
        adam = [{"params": others, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]
        self.all = []
        if name == "muon":
            # Scaled so that the same learning rate does for both.
            self.all.append(torch.optim.Muon(matrices, lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw"))
        else:
            adam[0]["params"] = others + matrices
        self.all.append(torch.optim.AdamW(adam, lr=rate, betas=(0.9, 0.98), fused=True))

    def step(self, share):
        """Changes the weights, with a share of the full learning rate."""
        for optimizer in self.all:
            for group in optimizer.param_groups:
                group["lr"] = self.rate * share
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def state_dict(self):
        return [optimizer.state_dict() for optimizer in self.all]

    def load_state_dict(self, states):
        for optimizer, state in zip(self.all, states, strict=True):
            optimizer.load_state_dict(state)


def learning_rate(step, warmup, decay_start=None, decay_steps=1):
    """The share of the full learning rate: up in warmup steps, level for as long as it
    takes, and down to nothing in decay_steps from decay_start on."""
    share = min((step + 1) / warmup, 1.0)
    if decay_start is not None and step >= decay_start:
        share *= max(1 - ((step - decay_start) / decay_steps) ** 0.5, 0.0)
    return share


class Average:
    """A copy of a model whose weights follow the model's slowly. It is what gets measured and
    exported: as good as a model whose learning rate went down, at any time."""

    EVERY = 8  # steps between two updates

    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model).eval().requires_grad_(False), decay

    @torch.no_grad()
    def update(self, model, step):
        """Follows the model. Young averages forget faster: the first steps are of no use."""
        if step % self.EVERY:
            return
        decay = min(self.decay, (step + 1) / (step + 10)) ** self.EVERY
        torch._foreach_lerp_(list(self.model.parameters()), list(model.parameters()), 1 - decay)
