"""Models of Opus-MT in the form in which Marian writes them, random ones, and what ctranslate2 makes of texts with them:

    .venv/bin/pip install -r scripts/goldens/requirements.txt ctranslate2==4.8.5
    .venv/bin/python scripts/goldens/opus.py

Writes model/testdata/opus/NAME/. ctranslate2's own converter reads them, given the positions and the epsilon of norms that Marian
has: it has MarianMTModel's, which are near to these."""
import json
import os
import shutil
import tempfile

import ctranslate2
import numpy as np
import sentencepiece
import torch
from ctranslate2.converters import OpusMTConverter

import converted
import marian
import odd
import reference
from shapes import Shape

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.normpath(os.path.join(HERE, "..", "..", "model", "testdata", "opus"))
SENTENCES = 24
TARGETS = {"fr": ">>fra<<", "de": ">>deu<<"}
SETTINGS = """bert-train-type-embeddings: true
dec-cell: gru
dec-cell-base-depth: 2
dec-depth: {decoder}
enc-depth: {encoder}
dim-emb: {width}
input-types:
  []
lemma-dim-emb: 0
tied-embeddings-all: true
transformer-decoder-autoreg: self-attention
transformer-ffn-activation: {activation}
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {heads}
transformer-no-projection: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
version: v1.10.25 8a9580b3 2021-10-10 18:03:24 +0000
"""


def arrays(model, sources):
    """The network by Marian's names, with so many sources where these have embeddings of their own. The last row, of padding, has none there."""
    weights, config = {name: tensor.numpy() for name, tensor in model.state_dict().items()}, model.config
    settings = SETTINGS.format(encoder=config.encoder_layers, decoder=config.decoder_layers, width=config.d_model, heads=config.decoder_attention_heads,
                               activation=config.activation_function)
    found = {"special:model.yml": np.frombuffer(settings.encode() + b"\0", dtype=np.int8),
             "decoder_ff_logit_out_b": weights["final_logits_bias"][:, :-1]}
    if sources:
        found |= {"encoder_Wemb": weights["model.encoder.embed_tokens.weight"][:sources], "decoder_Wemb": weights["model.decoder.embed_tokens.weight"][:-1]}
    else:
        found["Wemb"] = weights["model.shared.weight"][:-1]

    def put(name, layer, bias):
        found[name], found[bias] = weights[layer + ".weight"].T, weights[layer + ".bias"][None]

    def norm(name, layer):
        found[name + "_ln_scale"], found[name + "_ln_bias"] = weights[layer + ".weight"][None], weights[layer + ".bias"][None]

    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for i in range(layers):
            to, of = f"{side}_l{i + 1}_", f"model.{side}.layers.{i}."
            for block, name in ({"self": "self_attn"} | ({"context": "encoder_attn"} if side == "decoder" else {})).items():
                for letter, layer in {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}.items():
                    put(f"{to}{block}_W{letter}", f"{of}{name}.{layer}", f"{to}{block}_b{letter}")
                norm(f"{to}{block}_Wo", f"{of}{name}_layer_norm")
            for number, layer in {"1": "fc1", "2": "fc2"}.items():
                put(f"{to}ffn_W{number}", of + layer, f"{to}ffn_b{number}")
            norm(f"{to}ffn_ffn", of + "final_layer_norm")
    return {name: np.ascontiguousarray(array) for name, array in found.items()}


