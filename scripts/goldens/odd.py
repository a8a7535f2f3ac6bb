"""Makes the odd checkpoints and their goldens: ids in, ids out."""
import json
import os
import random
import shutil

import torch
from transformers import (GenerationConfig, M2M100Config, M2M100ForConditionalGeneration, MarianConfig,
                          MarianMTModel, MBartConfig, MBartForConditionalGeneration, T5Config, T5ForConditionalGeneration)

import inside
import reference
from shapes import BASE, GENERATION, MARIAN_BASE, MBART_BASE, SHAPES, T5_BASE

LENGTHS = (1, 2, 3, 5, 8, 11, 13, 16, 21, 33, 47, 60)  # of the sources, in ids
FIRST_ID = 8      # of random sources: above every special id
TRACED = 3        # cases whose steps are noted
MAX_LENGTH = 30
PADDED = ("greedy", "beam5")  # settings that are also run as one padded batch

FEW_SETTINGS = {
    "greedy": dict(),
    "beam5": dict(beams=5, early_stopping="true"),
}
EVERY_SETTING = FEW_SETTINGS | {
    "beam2": dict(beams=2, early_stopping="true"),
    "beam3": dict(beams=3, early_stopping="true"),
    "beam8": dict(beams=8, early_stopping="true"),
    "beam5-short": dict(beams=5, early_stopping="true", length_penalty=0.5),
    "beam5-long": dict(beams=5, early_stopping="true", length_penalty=2.0),
    "beam4-late": dict(beams=4),
    "beam4-late-long": dict(beams=4, length_penalty=2.0),
    "beam4-never": dict(beams=4, early_stopping="never"),
    "beam4-never-long": dict(beams=4, early_stopping="never", length_penalty=2.0),
    "beam4-never-plain": dict(beams=4, early_stopping="never", length_penalty=0.0),
    "beam4-never-shortest": dict(beams=4, early_stopping="never", length_penalty=-0.5),
    "greedy-ngram3": dict(no_repeat_ngram_size=3),
    "beam5-ngram3": dict(beams=5, early_stopping="true", no_repeat_ngram_size=3),
    "greedy-ngram1": dict(no_repeat_ngram_size=1),
    "greedy-penalty": dict(repetition_penalty=1.3),
    "beam5-penalty": dict(beams=5, early_stopping="true", repetition_penalty=1.3),
    "greedy-bonus": dict(repetition_penalty=0.8),
    "greedy-min10": dict(min_length=10),
    "beam5-min10": dict(beams=5, early_stopping="true", min_length=10),
    "beam3-max4": dict(beams=3, max_length=4),
    "beam5-everything": dict(beams=5, length_penalty=1.5, no_repeat_ngram_size=2, repetition_penalty=1.2, min_length=8),
}


def make(name, folder):
    """Writes the checkpoint called name and its goldens into folder."""
    shape = SHAPES[name]
    shutil.rmtree(folder, ignore_errors=True)
    save(random_model(shape), shape, folder)
    model = reference.load(folder)
    check_loaded(model, shape, folder)

    settings = EVERY_SETTING if shape.every_setting else FEW_SETTINGS
    settings = {n: reference.setting(**{"max_length": MAX_LENGTH, **s}) for n, s in settings.items()}
    settings["defaults"] = reference.default_setting(model)
    language = None if shape.marian or shape.t5 else model.config.vocab_size - 12
    sources = _sources(shape.seed, model.config)
    cases, traces = [], []
    for i, source in enumerate(sources):
        outputs = {}
        for key, value in settings.items():
            outputs[key], raw = reference.generate(model, source, language, value)
            if key == "greedy" and i in (0, 3, 8):
                traces.append({"case": i, "setting": key, "steps": inside.steps(raw, model.config.pad_token_id if model.generation_config.renormalize_logits else None),
                               "encoder": inside.encoder(model, source), "cross": inside.cross_attention(raw)})
        cases.append({"set": "random", "source": source, "outputs": outputs,
                      "prefix": [model.config.decoder_start_token_id] + [language] * (language is not None)})
    padded = {key: reference.generate_padded(model, sources, language, settings[key]) for key in PADDED}
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/odd/{name}", "files": reference.file_hashes(folder),
        "made_with": reference.versions(), "settings": settings, "cases": cases, "traces": traces, "padded": padded})


def random_model(shape):
    """A model whose outputs vary and whose choices are rarely near ties.

    Embeddings, positions and what the layers add are of like size, so that the
    next token follows from all of them. Logits have a standard deviation near
    2, whatever the width; the end token's are raised, so that some outputs end
    and some reach the limit."""
    torch.manual_seed(shape.seed)
    if shape.t5:
        return random_t5(shape)
    if shape.marian:
        config = MarianConfig(**MARIAN_BASE | shape.config)
        model = MarianMTModel(config)
        model.final_logits_bias.normal_(0, 0.5)
    elif shape.mbart:
        config = MBartConfig(**MBART_BASE | shape.config)
        model = MBartForConditionalGeneration(config)
        model.final_logits_bias.normal_(0, 0.5)
    else:
        config = M2M100Config(**BASE | shape.config)
        model = M2M100ForConditionalGeneration(config)
    spread = 1.5 / (config.d_model ** 0.5 if config.scale_embedding else 1)
    for name, weight in model.named_parameters():
        if "embed_positions" in name:
            if shape.mbart:
                weight.data.normal_(0, 0.7)  # as sines and cosines
            continue
        if name.endswith(("layer_norm.weight", "layernorm_embedding.weight")):
            weight.data.normal_(1, 0.2)
        elif name.endswith("bias"):
            weight.data.normal_(0, 0.2)
        elif name.endswith(("shared.weight", "embed_tokens.weight", "lm_head.weight")):
            weight.data.normal_(0, spread)
        else:  # sharp attention: its inputs matter more than its mean
            gain = 2 if "q_proj" in name or "k_proj" in name else 1.2
            weight.data.normal_(0, gain / weight.shape[1] ** 0.5)
    head = model.lm_head.weight.data
    embeddings = [stack.embed_tokens.weight.data for stack in (model.model.encoder, model.model.decoder)]
    for table in (*embeddings, head):
        table[config.pad_token_id] = 0
    if not config.tie_word_embeddings:
        for table in embeddings:
            table.copy_(model.model.shared.weight.data)
            table[config.pad_token_id] = 0
        model.model.shared.weight.data[config.pad_token_id] = 0
    last = model.model.decoder.layers[-1].final_layer_norm if shape.marian else model.model.decoder.layer_norm
    last.weight.data *= 2 / (spread * config.d_model ** 0.5)
    last.weight.data[::2] *= -1  # or a tied head would repeat the last token for ever
    last.bias.data += head[config.eos_token_id] * shape.ending / head[config.eos_token_id].square().sum()
    return model.to(shape.dtype).eval()


