"""Trains a small model of OpenNMT's form for English to French, and makes an Argos package of it, unpacked, with its goldens
by ctranslate2:

    .venv/bin/pip install ctranslate2==4.8.5
    .venv/bin/python scripts/goldens/argos_trained.py --pairs train.tsv --minutes 30

As opus_trained.py's. See training.py for the file of pairs.
"""
import math
import os
import tempfile

import numpy as np
import sentencepiece
import torch
from ctranslate2.specs.model_spec import LayerSpec
from torch.nn import functional as F

import converted
import marian
import training

FOLDER = os.path.join(converted.TESTDATA, "families", "ctranslate2-trained")
PIECES = 1200
WIDTH, HEADS, LAYERS, HIDDEN = 128, 4, (2, 1), 384
PAD = converted.SPECIAL.index("<blank>")
BOS, EOS = converted.SPECIAL.index("<s>"), converted.SPECIAL.index("</s>")


class Network:
    """The network of a specification of ctranslate2, whose arrays are its parameters by the names that they have there."""

    def __init__(self, vocabulary):
        self.spec = converted.random_spec(1, [vocabulary] * 2, WIDTH, HEADS, LAYERS, HIDDEN)
        self.positions = torch.tensor(self.spec.decoder.position_encodings.encodings)
        self.arrays = {}
        for name, owner, field in self.walk(self.spec, ""):
            if name not in ("encoder.embeddings.0.weight", "decoder.projection.weight"):  # are decoder.embeddings.weight
                self.arrays[name] = owner, field
        self.p = {name: self.begin(getattr(owner, field)) for name, (owner, field) in self.arrays.items()}

    def walk(self, layer, name):
        """The arrays that are trained: names, owners and the owners' fields."""
        for field, value in sorted(vars(layer).items()):
            if isinstance(value, np.ndarray) and value.ndim > 0 and field != "encodings":
                yield name + field, layer, field
            elif isinstance(value, list):
                for i, one in enumerate(value):
                    yield from self.walk(one, f"{name}{field}.{i}.")
            elif isinstance(value, LayerSpec):
                yield from self.walk(value, f"{name}{field}.")

    def begin(self, array):
        if array.ndim > 1:
            value = torch.randn(array.shape) / WIDTH ** 0.5
        else:
            value = torch.full(array.shape, float(abs(array.mean() - 1) < 0.5))  # a norm's factor, or a bias
        return value.requires_grad_()

    def linear(self, x, name):
        return F.linear(x, self.p[name + ".weight"], self.p[name + ".bias"])

    def norm(self, x, name):
        return F.layer_norm(x, (WIDTH,), self.p[name + ".gamma"], self.p[name + ".beta"])

    def attend(self, q, k, v, name, last, **mask):
        q, k, v = (y.view(*y.shape[:2], HEADS, -1).transpose(1, 2) for y in (q, k, v))
        return self.linear(F.scaled_dot_product_attention(q, k, v, **mask).transpose(1, 2).flatten(2), f"{name}.linear.{last}")

    def stack(self, ids, name, layers, mask, memory=None):
        x = self.p["decoder.embeddings.weight"][ids] * math.sqrt(WIDTH) + self.positions[:ids.shape[1]]
        own = {"attn_mask": mask} if memory is None else {"is_causal": True}
        for i in range(layers):
            layer = f"{name}.layer.{i}"
            y = self.norm(x, f"{layer}.self_attention.layer_norm")
            x = x + self.attend(*self.linear(y, f"{layer}.self_attention.linear.0").chunk(3, -1), f"{layer}.self_attention", 1, **own)
            if memory is not None:
                q = self.linear(self.norm(x, f"{layer}.attention.layer_norm"), f"{layer}.attention.linear.0")
                x = x + self.attend(q, *self.linear(memory, f"{layer}.attention.linear.1").chunk(2, -1), f"{layer}.attention", 2, attn_mask=mask)
            y = F.relu(self.linear(self.norm(x, f"{layer}.ffn.layer_norm"), f"{layer}.ffn.linear_0"))
            x = x + self.linear(y, f"{layer}.ffn.linear_1")
        return self.norm(x, f"{name}.layer_norm")

    def logits(self, sources, targets):
        mask = sources.ne(PAD)[:, None, None, :]
        memory = self.stack(sources, "encoder", LAYERS[0], mask)
        inputs = torch.cat([torch.full((len(targets), 1), BOS), targets[:, :-1]], 1)
        x = self.stack(inputs, "decoder", LAYERS[1], mask, memory)
        return F.linear(x, self.p["decoder.embeddings.weight"], self.p["decoder.projection.bias"])

    def trained(self):
        """The specification with what was learned."""
        for name, (owner, field) in self.arrays.items():
            setattr(owner, field, self.p[name].detach().numpy())
        self.spec.encoder.embeddings[0].weight = self.spec.decoder.projection.weight = self.spec.decoder.embeddings.weight
        return self.spec


def main():
    args = training.arguments(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    lines = [line for line in converted.sentences() if line["from"] == "en" and line["to"] == "fr" and line["set"] == "held-out"]
    pairs = training.read(args.pairs, {line["source"] for line in lines})
    texts = [{"source": source, "from": "en", "reference": target, "to": "fr"} for source, target in pairs]
    with tempfile.TemporaryDirectory() as work:
        marian.train(texts, ["en", "fr"], "nmt_nfkc", os.path.join(work, "sentencepiece"), PIECES)
        sp = sentencepiece.SentencePieceProcessor(model_file=os.path.join(work, "sentencepiece.spm"))
        pieces = converted.Pieces(sp)
        vocabulary = pieces.vocabulary
        ids = {piece: i for i, piece in enumerate(vocabulary)}
        network = Network(vocabulary)
        examples = [tuple([ids[piece] if piece in ids else 0 for piece in pieces.encode(text)] + end for text, end in zip(pair, ([], [EOS])))
                    for pair in pairs]
        training.train(network.p, network.logits, examples, PAD, args.minutes)
        converted.save_argos(network.trained(), os.path.join(work, "sentencepiece.spm"), FOLDER)
    converted.argos_goldens(FOLDER, pieces, lines)


if __name__ == "__main__":
    main()
