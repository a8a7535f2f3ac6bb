"""M2M100's network, with the names that Hugging Face gives its parts.

It computes what M2M100ForConditionalGeneration does (export.py checks that), but for
training: dropout is a multiplication with a mask made in advance, nothing is masked where
nothing is padded, and the loss comes from loss.py.
"""
import dataclasses
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from pieces import PAD

POSITIONS = 1024
# cuDNN's attention plans for each new shape, of which sentences have many: 0.4 s a step on an H200.
torch.backends.cuda.enable_cudnn_sdp(False)


@dataclasses.dataclass(frozen=True)
class Shape:
    """The sizes of a network."""
    vocabulary: int
    width: int = 256
    heads: int = 4
    encoder_layers: int = 8
    decoder_layers: int = 3
    encoder_ffn: int = 1024
    decoder_ffn: int = 1024


class Dropout(nn.Module):
    """Dropout that takes its masks, one after another, from a pool of them.

    On a CPU most of the time of a usual dropout goes into random bits. The masks are
    stretches of the pool that start at random; refill makes a new pool.
    """
    SIZE = 1 << 24

    def __init__(self, rate):
        super().__init__()
        self.rate, self.pool = rate, None

    def refill(self, generator, device, precision):
        """Makes a new pool. Without one nothing is dropped."""
        if self.rate and device.type == "cpu":
            kept = torch.empty(self.SIZE, dtype=torch.uint8).random_(256, generator=generator) >= round(256 * self.rate)
            self.pool = kept.to(precision) / kept.float().mean()

    def forward(self, x):
        if not self.training or not self.rate:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        n = x.numel()
        if self.pool is None or n > self.SIZE:
            return F.dropout(x, self.rate)
        start = int(torch.randint(self.SIZE - n + 1, ()))
        return x * self.pool[start:start + n].view(x.shape)


class Attention(nn.Module):
    """Attention with several heads."""

    def __init__(self, shape):
        super().__init__()
        self.heads = shape.heads
        for name in ("k_proj", "v_proj", "q_proj", "out_proj"):
            layer = nn.Linear(shape.width, shape.width)
            nn.init.xavier_uniform_(layer.weight, 1 if name == "out_proj" else 1 / math.sqrt(2))
            nn.init.zeros_(layer.bias)
            setattr(self, name, layer)

    def split(self, x):
        """[rows, length, width] as [rows, heads, length, width / heads]"""
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def project(self, x, names):
        """Several projections of x by one multiplication, split by heads."""
        layers = [getattr(self, name) for name in names]
        found = F.linear(x, torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers]))
        return [self.split(part) for part in found.chunk(len(layers), -1)]

    def forward(self, queries, keys, values, mask=None, causal=False):
        attend = F.scaled_dot_product_attention if queries.is_cuda else _attend
        x = attend(queries, keys, values, attn_mask=mask, is_causal=causal)
        return self.out_proj(x.transpose(1, 2).flatten(2))


def _attend(queries, keys, values, attn_mask=None, is_causal=False):
    """scaled_dot_product_attention for a CPU, where torch's own (2.15) takes two to six times as long
    in the backward pass at the lengths of sentences: a quarter of all training."""
    scores = queries * queries.shape[-1] ** -0.5 @ keys.transpose(-1, -2)
    if is_causal:
        n = queries.shape[2]
        attn_mask = torch.ones(n, n, dtype=torch.bool, device=queries.device).tril()
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    return scores.softmax(-1).to(values.dtype) @ values


