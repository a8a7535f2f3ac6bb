"""Models in CTranslate2's form and their goldens by ctranslate2: ids in, ids out, and of an Argos package texts.

    .venv/bin/pip install -r scripts/goldens/requirements.txt ctranslate2==4.8.5 sacremoses==0.0.53 subword-nmt==0.3.8
    .venv/bin/pip install --no-deps argostranslate==1.11.0
    .venv/bin/python scripts/goldens/converted.py

Writes model/testdata/ctranslate2/NAME/, which package model/modeltest reads, and model/testdata/families/ctranslate2-argos/ and
ctranslate2-codes/, Argos packages that are unpacked. The networks are random, as those of odd.py: of OpenNMT's form filled by hand, others by
ctranslate2's own converters. ctranslate2 computes in 32 bits, whatever the form of the weights; of those in 8 bits also
in 8 bits ("greedy-int8"), which has no counterpart to the last token. A least length is left out: ctranslate2 then shares
out the probability of the end among the other tokens, and transformers does not."""
import json
import os
import random
import shutil
import tempfile

import ctranslate2
import numpy as np
import sentencepiece
import torch
from argostranslate.tokenizer import BPETokenizer
from ctranslate2.converters import transformers as converters
from ctranslate2.specs import common_spec, transformer_spec
from sacremoses import MosesTokenizer
from subword_nmt.learn_bpe import learn_bpe

import marian
import odd
import reference

HERE = os.path.dirname(os.path.abspath(__file__))
TESTDATA = os.path.normpath(os.path.join(HERE, "..", "..", "model", "testdata"))
FORMS = ["float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16"]
SETTINGS = {"greedy": dict(beams=1), "beam5": dict(beams=5, early_stopping="true"), "beam4-short": dict(beams=4, early_stopping="true", length_penalty=0.2)}
LENGTHS = (1, 2, 3, 5, 8, 13, 21, 33)
MAX_LENGTH = 30
SPECIAL = ["<unk>", "<blank>", "<s>", "</s>"]


def random_spec(seed, vocabularies, width=20, heads=2, layers=(2, 1), hidden=28, shared=True, tied=True, encodings=True, ending=2.0, **config):
    """A network of OpenNMT's form, norms first unless the settings say otherwise: odd.random_model says why the numbers are of such sizes."""
    numbers = np.random.default_rng(seed)
    spec = transformer_spec.TransformerSpec.from_config(layers, heads, **config)
    normal = lambda mean, deviation, *shape: numbers.normal(mean, deviation, shape).astype(np.float32)
    spread = 1.5 / width ** 0.5

    def linear(layer, outputs, inputs, gain=1.2):
        layer.weight, layer.bias = normal(0, gain / inputs ** 0.5, outputs, inputs), normal(0, 0.2, outputs)

    def norm(layer):
        layer.gamma, layer.beta = normal(1, 0.2, width), normal(0, 0.2, width)

    table = normal(0, spread, len(vocabularies[1]), width)
    source = table if shared else normal(0, spread, len(vocabularies[0]), width)
    spec.encoder.embeddings[0].weight, spec.decoder.embeddings.weight = source, table
    head = table if tied else normal(0, spread, *table.shape)
    spec.decoder.projection.weight, spec.decoder.projection.bias = head, normal(0, 0.5, len(table))
    for stack in (spec.encoder, spec.decoder):
        if encodings:
            stack.position_encodings.encodings = sines(64, width)
        for layer in stack.layer:
            linear(layer.self_attention.linear[0], 3 * width, width, 2)
            linear(layer.self_attention.linear[1], width, width)
            norm(layer.self_attention.layer_norm)
            if stack is spec.decoder:
                linear(layer.attention.linear[0], width, width, 2)
                linear(layer.attention.linear[1], 2 * width, width, 2)
                linear(layer.attention.linear[2], width, width)
                norm(layer.attention.layer_norm)
            linear(layer.ffn.linear_0, hidden, width)
            linear(layer.ffn.linear_1, width, hidden)
            norm(layer.ffn.layer_norm)
        if hasattr(stack, "layer_norm"):
            norm(stack.layer_norm)
    last = getattr(spec.decoder, "layer_norm", spec.decoder.layer[-1].ffn.layer_norm)
    end = vocabularies[1].index("</s>")
    last.gamma *= 2 / (spread * width ** 0.5)
    last.gamma[::2] *= -1
    last.beta += head[end] * ending / np.square(head[end]).sum()
    spec.register_source_vocabulary(vocabularies[0])
    spec.register_target_vocabulary(vocabularies[1])
    return spec


def sines(rows, width):
    """The positions that OpenNMT-py keeps among its weights: sines and cosines in turns."""
    angles = np.arange(rows)[:, None] / 10000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(rows, -1)[:, :width].astype(np.float32)


def words(n, prefix="w"):
    return SPECIAL + [f"{prefix}{i}" for i in range(n - len(SPECIAL))]


def opennmt():
    return random_spec(3, [words(90)] * 2), []


