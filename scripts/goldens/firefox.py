"""Models of Firefox's form (Marian's binary format, 8 bits, with alphas) with random weights, and goldens of them by
fxtranslate.

    .venv/bin/pip install fxtranslate==0.5.0 sentencepiece numpy
    .venv/bin/python scripts/goldens/firefox.py                    # those of model/testdata/firefox...
    .venv/bin/python scripts/goldens/firefox.py --shape tiny --texts FILE FOLDER  # one of the real sizes, to measure with

Outputs of random weights vary with their source, and end, as the bias of </s> sees to; those to measure with never end, so that
all sides write as many tokens.
"""
import argparse
import gzip
import importlib.metadata
import io
import json
import os
import shutil
import struct

import numpy as np
import sentencepiece

HERE = os.path.dirname(os.path.abspath(__file__))
TESTDATA = os.path.normpath(os.path.join(HERE, "..", "..", "model", "testdata"))
SENTENCES = os.path.join(HERE, "sentences.jsonl")
# width, heads, feed-forward, layers of the encoder and of the decoder, pieces
SHAPES = {"test": (64, 4, 96, 2, 2, 900), "tiny": (256, 8, 1536, 6, 2, 32000), "base": (512, 8, 2048, 6, 4, 32000)}
KINDS = {"firefox": False, "firefox-separate": True}  # two vocabularies
# With AVX2 fxtranslate adds two 8-bit products in 16 bits. Larger numbers would overflow there; numbers of real models hardly
# ever do.
MOST = 63
FLOAT, INTGEMM8, INT8 = 0x404, 0x4101, 0x101


