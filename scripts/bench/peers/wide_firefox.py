"""Makes a model of Firefox's tiny shape: wide_firefox.py SMALL OUT

SMALL was trained, model/testdata/firefox-trained. The network in OUT writes much the same, as 6 + 2 layers 256 wide with 8 heads and 32,000 tokens:

- every column stands there twice, and a matrix has half its weights. Positions are computed by the width, so that columns take the places of those
  whose frequencies are next to theirs;
- a norm of a norm is the norm, so that a layer that SMALL does not have changes nothing where it adds zeros, and the last one scales;
- a token that SMALL does not have is never written, and no text has its piece.
"""
import glob
import os
import shutil
import struct
import sys

import numpy as np
from sentencepiece import sentencepiece_model_pb2

WIDTH, HEADS, LAYERS, HIDDEN, TOKENS = 256, 8, 6, 1536, 32000
FLOAT, INTGEMM8 = 0x404, 0x4101


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    _, count = struct.unpack_from("<QQ", data)
    at, heads = 16, []
    for _ in range(count):
        heads.append(struct.unpack_from("<QQQQ", data, at))
        at += 32
    names = []
    for length, *_ in heads:
        names.append(data[at:at + length - 1].decode())
        at += length
    shapes = []
    for _, _, rank, _ in heads:
        shapes.append(struct.unpack_from(f"<{rank}i", data, at))
        at += 4 * rank
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    items = {}
    for name, shape, (_, kind, _, size) in zip(names, shapes, heads):
        items[name] = kind, shape, data[at:at + size]
        at += size
    return items


def write(path, items):
    out = struct.pack("<QQ", 1, len(items))
    out += b"".join(struct.pack("<QQQQ", len(n) + 1, kind, len(shape), len(d)) for n, (kind, shape, d) in items.items())
    out += b"".join(n.encode() + b"\0" for n in items)
    out += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, shape, _ in items.values())
    gap = -(len(out) + 8) % 256
    with open(path, "wb") as f:
        f.write(out + struct.pack("<Q", gap) + bytes(gap) + b"".join(d for *_, d in items.values()))