def opennmt_tf():
    """Two vocabularies, a head of its own, positions that are computed, another activation."""
    spec = random_spec(5, [words(70, "s"), words(81, "t")], width=24, heads=3, layers=(1, 2), shared=False, tied=False, encodings=False,
                       activation=common_spec.Activation.GELUTanh)
    spec.config.add_source_bos = spec.config.add_source_eos = True
    return spec, []


def few_biases():
    """Some linear layers have no bias; norms have a large epsilon."""
    spec = random_spec(8, [words(80)] * 2, ending=3.0)
    spec.decoder.projection.bias = "__optional"
    spec.encoder.layer[0].self_attention.linear[0].bias = "__optional"
    spec.config.layer_norm_epsilon = 0.3
    return spec, []


def scaled_head():
    """What the LM head takes is divided by the root of the width, as in T5, behind norms that have a bias."""
    width = 20
    spec = random_spec(21, [words(80)] * 2, width, pre_norm=False)
    spec.decoder.scale_outputs = np.float32(width ** -0.5)
    last = spec.decoder.layer[-1].ffn.layer_norm
    last.gamma, last.beta = last.gamma * np.float32(width ** 0.5), last.beta * np.float32(width ** 0.5)
    return spec, []


def converted(name):
    """An odd checkpoint by ctranslate2's own converter."""
    model = reference.load(os.path.join(TESTDATA, "odd", name))
    config = model.config
    config.normalize_before = config.normalize_before if hasattr(config, "normalize_before") else True  # as mBART-50's says
    loader = converters._MODEL_LOADERS[type(config).__name__]
    spec = loader.get_model_spec(model)
    tokens = [f"t{i}" for i in range(config.vocab_size)]
    special = {"<unk>": 3, "<s>": getattr(config, "bos_token_id", None), "<pad>": config.pad_token_id, "</s>": config.eos_token_id}
    for token, at in special.items():
        if at is not None:
            tokens[at] = token
    start = tokens[config.decoder_start_token_id]
    if spec.decoder.start_from_zero_embedding:
        tokens, start = tokens[:-1], "</s>"
    for token, value in {"unk_token": "<unk>", "bos_token": "<s>" if "<s>" in tokens else "</s>", "eos_token": "</s>", "decoder_start_token": start}.items():
        setattr(spec.config, token, value)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    return spec, ["</s>"]


KINDS = {f"opennmt-{form.replace('_', '-')}": (opennmt, form) for form in FORMS} | {
    "opennmt-tf": (opennmt_tf, "float32"), "opennmt-tf-int8": (opennmt_tf, "int8"), "few-biases": (few_biases, "float32"),
    "scaled-head": (scaled_head, "float32"),
    "marian": (lambda: converted("marian-untied"), "float32"), "marian-int8": (lambda: converted("marian"), "int8"),
    "m2m100": (lambda: converted("odd-width"), "float16"), "mbart": (lambda: converted("mbart-untied"), "float32"),
    "t5-tied": (lambda: converted("t5-tied"), "float32"), "t5-int8": (lambda: converted("t5"), "int8_float16"),
}


def save(spec, form, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    spec.validate()
    spec.optimize(quantization=form)
    spec.save(folder)


def versions():
    return reference.versions() | {"ctranslate2": ctranslate2.__version__, "attention": ""}


def translate(translator, tokens, settings):
    """The tokens that ctranslate2 writes, and whether it was stopped."""
    [result] = translator.translate_batch([tokens], beam_size=settings["beams"], length_penalty=settings["length_penalty"],
                                          max_decoding_length=settings["max_length"] - 1, max_input_length=0, min_decoding_length=0, return_end_token=True)
    written = result.hypotheses[0]
    return written, not written or written[-1] != "</s>"


def make(name, build, form, folder):
    spec, end = build()
    sources, targets = spec._vocabularies["source"][0], spec._vocabularies["target"][0]
    start = targets.index(spec.config.decoder_start_token)
    if spec.decoder.start_from_zero_embedding:
        start = len(targets)
    save(spec, form, folder)
    settings = {key: reference.setting(**{"max_length": MAX_LENGTH, **s}) for key, s in SETTINGS.items()}
    translators = {"": ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)}
    if "int8" in form:
        translators["-int8"] = ctranslate2.Translator(folder, compute_type="int8", intra_threads=1)
        settings["greedy-int8"] = settings["greedy"]
    ids = {token: i for i, token in reversed(list(enumerate(sources)))}
    choose, cases = random.Random(17), []
    for length in LENGTHS * 2:
        tokens = [choose.choice(sources[8:-1]) for _ in range(length)] + end
        outputs = {}
        for key, value in settings.items():
            kind = "-int8" if key.endswith("-int8") else ""
            written, cut = translate(translators[kind], tokens, value)
            outputs[key] = {"ids": [start] + [targets.index(t) for t in written], "text": "", "truncated": cut, "score": 0, "margin": None}
        bos, eos = ["<s>"] * spec.config.add_source_bos, ["</s>"] * spec.config.add_source_eos
        cases.append({"set": "random", "source": [ids[t] for t in bos + tokens + eos], "prefix": [start], "outputs": outputs})
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/ctranslate2/{name}", "files": reference.file_hashes(folder), "made_with": versions(),
        "settings": settings, "cases": cases})
    greedy = [len(c["outputs"]["greedy"]["ids"]) for c in cases]
    print(name, "lengths", greedy, os.path.getsize(os.path.join(folder, "model.bin")), "bytes")