def vocabulary(texts, pieces, bytes_too=False):
    """A SentencePiece model with the special pieces of Marian's."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_writer=out, vocab_size=pieces, hard_vocab_limit=False, bos_id=-1, pad_id=-1, eos_id=0,
        unk_id=1, byte_fallback=bytes_too, minloglevel=2)
    return out.getvalue()


class Writer:
    """Collects the items of a model."""

    def __init__(self, seed):
        self.random, self.items = np.random.default_rng(seed), []

    def floats(self, name, values):
        values = np.asarray(values, "<f4").reshape(1, -1)
        self.items.append((name, FLOAT, values.shape, values.tobytes()))

    def matrix(self, name, weights, transpose=True, alpha=None):
        """A matrix [in, out], which lies [out, in] unless it is a table."""
        by = np.float32(MOST / np.abs(weights).max())
        q = np.rint(weights * by).astype(np.int8)
        data = (q.T if transpose else q).tobytes() + struct.pack("<f", by)
        self.items.append((name, INTGEMM8, weights.shape, data + bytes(-len(data) % 256)))
        if alpha:
            self.floats(name + "_QuantMultA", [alpha])

    def layer(self, prefix, inputs, outputs, alpha, bias="b", weights="W", gain=1.0):
        self.matrix(prefix + weights, self.random.normal(0, gain / np.sqrt(inputs), (inputs, outputs)), alpha=alpha)
        if bias:
            self.floats(prefix + bias, self.random.normal(0, 0.1, outputs))

    def norm(self, prefix, width, gain=None):
        self.floats(prefix + "_ln_scale", self.random.normal(1, 0.1, width) if gain is None else gain)
        self.floats(prefix + "_ln_bias", self.random.normal(0, 0.1, width))

    def attention(self, prefix, width, alpha_q, alpha_kv):
        for part, alpha in (("q", alpha_q), ("k", alpha_kv), ("v", alpha_kv)):
            self.layer(f"{prefix}_", width, width, alpha, f"b{part}", f"W{part}", 1.5)
        self.layer(f"{prefix}_", width, width, 64.0, "bo", "Wo")
        self.norm(f"{prefix}_Wo", width)

    def feed_forward(self, prefix, width, ffn, gain=None):
        self.layer(f"{prefix}_ffn_", width, ffn, 32.0, "b1", "W1")
        self.layer(f"{prefix}_ffn_", ffn, width, 40.0, "b2", "W2")
        self.norm(f"{prefix}_ffn_ffn", width, gain)

    def settings(self, shape, sources, targets, separate):
        width, heads, ffn, encoder, decoder, _ = shape
        yml = "\n".join([
            f"dim-emb: {width}", "type: transformer", f"enc-depth: {encoder}", f"dec-depth: {decoder}", f"transformer-heads: {heads}",
            f"transformer-dim-ffn: {ffn}", "transformer-ffn-activation: relu", 'transformer-preprocess: ""', "transformer-postprocess: dan",
            "transformer-decoder-autoreg: rnn", "dec-cell: ssru", f"tied-embeddings-all: {str(not separate).lower()}",
            f"dim-vocabs:\n  - {sources}\n  - {targets}", "version: v1.9.56"]).encode() + b"\0"
        self.items.append(("special:model.yml", INT8, (len(yml),), yml))

    def write(self, path):
        out = struct.pack("<QQ", 1, len(self.items))
        out += b"".join(struct.pack("<QQQQ", len(n) + 1, k, len(s), len(d)) for n, k, s, d in self.items)
        out += b"".join(n.encode() + b"\0" for n, *_ in self.items)
        out += b"".join(struct.pack(f"<{len(s)}i", *s) for _, _, s, _ in self.items)
        gap = -(len(out) + 8) % 256
        out += struct.pack("<Q", gap) + bytes(gap)
        with open(path, "wb") as f:
            f.write(out + b"".join(d for *_, d in self.items))


def student(path, shape, sources, targets, separate, seed=1, end=2.0):
    """Writes a model with random weights."""
    width, heads, ffn, encoder, decoder, _ = shape
    w = Writer(seed)
    table = lambda rows: w.random.normal(0, 1 / np.sqrt(width), (rows, width))
    if separate:
        w.matrix("encoder_Wemb", table(sources), False)
        w.matrix("decoder_Wemb", table(targets), False)
        one = np.array([[127]], np.int8).tobytes() + struct.pack("<f", 127 / 30.0)
        w.items.append(("decoder_Wemb_QuantMultA", INTGEMM8, (1, 1), one + bytes(256 - len(one))))
    else:
        w.matrix("Wemb", table(targets), False)
        w.floats("none_QuantMultA", [30.0])
    for i in range(1, encoder + 1):
        w.attention(f"encoder_l{i}_self", width, 28.0, 28.0)
        w.feed_forward(f"encoder_l{i}", width, ffn)
    for i in range(1, decoder + 1):
        p = f"decoder_l{i}"
        w.layer(f"{p}_rnn_", width, width, 28.0, None, "W")
        w.layer(f"{p}_rnn_", width, width, 28.0, "bf", "Wf")
        w.norm(f"{p}_rnn_ffn", width)
        w.attention(f"{p}_context", width, 32.0, 32.0)
        # Without random signs, the fed token would always be the most similar one to the hidden state.
        w.feed_forward(p, width, ffn, w.random.normal(0, 1.2, width) if i == decoder else None)
    bias = w.random.normal(0, 0.1, targets)
    bias[0] = end  # </s>
    w.floats("decoder_ff_logit_out_b", bias)
    w.settings(shape, sources, targets, separate)
    w.write(path)


def shortlist(path, sources, targets, first, each, seed):
    """Writes a lexical shortlist: some random targets of each source."""
    random = np.random.default_rng(seed)
    lists = [np.sort(random.choice(targets, each, replace=False)).astype("<u4") for _ in range(sources)]
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in lists])]).astype("<u8")
    body = struct.pack("<QQQQ", first, each, len(offsets), int(offsets[-1])) + offsets.tobytes() + b"".join(x.tobytes() for x in lists)
    with open(path, "wb") as f:
        f.write(struct.pack("<QQ", 0xF11A48D5013417F5, 0) + body)


def make_folder(folder, shape, texts, separate, end, source_texts=None):
    os.makedirs(folder, exist_ok=True)
    path = lambda name: os.path.join(folder, name)
    pieces = {}
    for name, lines in {"srcvocab": source_texts, "trgvocab": texts}.items() if separate else {"vocab": texts}.items():
        raw = vocabulary(lines, shape[5])
        with open(path(f"{name}.enfr.spm"), "wb") as f:
            f.write(raw)
        pieces[name] = sentencepiece.SentencePieceProcessor(model_proto=raw).get_piece_size(), raw
    (sources, source), (targets, target) = pieces[min(pieces)], pieces[max(pieces)]
    student(path("model.enfr.intgemm.alphas.bin"), shape, sources, targets, separate, end=end)
    return source, target


def sentences():
    with open(SENTENCES, encoding="utf8") as f:
        return [json.loads(line) for line in f]


def make(kind):
    texts = [line["source"] for line in sentences()]
    folder = os.path.join(TESTDATA, kind)
    shutil.rmtree(folder, ignore_errors=True)
    source, target = make_folder(folder, SHAPES["test"], texts, KINDS[kind], 1.0, texts[::2])
    count = lambda raw: sentencepiece.SentencePieceProcessor(model_proto=raw).get_piece_size()
    lex = os.path.join(folder, "lex.50.50.enfr.s2t.bin")
    shortlist(lex, count(source), count(target), 20, 30, 5)
    goldens(folder, texts, source, target, lex)


def goldens(folder, texts, source, target, lex=None):
    """Writes what fxtranslate makes of texts with the model and the SentencePiece models of either side."""
    import fxtranslate
    read = lambda path: open(path, "rb").read()
    engine = fxtranslate.Translator(read(os.path.join(folder, "model.enfr.intgemm.alphas.bin")), source, target, read(lex) if lex else None)
    cases = [{"text": t, "translation": engine.translate(t)} for t in dict.fromkeys(texts) if "\n" not in t]
    goldens = {"made_with": f"fxtranslate {importlib.metadata.version('fxtranslate')}", "cases": cases}
    with gzip.GzipFile(os.path.join(folder, "goldens.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(goldens, ensure_ascii=False, indent=1).encode())
    print(folder, len(cases), "cases,", len({c["translation"] for c in cases}), "translations")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES)
    parser.add_argument("--texts", help="file to train the vocabulary on, a text in each line")
    parser.add_argument("folder", nargs="?")
    args = parser.parse_args()
    if args.shape:
        with open(args.texts, encoding="utf8") as f:
            make_folder(args.folder, SHAPES[args.shape], [line.strip() for line in f], False, -50.0)
    else:
        for kind in KINDS:
            make(kind)
