"""Makes an Argos package of the published models' size: wide_argos.py SMALL OUT SENTENCES PAIRS

SMALL is an unpacked package that was trained, model/testdata/families/ctranslate2-trained. The network in OUT writes the same, as 6 + 6 layers
512 wide with 8 heads and 32,001 tokens, in 8 bits:

- every column stands there four times, and a matrix has a quarter of its weights, so that norms, products and 8-bit numbers stay what they are;
- a layer that SMALL does not have adds zeros to what it is given;
- a token that SMALL does not have is never written, and no text has its piece.

SENTENCES becomes the English sentences of PAIRS whose translation by SMALL ends: it was trained on little, and sometimes repeats itself.
"""
import json
import os
import random
import shutil
import struct
import sys

import ctranslate2
import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

WIDTH, HEADS, LAYERS, HIDDEN, TOKENS, POSITIONS = 512, 8, 6, 2048, 32001, 5000
LONGEST = 40  # tokens of a sentence and its translation
TYPES = [np.float32, np.int8, np.int16, np.int32, np.float16]  # by their numbers in model.bin


def read(path):
    """The header, arrays and aliases of a model.bin."""
    with open(path, "rb") as f:
        def number(kind):
            return struct.unpack("<" + kind, f.read(struct.calcsize(kind)))[0]

        def text():
            return f.read(number("H"))[:-1].decode()

        header, arrays = (number("I"), text(), number("I")), {}
        for _ in range(number("I")):
            name = text()
            shape = [number("I") for _ in range(number("B"))]
            kind = TYPES[number("B")]
            arrays[name] = np.frombuffer(f.read(number("I")), kind).reshape(shape)
        return header, arrays, [(text(), text()) for _ in range(number("I"))]


def write(path, header, arrays, aliases):
    with open(path, "wb") as f:
        def text(value):
            f.write(struct.pack("<H", len(value) + 1) + value.encode() + b"\0")

        f.write(struct.pack("<I", header[0]))
        text(header[1])
        f.write(struct.pack("<II", header[2], len(arrays)))
        for name, array in arrays.items():
            text(name)
            f.write(struct.pack(f"<B{array.ndim}IBI", array.ndim, *array.shape, TYPES.index(array.dtype), array.nbytes) + array.tobytes())
        f.write(struct.pack("<I", len(aliases)))
        for alias in aliases:
            text(alias[0])
            text(alias[1])