def positions(width, rows=512):
    """Marian's own."""
    angles = np.arange(rows)[:, None] * np.exp(np.arange(width // 2) * -np.log(10000) / (width // 2 - 1))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def write_vocabulary(path, ids):
    """Writes YAML as Marian does: quoted where need be."""
    with open(path, "w", encoding="utf8") as f:
        for token, i in ids.items():
            f.write(f"{token if token.strip('▁').isalpha() else json.dumps(token, ensure_ascii=False)}: {i}\n")


def make(name, shape, separate, targets):
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lines = converted.sentences()
    pieces = [marian.train(lines, languages, "identity", os.path.join(folder, side)) for side, languages in (("source", ["en"]), ("target", ["fr", "de"]))]
    vocabularies = []
    for side in pieces if separate else [pieces[0] + pieces[1]]:
        ids = marian.vocabulary(side, targets.values())
        ids.pop("<pad>")
        vocabularies.append(ids)
    files = ["opus.source.vocab.yml", "opus.target.vocab.yml"] if separate else ["opus.vocab.yml"] * 2
    for file, ids in zip(files, vocabularies):
        write_vocabulary(os.path.join(folder, file), ids)
    pad = len(vocabularies[-1])
    shape.config |= dict(vocab_size=max(len(vocabularies[0]), pad + 1), decoder_vocab_size=pad + 1, pad_token_id=pad, decoder_start_token_id=pad,
                         share_encoder_decoder_embeddings=not separate)
    model = odd.random_model(shape)
    network = arrays(model, separate and len(vocabularies[0]))
    np.savez(os.path.join(folder, "opus.npz"), **network)
    with open(os.path.join(folder, "decoder.yml"), "w", encoding="utf8") as f:
        f.write("relative-paths: true\nmodels:\n  - opus.npz\nvocabs:\n" + "".join(f"  - {file}\n" for file in files) + "beam-size: 6\nnormalize: 1\nword-penalty: 0\n")

    with tempfile.TemporaryDirectory() as work:
        theirs = os.path.join(work, "theirs")
        shutil.copytree(folder, theirs)
        np.savez(os.path.join(theirs, "opus.npz"), **network, Wpos=positions(model.config.d_model))
        out = os.path.join(work, "out")
        OpusMTConverter(theirs).convert(out)
        path = os.path.join(out, "config.json")
        with open(path, encoding="utf8") as f:
            config = json.load(f)
        with open(path, "w", encoding="utf8") as f:
            json.dump(config | {"layer_norm_epsilon": 1e-6}, f)
        translator = ctranslate2.Translator(out, compute_type="float32", intra_threads=1)
        source, target = vocabularies[0], vocabularies[-1]
        splits = [sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, f"{side}.spm")) for side in ("source", "target")]
        settings = {key: reference.setting(**{"max_length": 30, **s}) for key, s in converted.SETTINGS.items()}
        cases, own = [], [line for line in lines if line["from"] == "en"]
        for i, line in enumerate(own[::len(own) // SENTENCES][:SENTENCES]):
            to = list(targets)[i % len(targets)]
            tokens = [t for t in [targets[to], *splits[0].encode(line["source"], out_type=str)] if t]
            outputs = {}
            for key, value in settings.items():  # it adds the end itself
                written, cut = converted.translate(translator, tokens, value)
                kept = [t for t in written if t not in ("</s>", "<unk>") and not t.startswith(">>")]
                outputs[key] = {"ids": [pad] + [target[t] for t in written], "truncated": cut, "score": 0, "margin": None,
                                "text": splits[1].decode_pieces(kept).replace("▁", " ").strip()}
            cases.append({"set": line["set"], "from": "en", "to": to, "text": line["source"], "prefix": [pad], "outputs": outputs,
                          "source": [source.get(t, source["<unk>"]) for t in tokens] + [source["</s>"]]})
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/opus/{name}", "files": reference.file_hashes(folder), "made_with": converted.versions(),
        "settings": settings, "cases": cases})
    print(name, "lengths", [len(c["outputs"]["greedy"]["ids"]) for c in cases])


if __name__ == "__main__":
    torch.set_num_threads(1)
    make("shared", Shape(12, 3.6, dict(encoder_layers=2), marian=True), False, TARGETS)
    make("separate", Shape(13, 3.6, dict(activation_function="relu", encoder_ffn_dim=40, decoder_layers=2), marian=True), True, {"fr": ""})