class Wide:
    def __init__(self, small, width):
        self.small, self.items, self.width = small, {}, width
        half = np.rint(np.arange(WIDTH // 2) * (width // 2 - 1) / (WIDTH // 2 - 1)).astype(int)
        self.columns = np.r_[half, width // 2 + half]  # sines, then cosines
        self.times = WIDTH // width
        assert (np.bincount(self.columns) == self.times).all()
        size = WIDTH // HEADS
        self.heads = np.arange(WIDTH) // size * (width // size) // HEADS * size + np.arange(WIDTH) % size

    def floats(self, name, values):
        values = np.asarray(values, "<f4").reshape(1, -1)
        self.items[name] = FLOAT, values.shape, values.tobytes()

    def vector(self, name, of, columns, by=1.0, silent=False):
        values = np.frombuffer(self.small[of][2], "<f4")[columns]
        self.floats(name, np.zeros_like(values) if silent else values * np.float32(by))

    def matrix(self, name, of, inputs, outputs, by, table=False, silent=False):
        """A matrix [in, out], which lies [out, in] unless it is a table, with its number of multiplication by `by`."""
        _, shape, data = self.small[of]
        count = shape[0] * shape[1]
        weights = np.frombuffer(data[:count], np.int8).reshape(shape if table else shape[::-1])
        weights = weights[np.ix_(inputs, outputs) if table else np.ix_(outputs, inputs)]
        by = np.float32(struct.unpack_from("<f", data, count)[0] * by)
        raw = (np.zeros_like(weights) if silent else weights).tobytes() + struct.pack("<f", by)
        self.items[name] = INTGEMM8, (len(inputs), len(outputs)), raw + bytes(-len(raw) % 256)
        if of + "_QuantMultA" in self.small:
            self.items[name + "_QuantMultA"] = self.small[of + "_QuantMultA"]

    def norm(self, name, of, plain, by=1.0):
        if plain:
            self.floats(name + "_ln_scale", np.ones(WIDTH))
            self.floats(name + "_ln_bias", np.zeros(WIDTH))
        else:
            self.vector(name + "_ln_scale", of + "_ln_scale", self.columns, by)
            self.vector(name + "_ln_bias", of + "_ln_bias", self.columns, by)

    def layer(self, side, i, count, known, by=1.0):
        """Layer i of count, of which the small network has known."""
        silent, name, of = i > known, f"{side}_l{i}", f"{side}_l{min(i, known)}"
        block = "self" if side == "encoder" else "context"
        c, h, hidden = self.columns, self.heads, np.arange(HIDDEN) % np.frombuffer(self.small[f"{of}_ffn_b1"][2], "<f4").size
        if side == "decoder":
            self.matrix(f"{name}_rnn_W", f"{of}_rnn_W", c, c, self.times)
            self.matrix(f"{name}_rnn_Wf", f"{of}_rnn_Wf", c, c, self.times)
            self.vector(f"{name}_rnn_bf", f"{of}_rnn_bf", c)
            self.norm(f"{name}_rnn_ffn", f"{of}_rnn_ffn", False)
        for part in "qkv":
            self.matrix(f"{name}_{block}_W{part}", f"{of}_{block}_W{part}", c, h, self.times)
            self.vector(f"{name}_{block}_b{part}", f"{of}_{block}_b{part}", h)
        self.matrix(f"{name}_{block}_Wo", f"{of}_{block}_Wo", h, c, self.times, silent=silent)
        self.vector(f"{name}_{block}_bo", f"{of}_{block}_bo", c, silent=silent)
        self.norm(f"{name}_{block}_Wo", f"{of}_{block}_Wo", silent)
        self.matrix(f"{name}_ffn_W1", f"{of}_ffn_W1", c, hidden, self.times)
        self.vector(f"{name}_ffn_b1", f"{of}_ffn_b1", hidden)
        self.matrix(f"{name}_ffn_W2", f"{of}_ffn_W2", hidden, c, HIDDEN / (hidden.max() + 1), silent=silent)
        self.vector(f"{name}_ffn_b2", f"{of}_ffn_b2", c, silent=silent)
        self.norm(f"{name}_ffn_ffn", f"{of}_ffn_ffn", i < count and i >= known, by)

    def made(self):
        by = self.times ** 0.5  # the factor of embeddings is the root of the width
        known = self.small["Wemb"][1][0]
        rows = np.arange(TOKENS) % known
        self.matrix("Wemb", "Wemb", rows, self.columns, by, table=True)
        self.floats("none_QuantMultA", np.frombuffer(self.small["none_QuantMultA"][2], "<f4") * np.float32(by))
        for i in range(1, LAYERS + 1):
            self.layer("encoder", i, LAYERS, self.count("encoder"))
        layers = self.count("decoder")
        for i in range(1, layers + 1):
            self.layer("decoder", i, layers, layers, 1 / by if i == layers else 1.0)
        bias = np.frombuffer(self.small["decoder_ff_logit_out_b"][2], "<f4")
        self.floats("decoder_ff_logit_out_b", np.where(np.arange(TOKENS) < known, bias[rows], np.float32(-100)))
        kind, _, yml = self.small["special:model.yml"]
        sizes = {"dim-emb": WIDTH, "enc-depth": LAYERS, "transformer-heads": HEADS, "transformer-dim-ffn": HIDDEN}
        lines = yml.rstrip(b"\0").decode().split("\n")
        lines = [f"{key}: {sizes[key]}" if key in sizes else line.replace(str(known), str(TOKENS)) for line in lines for key in [line.split(":")[0]]]
        yml = "\n".join(lines).encode() + b"\0"
        self.items["special:model.yml"] = kind, (len(yml),), yml
        missing = {n.split("_l")[0] for n in self.small} - {n.split("_l")[0] for n in self.items}
        assert not missing, missing
        return self.items

    def count(self, side):
        return max(int(name.split("_")[1][1:]) for name in self.small if name.startswith(side + "_l"))


def main(small, out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    [model], [vocabulary] = glob.glob(os.path.join(small, "model.*.bin")), glob.glob(os.path.join(small, "vocab.*.spm"))
    items = read(model)
    write(os.path.join(out, os.path.basename(model)), Wide(items, items["Wemb"][1][1]).made())
    pieces = sentencepiece_model_pb2.ModelProto()
    with open(vocabulary, "rb") as f:
        pieces.ParseFromString(f.read())
    lowest = min(piece.score for piece in pieces.pieces)
    for i in range(TOKENS - len(pieces.pieces)):
        pieces.pieces.add(piece=f"▁\ue000{i}", score=lowest - 1)
    with open(os.path.join(out, os.path.basename(vocabulary)), "wb") as f:
        f.write(pieces.SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