class Layer(nn.Module):
    """A transformer layer that normalizes first."""

    def __init__(self, shape, ffn, dropout, decoder):
        super().__init__()
        self.dropout = dropout
        self.self_attn, self.self_attn_layer_norm = Attention(shape), nn.LayerNorm(shape.width)
        if decoder:
            self.encoder_attn, self.encoder_attn_layer_norm = Attention(shape), nn.LayerNorm(shape.width)
        self.fc1, self.fc2 = nn.Linear(shape.width, ffn), nn.Linear(ffn, shape.width)
        for layer in (self.fc1, self.fc2):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.final_layer_norm = nn.LayerNorm(shape.width)

    def forward(self, x, mask=None, causal=False, memory=None, memory_mask=None):
        """memory: what the encoder made; None in the encoder."""
        queries, keys, values = self.self_attn.project(self.self_attn_layer_norm(x), ("q_proj", "k_proj", "v_proj"))
        x = x + self.dropout(self.self_attn(queries, keys, values, mask, causal))
        if memory is not None:
            x = self.across(x, *self.encoder_attn.project(memory, ("k_proj", "v_proj")), memory_mask)
        return self.feed(x)

    def across(self, x, keys, values, mask):
        """Adds the attention to the encoder's output."""
        queries = self.encoder_attn.split(self.encoder_attn.q_proj(self.encoder_attn_layer_norm(x)))
        return x + self.dropout(self.encoder_attn(queries, keys, values, mask))

    def feed(self, x):
        """Adds the feed-forward part."""
        return x + self.dropout(self.fc2(F.relu(self.fc1(self.final_layer_norm(x)))))


class Stack(nn.Module):
    """The layers of the encoder or of the decoder."""

    def __init__(self, shape, dropout, decoder):
        super().__init__()
        count, ffn = (shape.decoder_layers, shape.decoder_ffn) if decoder else (shape.encoder_layers, shape.encoder_ffn)
        self.layers = nn.ModuleList(Layer(shape, ffn, dropout, decoder) for _ in range(count))
        self.layer_norm = nn.LayerNorm(shape.width)


class M2M100(nn.Module):
    """The whole network. Texts are rows of ids with padding at their end."""

    def __init__(self, shape, dropout=0.1):
        super().__init__()
        self.shape, self.dropout = shape, Dropout(dropout)
        self.model = nn.Module()
        self.model.shared = nn.Embedding(shape.vocabulary, shape.width, padding_idx=PAD)
        nn.init.normal_(self.model.shared.weight, 0, shape.width ** -0.5)
        with torch.no_grad():
            self.model.shared.weight[PAD] = 0
        self.model.encoder, self.model.decoder = Stack(shape, self.dropout, False), Stack(shape, self.dropout, True)
        self.register_buffer("positions", _positions(shape.width), persistent=False)

    def embed(self, ids, start=0):
        """The embeddings of ids that stand at positions from start on."""
        x = self.model.shared(ids) * math.sqrt(self.shape.width)
        return self.dropout(x + self.positions[start:start + ids.shape[1]])

    def encode(self, source):
        """[rows, length] as [rows, length, width], and the mask of its padding, None if there is none."""
        x, mask = self.embed(source), padding(source)
        for layer in self.model.encoder.layers:
            x = layer(x, mask)
        return self.model.encoder.layer_norm(x), mask

    def decode(self, target, memory, memory_mask):
        """The decoder's output at each position of target, which sees what is before it."""
        x = self.embed(target)
        for layer in self.model.decoder.layers:
            x = layer(x, None, True, memory, memory_mask)
        return self.model.decoder.layer_norm(x)

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))

    def logits(self, x):
        """The scores of all entries of the vocabulary."""
        return F.linear(x, self.model.shared.weight)


def padding(ids):
    """Where attention may look: [rows, 1, 1, length], or None where that is everywhere."""
    there = ids.ne(PAD)
    if ids.device.type == "cpu" and there.all():
        return None
    return there[:, None, None]


def _positions(width):
    """Sinusoids, the sines in the first half; M2M100 counts from PAD + 1."""
    half = width // 2
    frequency = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    angle = torch.arange(PAD + 1, PAD + 1 + POSITIONS)[:, None] * frequency
    return torch.cat([angle.sin(), angle.cos()], 1)