class Wide:
    """The arrays of the wide network, from those of the small one."""

    def __init__(self, small):
        self.small, self.arrays = small, {}
        self.width = small["decoder/layer_norm/gamma"].size
        heads = int(small["decoder/num_heads"])
        self.times, size = WIDTH // self.width, self.width // heads
        self.columns = np.arange(WIDTH) % self.width
        # A wide head has the columns of one small head, several times over: its products are as many times larger, which the weights of queries undo.
        head = np.arange(WIDTH) // (WIDTH // HEADS)
        self.heads = head * heads // HEADS * size + np.arange(WIDTH) % size
        self.sharper = (WIDTH // HEADS / size) ** 0.5
        hidden = small["encoder/layer_0/ffn/linear_0/bias"].size
        self.hidden = np.arange(HIDDEN) % hidden
        self.unused = np.arange(HIDDEN) >= HIDDEN // self.times // hidden * hidden * self.times

    def scalar(self, name, value=None):
        self.arrays[name] = self.small[name] if value is None else np.asarray(value, self.small[name].dtype)

    def norm(self, name, of, by=1.0):
        for part in ("beta", "gamma"):
            self.arrays[f"{name}/{part}"] = self.small[f"{of}/{part}"][self.columns] * np.float32(by)

    def linear(self, name, of, rows, columns, divided, sharper=None, unused=None, silent=False):
        """A matrix of rows and columns of the small one's, each of which stands `divided` times in columns."""
        weight, scale, bias = (self.small[f"{of}/{part}"] for part in ("weight", "weight_scale", "bias"))
        weight, scale, bias = weight[np.ix_(rows, columns)].copy(), scale[rows] * np.float32(divided), bias[rows].copy()
        if sharper is not None:
            scale, bias = scale * sharper, bias / sharper
        if unused is not None:
            weight[:, unused] = 0
        if silent:
            weight[:], bias[:] = 0, 0
        self.arrays |= {f"{name}/weight": weight, f"{name}/weight_scale": scale.astype(np.float32), f"{name}/bias": bias.astype(np.float32)}

    def attention(self, name, of, memory, silent):
        n, queries = self.width, np.full(WIDTH, self.sharper, np.float32)
        self.norm(f"{name}/layer_norm", f"{of}/layer_norm")
        if memory:
            self.linear(f"{name}/linear_0", f"{of}/linear_0", self.heads, self.columns, self.times, queries)
            self.linear(f"{name}/linear_1", f"{of}/linear_1", np.r_[self.heads, n + self.heads], self.columns, self.times)
        else:
            rows = np.r_[self.heads, n + self.heads, 2 * n + self.heads]
            self.linear(f"{name}/linear_0", f"{of}/linear_0", rows, self.columns, self.times, np.r_[queries, np.ones(2 * WIDTH, np.float32)])
        last = f"linear_{2 if memory else 1}"
        self.linear(f"{name}/{last}", f"{of}/{last}", self.columns, self.heads, self.times, silent=silent)

    def stack(self, side):
        for i in range(LAYERS):
            silent = f"{side}/layer_{i}/ffn/linear_0/bias" not in self.small
            name, of = f"{side}/layer_{i}", f"{side}/layer_{0 if silent else i}"
            self.attention(f"{name}/self_attention", f"{of}/self_attention", False, silent)
            if side == "decoder":
                self.attention(f"{name}/attention", f"{of}/attention", True, silent)
            self.norm(f"{name}/ffn/layer_norm", f"{of}/ffn/layer_norm")
            self.linear(f"{name}/ffn/linear_0", f"{of}/ffn/linear_0", self.hidden, self.columns, self.times)
            self.linear(f"{name}/ffn/linear_1", f"{of}/ffn/linear_1", self.columns, self.hidden, self.times, unused=self.unused, silent=silent)
        # The embeddings, which are also the head, are halved below, as their factor is the root of the width.
        by = (WIDTH / self.width) ** 0.5 / self.times if side == "decoder" else 1
        self.norm(f"{side}/layer_norm", f"{side}/layer_norm", by)

    def made(self):
        for name, array in self.small.items():
            if array.ndim == 0:
                self.scalar(name)
        for side in ("encoder", "decoder"):
            self.scalar(f"{side}/num_heads", HEADS)
            self.stack(side)
        known = len(self.small["decoder/projection/bias"])
        rows = np.arange(TOKENS) % known
        by = np.float32((WIDTH / self.width) ** 0.5)
        self.arrays["decoder/embeddings/weight"] = self.small["decoder/embeddings/weight"][np.ix_(rows, self.columns)]
        self.arrays["decoder/embeddings/weight_scale"] = self.small["decoder/embeddings/weight_scale"][rows] * by
        self.arrays["decoder/projection/bias"] = np.where(np.arange(TOKENS) < known, self.small["decoder/projection/bias"][rows], np.float32(-100))
        self.arrays["decoder/position_encodings/encodings"] = self.positions()
        return self.arrays

    def positions(self):
        angles = np.arange(POSITIONS)[:, None] / 10000 ** (np.arange(0, self.width, 2) / self.width)
        table = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(POSITIONS, -1).astype(np.float32)
        given = self.small["decoder/position_encodings/encodings"]
        assert np.allclose(table[:len(given)], given, atol=1e-5), "the small network has other positions"
        return table[:, self.columns]


def ending(small, pairs):
    """The English sentences of a file of pairs, each once, whose translation ends, in a fixed order that mixes them."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=os.path.join(small, "sentencepiece.model"))
    with open(pairs, encoding="utf8") as f:
        lines = list(dict.fromkeys(fields[3] for line in f if (fields := line.rstrip("\n").split("\t"))[1] == "en"))
    lines += ["I think " + (line if line.startswith("I ") else line[0].lower() + line[1:]) for line in lines]  # twice as many
    random.Random(1).shuffle(lines)
    tokens = [pieces.encode(line, out_type=str) for line in lines]
    kept = [(line, of) for line, of in zip(lines, tokens) if 3 < len(of) < LONGEST]
    made = ctranslate2.Translator(small).translate_batch([of for _, of in kept], beam_size=4, length_penalty=0.2, max_decoding_length=LONGEST)
    return [line for (line, _), result in zip(kept, made) if len(result.hypotheses[0]) < LONGEST]


def main(small, out, sentences, pairs):
    with open(sentences, "w", encoding="utf8") as f:
        f.writelines(line + "\n" for line in ending(small, pairs))
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(os.path.join(out, "model"))
    header, arrays, aliases = read(os.path.join(small, "model.bin"))
    arrays = Wide(arrays).made()
    write(os.path.join(out, "model", "model.bin"), header, dict(sorted(arrays.items())), aliases)
    with open(os.path.join(small, "shared_vocabulary.json"), encoding="utf8") as f:
        vocabulary = json.load(f)
    made_up = [f"▁\ue000{i}" for i in range(TOKENS - len(vocabulary))]
    with open(os.path.join(out, "model", "shared_vocabulary.json"), "w", encoding="utf8") as f:
        json.dump(vocabulary + made_up, f, ensure_ascii=False)
    pieces = sentencepiece_model_pb2.ModelProto()
    with open(os.path.join(small, "sentencepiece.model"), "rb") as f:
        pieces.ParseFromString(f.read())
    lowest = min(piece.score for piece in pieces.pieces)
    for piece in made_up:
        pieces.pieces.add(piece=piece, score=lowest - 1)
    with open(os.path.join(out, "sentencepiece.model"), "wb") as f:
        f.write(pieces.SerializeToString())
    shutil.copy(os.path.join(small, "config.json"), os.path.join(out, "model"))
    shutil.copy(os.path.join(small, "metadata.json"), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
