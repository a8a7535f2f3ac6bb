"""Looks inside the model along one decoded sentence: every step's best tokens,
the encoder's output and the cross-attention keys and values."""
import torch

from reference import number, numbers

BEST = 10  # tokens noted a step
HEAD = 8   # values noted of a vector


def steps(raw, never=None):
    """What generate() saw at each step, before any processor: the best tokens,
    their log-probabilities and the log-sum-exp of the logits. Step i follows
    the first i+1 ids of the output. A token that is never generated, and has no probability
    then, is left out."""
    out = []
    for logits in raw.logits:
        if never is not None:
            logits = logits.clone()
            logits[0, never] = float("-inf")
        top = torch.topk(torch.log_softmax(logits[0], -1), BEST)
        out.append({"ids": top.indices.tolist(), "log_probs": numbers(top.values),
                    "log_sum_exp": number(torch.logsumexp(logits[0], -1))})
    return out


@torch.inference_mode()
def encoder(model, source):
    """The encoder's last hidden state, after its LayerNorm: norm and first values by position."""
    hidden = model.get_encoder()(torch.tensor([source])).last_hidden_state[0]
    return {"norms": numbers(hidden.norm(dim=-1)), "heads": numbers(hidden[:, :HEAD])}


def cross_attention(raw):
    """Keys and values of the first and last decoder layer: mean magnitude by
    head, and the first values by head and position."""
    layers = [layer for layer in raw.past_key_values.cross_attention_cache.layers if layer.keys is not None]  # T5's cache has as many layers as the encoder
    return [{"layer": i, "keys": _heads(layers[i].keys[0]), "values": _heads(layers[i].values[0])}
            for i in sorted({0, len(layers) - 1})]


def _heads(x):
    """x is [heads, positions, width]."""
    return {"mean_abs": numbers(x.abs().mean(dim=(1, 2))), "heads": numbers(x[:, :, :HEAD])}
