"""Writes the averaged weights of a training run as a Hugging Face checkpoint, and checks it.

    python scripts/training/export.py --run RUN --vocabulary VOCABULARY --out FOLDER

FOLDER gets config.json, generation_config.json, model.safetensors (fp16), sentencepiece.bpe.model,
tokenizer_config.json and vocab.json. With --check, the sources of a file of pairs are
translated greedily by transformers' generate() with these files and by the network that was
trained, with weights rounded to fp16; export fails where they differ in more than one in two
hundred (at a near tie the order of additions decides).
"""
import argparse
import json
import os
import shutil

import torch

import checkpoint
import corpus
import pieces
from model import M2M100, POSITIONS, Shape
from translate import greedy

SEARCH = {"early_stopping": True, "max_length": 200, "num_beams": 5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True, metavar="RUN", help="what train.py writes to")
    parser.add_argument("--vocabulary", required=True, metavar="DIR")
    parser.add_argument("--out", required=True, metavar="FOLDER")
    parser.add_argument("--dropout", type=float, default=0.1, help="to note in config.json")
    parser.add_argument("--check", metavar="FILE", help="pairs to translate")
    parser.add_argument("--sentences", type=int, default=300, help="to check")
    arguments = parser.parse_args()
    state = checkpoint.load(arguments.run)
    if state is None:
        parser.error(f"{arguments.run} has no {checkpoint.NAME}")
    shape, vocabulary = Shape(**state["shape"]), pieces.Vocabulary(arguments.vocabulary)
    weights = {name: tensor.half().contiguous() for name, tensor in state["average"].items()}
    write(arguments.out, shape, weights, vocabulary, arguments.dropout)
    size = os.path.getsize(os.path.join(arguments.out, "model.safetensors"))
    print(f"step {state['progress']['step']}, {sum(w.numel() for w in weights.values()):,} parameters, {size:,} bytes")
    if arguments.check:
        check(arguments, shape, weights, vocabulary)


def write(folder, shape, weights, vocabulary, dropout):
    """Writes the checkpoint's files."""
    os.makedirs(folder, exist_ok=True)
    checkpoint.save_weights(os.path.join(folder, "model.safetensors"), weights)
    for name in (pieces.MODEL, pieces.VOCABULARY):
        shutil.copyfile(os.path.join(vocabulary.folder, name), os.path.join(folder, name))
    _json(folder, "config.json", _config(shape, dropout))
    _json(folder, "generation_config.json", dict(sorted((pieces.SPECIAL | SEARCH).items())))
    _json(folder, "tokenizer_config.json", {
        "tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100", "num_madeup_words": pieces.UNUSED,
        "bos_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>",
        "src_lang": None, "tgt_lang": None, "model_max_length": POSITIONS,
        "additional_special_tokens": [f"__{code}__" for code in pieces.LANGUAGES]})


def _config(shape, dropout):
    return {
        "architectures": ["M2M100ForConditionalGeneration"], "model_type": "m2m_100",
        "vocab_size": shape.vocabulary, "d_model": shape.width,
        "encoder_layers": shape.encoder_layers, "decoder_layers": shape.decoder_layers, "num_hidden_layers": shape.encoder_layers,
        "encoder_attention_heads": shape.heads, "decoder_attention_heads": shape.heads,
        "encoder_ffn_dim": shape.encoder_ffn, "decoder_ffn_dim": shape.decoder_ffn, "activation_function": "relu",
        "dropout": dropout, "attention_dropout": 0.0, "activation_dropout": 0.0, "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0,
        "init_std": 0.02, "is_encoder_decoder": True, "max_position_embeddings": POSITIONS, "scale_embedding": True,
        "use_cache": True, **SEARCH, **pieces.SPECIAL, "torch_dtype": "float16"}


def _json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf8") as f:
        json.dump(value, f, ensure_ascii=False, indent=2)
        f.write("\n")


def check(arguments, shape, weights, vocabulary):
    """Compares our network's greedy output with that of generate()."""
    from transformers import GenerationConfig, M2M100ForConditionalGeneration
    theirs = M2M100ForConditionalGeneration.from_pretrained(arguments.out, dtype=torch.float32).eval()
    ours = M2M100(shape).eval()
    ours.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
    different = total = 0
    pairs = list(corpus.read(arguments.check))
    for pair in pairs[::max(len(pairs) // arguments.sentences, 1)]:
        ids = [vocabulary.language(pair.source_language), *vocabulary.encode([pair.source])[0], pieces.EOS]
        language = vocabulary.language(pair.target_language)
        limit = GenerationConfig(num_beams=1, do_sample=False, max_length=100, forced_bos_token_id=language, **pieces.SPECIAL)
        expected = theirs.generate(torch.tensor([ids]), generation_config=limit)[0, 2:].tolist()
        expected = expected[:expected.index(pieces.EOS)] if pieces.EOS in expected else expected
        different += greedy([ours], [ids], language, 98)[0][:98] != expected
        total += 1
    print(f"generate() differs in {different} of {total} sentences")
    if 200 * different > total + 199:
        raise SystemExit("the checkpoint does not compute what was trained")


if __name__ == "__main__":
    main()
