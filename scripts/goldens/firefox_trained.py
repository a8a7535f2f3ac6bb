"""Trains a small student as Firefox's for English to French, and makes its goldens by fxtranslate:

    .venv/bin/python scripts/goldens/firefox_trained.py --pairs train.tsv --minutes 15

It is good at short everyday sentences only, and not made to be used: its translations are real ones, which end by
themselves. See training.py for the file of pairs.
"""
import math
import os
import random
import shutil

import numpy as np
import sentencepiece
import torch
from torch.nn import functional as F

import firefox
import training

FOLDER = os.path.join(firefox.TESTDATA, "firefox-trained")
SHAPE = (128, 4, 384, 2, 2, 1400)  # as firefox.SHAPES


class Student(torch.nn.Module):
    """The network of Firefox's students; parameters have Marian's names, matrices are [in, out]."""

    def __init__(self, shape, pieces):
        super().__init__()
        self.width, self.heads, ffn, self.encoder, self.decoder, _ = shape
        self.p, self.peaks = torch.nn.ParameterDict(), {}
        d = self.width
        self.add("Wemb", pieces, d, 1 / math.sqrt(d))
        self.p["decoder_ff_logit_out_b"] = torch.zeros(pieces)
        blocks = [(f"encoder_l{i}", "self") for i in range(1, self.encoder + 1)]
        blocks += [(f"decoder_l{i}", "context") for i in range(1, self.decoder + 1)]
        for layer, attention in blocks:
            for part in "qkvo":
                self.add(f"{layer}_{attention}_W{part}", d, d, bias=f"{layer}_{attention}_b{part}")
            self.add(f"{layer}_ffn_W1", d, ffn, bias=f"{layer}_ffn_b1")
            self.add(f"{layer}_ffn_W2", ffn, d, bias=f"{layer}_ffn_b2")
            norms = [f"{layer}_{attention}_Wo", f"{layer}_ffn_ffn"]
            if attention == "context":
                self.add(f"{layer}_rnn_W", d, d)
                self.add(f"{layer}_rnn_Wf", d, d, bias=f"{layer}_rnn_bf")
                norms.append(f"{layer}_rnn_ffn")
            for norm in norms:
                self.p[f"{norm}_ln_scale"], self.p[f"{norm}_ln_bias"] = torch.ones(d), torch.zeros(d)

    def add(self, name, rows, cols, std=None, bias=None):
        self.p[name] = torch.randn(rows, cols) * (std or 1 / math.sqrt(rows))
        if bias:
            self.p[bias] = torch.zeros(cols)

    def peak(self, name, x):
        """Notes the largest of what a matrix takes."""
        if not self.training:
            self.peaks[name] = max(self.peaks.get(name, 0.0), x.abs().max().item())

    def linear(self, x, w, b=None):
        self.peak(w, x)
        y = x @ self.p[w]
        return y + self.p[b] if b else y

    def norm(self, x, name):
        return F.layer_norm(x, (self.width,), self.p[f"{name}_ln_scale"], self.p[f"{name}_ln_bias"], 1e-6)

    def attend(self, x, memory, mask, name):
        split = lambda y: y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)
        q, k, v = (split(self.linear(y, f"{name}_W{c}", f"{name}_b{c}")) for c, y in (("q", x), ("k", memory), ("v", memory)))
        y = F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2)
        return self.norm(x + self.linear(y, f"{name}_Wo", f"{name}_bo"), f"{name}_Wo")

    def feed_forward(self, x, layer):
        y = self.linear(F.relu(self.linear(x, f"{layer}_ffn_W1", f"{layer}_ffn_b1")), f"{layer}_ffn_W2", f"{layer}_ffn_b2")
        return self.norm(x + y, f"{layer}_ffn_ffn")

    def embed(self, ids, shift):
        x = self.p["Wemb"][ids] * math.sqrt(self.width)
        if shift:
            x = F.pad(x, (0, 0, 1, 0))[:, :-1]
        half = self.width // 2
        angle = torch.arange(x.shape[1])[:, None] * torch.exp(torch.arange(half) * (-math.log(10000) / (half - 1)))
        return x + torch.cat([angle.sin(), angle.cos()], 1)

    def forward(self, sources, lengths_mask, targets):
        x, mask = self.embed(sources, False), lengths_mask[:, None, None, :]
        for i in range(1, self.encoder + 1):
            x = self.feed_forward(self.attend(x, x, mask, f"encoder_l{i}_self"), f"encoder_l{i}")
        memory, x = x, self.embed(targets, True)
        for i in range(1, self.decoder + 1):
            layer = f"decoder_l{i}"
            gate = torch.sigmoid(self.linear(x, f"{layer}_rnn_Wf", f"{layer}_rnn_bf"))
            candidate, state, states = (1 - gate) * self.linear(x, f"{layer}_rnn_W"), torch.zeros_like(x[:, 0]), []
            for t in range(x.shape[1]):
                state = gate[:, t] * state + candidate[:, t]
                states.append(state)
            x = self.norm(x + F.relu(torch.stack(states, 1)), f"{layer}_rnn_ffn")
            x = self.feed_forward(self.attend(x, memory, mask, f"{layer}_context"), layer)
        self.peak("none", x)
        return x @ self.p["Wemb"].T + self.p["decoder_ff_logit_out_b"]


def train(examples, pieces, minutes):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Student(SHAPE, pieces)
    training.train(dict(model.named_parameters()), lambda sources, targets: model(sources.clamp(min=0), sources.ne(-1), targets.clamp(min=0)),
                   examples, -1, minutes)
    return model.eval()


def save(model, examples, path):
    with torch.no_grad():
        for n, (sources, targets) in enumerate(training.batches(examples, -1, random.Random(2))):
            if n == 20:
                break
            model(sources.clamp(min=0), sources.ne(-1), targets.clamp(min=0))
    writer = firefox.Writer(0)
    for name, p in model.p.items():
        values = p.detach().numpy()
        if values.ndim == 1:
            writer.floats(name, values)
        else:
            writer.matrix(name, values, name != "Wemb", 127 / model.peaks[name] if name in model.peaks else None)
    writer.floats("none_QuantMultA", [127 / model.peaks["none"]])
    writer.settings(SHAPE, len(model.p["Wemb"]), len(model.p["Wemb"]), False)
    writer.write(path)


def main():
    args = training.arguments(__doc__)
    texts = [line["source"] for line in firefox.sentences() if line["from"] == "en"]
    pairs = training.read(args.pairs, set(texts))
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    raw = firefox.vocabulary([text for pair in pairs for text in pair], SHAPE[5], True)
    with open(os.path.join(FOLDER, "vocab.enfr.spm"), "wb") as f:
        f.write(raw)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=raw)
    examples = [tuple(pieces.encode(text) + [pieces.eos_id()] for text in pair) for pair in pairs]
    model = train(examples, pieces.get_piece_size(), args.minutes)
    save(model, examples, os.path.join(FOLDER, "model.enfr.intgemm.alphas.bin"))
    held_out = [line.split("\t")[2] for file in args.pairs for line in open(file, encoding="utf8")]
    rng = random.Random(3)
    more = [t for t in dict.fromkeys(held_out) if len(t) <= 60 and t.isascii()]
    firefox.goldens(FOLDER, texts + rng.sample(more, 1000 - len(set(texts))), raw, raw)


if __name__ == "__main__":
    main()