def random_t5(shape):
    """random_model of T5, which has no biases: all embeddings have a vector in common instead, which the head's
    row of the end token is like."""
    config = T5Config(**T5_BASE | shape.config)
    model, spread = T5ForConditionalGeneration(config), 1.5
    if not config.scale_decoder_outputs:  # transformers 5 ties it whatever is asked for
        model.lm_head.weight = torch.nn.Parameter(torch.empty(config.vocab_size, config.d_model))
    for name, weight in model.named_parameters():
        if name.endswith("layer_norm.weight"):
            weight.data.normal_(1, 0.2)
        elif "relative_attention_bias" in name:
            weight.data.normal_(0, 1)
        elif name in ("shared.weight", "lm_head.weight"):
            weight.data.normal_(0, spread)
        else:  # queries are not scaled
            gain = 2 / config.d_kv ** 0.25 if name.endswith((".q.weight", ".k.weight")) else 1.2
            weight.data.normal_(0, gain / weight.shape[1] ** 0.5)
    common = torch.randn(config.d_model) * spread
    table, head, last = model.shared.weight.data, model.lm_head.weight.data, model.decoder.final_layer_norm.weight.data
    table += common
    scale = config.d_model ** -0.5 if config.scale_decoder_outputs else 1  # factor of the head's input
    last *= 2 / (spread * config.d_model ** 0.5 * scale)
    last[::2] *= -1
    head[config.eos_token_id] += last * common * shape.ending / ((last * common).square().sum() * scale)
    for rows in (table, head):
        rows[config.pad_token_id] = 0
    return model.to(shape.dtype).eval()


def save(model, shape, folder):
    model.generation_config = GenerationConfig(
        bos_token_id=getattr(model.config, "bos_token_id", None), pad_token_id=model.config.pad_token_id,
        eos_token_id=model.config.eos_token_id, decoder_start_token_id=model.config.decoder_start_token_id,
        **GENERATION | published(shape, model.config) | shape.generation)
    os.makedirs(folder)
    model.save_pretrained(folder, max_shard_size="40KB" if shape.storage == "shards" else "1GB")
    if shape.storage in ("bin", "legacy"):
        # transformers 5 no longer writes this form; every published M2M100
        # has it, with the shared embedding under each of its names.
        os.remove(os.path.join(folder, "model.safetensors"))
        torch.save(model.state_dict(), os.path.join(folder, "pytorch_model.bin"),
                   _use_new_zipfile_serialization=shape.storage == "bin")
    if shape.old_defaults:
        _age_config(folder, published(shape, model.config) | shape.old_defaults)
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)  # transformers leaves weights to the owner


def published(shape, config):
    """What every published Opus-MT, or mBART-50, says of its generation."""
    words = {"bad_words_ids": [[config.pad_token_id]]} if shape.marian else {}
    return words | ({"forced_eos_token_id": config.eos_token_id} if shape.marian or shape.mbart else {})


def _age_config(folder, defaults):
    """Rewrites a checkpoint's configuration as transformers 4.20 and before wrote it."""
    os.remove(os.path.join(folder, "generation_config.json"))
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf8") as f:
        config = json.load(f)
    config["torch_dtype"] = config.pop("dtype")
    config["transformers_version"] = "4.20.0"
    config.pop("scale_decoder_outputs", None)
    with open(path, "w", encoding="utf8") as f:
        json.dump(config | defaults, f, indent=2, sort_keys=True)
        f.write("\n")


def check_loaded(model, shape, folder):
    """Refuses goldens of weights that from_pretrained changed or made up."""
    want = dict(random_model(shape).float().named_parameters())
    got = dict(model.named_parameters())
    if want.keys() != got.keys():
        raise ValueError(f"{folder}: parameters {sorted(want.keys() ^ got.keys())} differ")
    want |= dict(random_model(shape).float().named_buffers())
    got |= dict(model.named_buffers())
    wrong = [n for n in want if (shape.mbart or "embed_positions" not in n) and not torch.equal(want[n], got[n])]
    if wrong:
        raise ValueError(f"{folder}: from_pretrained changed {wrong}")


def _sources(seed, config):
    """Random sources of LENGTHS ids, every other one ending as real text does."""
    rng = random.Random(seed)
    end = config.pad_token_id if config.pad_token_id > FIRST_ID else config.vocab_size
    sources = [[rng.randrange(FIRST_ID, end) for _ in range(n)] for n in LENGTHS]
    for source in sources[1::2]:
        source[-1] = config.eos_token_id
    return sources