def sentences():
    with open(os.path.join(HERE, "sentences.jsonl"), encoding="utf8") as f:
        return [json.loads(line) for line in f]


class Pieces:
    """A SentencePiece model, and a vocabulary of its pieces."""

    def __init__(self, sp):
        pieces = [sp.id_to_piece(i) for i in range(len(sp))]
        self.sp, self.vocabulary = sp, SPECIAL + [p for p in pieces if p not in SPECIAL]

    def encode(self, text):
        return self.sp.encode(text, out_type=str)

    def decode(self, tokens):
        return self.sp.decode_pieces(tokens).replace("▁", " ").strip()


class Codes:
    """Codes of words as Argos uses them, and a vocabulary of most of their pieces."""

    def __init__(self, file, texts):
        self.tokenizer = BPETokenizer(file, "en", "fr")
        pieces = sorted({piece for text in texts for piece in self.encode(text)})
        self.vocabulary = SPECIAL + [p for i, p in enumerate(pieces) if i % 40]

    def encode(self, text):
        return self.tokenizer.encode(text)

    def decode(self, tokens):
        return self.tokenizer.decode(tokens[:-1] + [t.removesuffix("@@") for t in tokens[-1:]])  # Argos leaves it at an unfinished word


def make_argos(folder):
    """A random Argos package from English into French."""
    lines = sentences()
    with tempfile.TemporaryDirectory() as work:
        marian.train(lines, ["en", "fr", "de"], "nmt_nfkc", os.path.join(work, "sentencepiece"), pieces=400)
        pieces = Pieces(sentencepiece.SentencePieceProcessor(model_file=os.path.join(work, "sentencepiece.spm")))
        save_argos(random_spec(11, [pieces.vocabulary] * 2, ending=3.0), os.path.join(work, "sentencepiece.spm"), folder)
    argos_goldens(folder, pieces, lines[::len(lines) // 24][:24])


def make_codes(folder):
    """A random Argos package of older form, whose pieces are those of codes."""
    lines = sentences()
    with tempfile.TemporaryDirectory() as work:
        file, words = os.path.join(work, "bpe.model"), MosesTokenizer("en")
        texts = [line["source"] for line in lines if line["from"] in ("en", "fr")]
        with open(file, "w", encoding="utf8") as f:
            learn_bpe([" ".join(words.tokenize(text)) + "\n" for text in texts], f, 300)
        codes = Codes(file, texts)
        save_argos(random_spec(13, [codes.vocabulary] * 2, ending=2.0), file, folder, "bpe.model")
    argos_goldens(folder, codes, [line for line in lines if line["from"] == "en"][::4])


def save_argos(spec, pieces, folder, name="sentencepiece.model"):
    """Writes an Argos package, unpacked, with the file of its pieces."""
    save(spec, "int8", folder)
    shutil.copy(pieces, os.path.join(folder, name))
    with open(os.path.join(folder, "metadata.json"), "w", encoding="utf8") as f:
        json.dump({"package_version": "1.9", "argos_version": "1.9.0", "from_code": "en", "from_name": "English", "to_code": "fr",
                   "to_name": "French", "license": "CC-BY-4.0"}, f, indent=4)


def argos_goldens(folder, pieces, lines):
    vocabulary = pieces.vocabulary
    translator = ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)
    settings = {key: reference.setting(**{"max_length": 60, **s}) for key, s in SETTINGS.items()}
    cases = []
    for line in lines:
        tokens = pieces.encode(line["source"])
        if not tokens:
            continue
        outputs = {}
        for key, value in settings.items():
            written, cut = translate(translator, tokens, value)
            kept = [t for t in written if t not in SPECIAL]
            outputs[key] = {"ids": [vocabulary.index(t) for t in ["<s>"] + written], "truncated": cut, "score": 0, "margin": None,
                            "text": pieces.decode(kept)}
        cases.append({"set": line["set"], "from": "en", "to": "fr", "text": line["source"], "prefix": [vocabulary.index("<s>")], "outputs": outputs,
                      "source": [vocabulary.index(t) if t in vocabulary else 0 for t in tokens]})
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/families/{os.path.basename(folder)}", "files": reference.file_hashes(folder), "made_with": versions(),
        "settings": settings, "cases": cases})


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, (build, form) in KINDS.items():
        make(name, build, form, os.path.join(TESTDATA, "ctranslate2", name))
    make_argos(os.path.join(TESTDATA, "families", "ctranslate2-argos"))
    make_codes(os.path.join(TESTDATA, "families", "ctranslate2-codes"))
