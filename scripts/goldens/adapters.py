"""Adapters of the library peft beside their base models, and goldens of the models that peft makes of them: ids in, ids out.

    .venv/bin/pip install -r scripts/goldens/requirements.txt peft==0.21.2
    .venv/bin/python scripts/goldens/adapters.py            # all, a minute
    .venv/bin/python scripts/goldens/adapters.py dora       # one of them

Writes model/testdata/adapters/NAME/: a random checkpoint as those of odd.py, a random adapter, and what transformers answers with
merge_and_unload(). config.json is the base's, also where the adapter has an embedding of more rows."""
import argparse
import json
import os
import shutil
import tempfile

import peft
import torch
from peft import LoraConfig, PeftModel, get_peft_model

import odd
import reference
from shapes import Shape

HERE = os.path.dirname(os.path.abspath(__file__))
TESTDATA = os.path.normpath(os.path.join(HERE, "..", "..", "model", "testdata", "adapters"))
LINEAR = ["q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"]

# Shapes of the bases, and settings of the adapters; rows are the rows of an embedding that the adapter saves.
ADAPTERS = {
    "lora": (Shape(4, 0.5), dict(r=4, lora_alpha=16, target_modules=["q_proj", "v_proj"])),
    # Ranks and factors by module, biases that were trained, and biases of the changes.
    "rslora": (Shape(6, 1.5), dict(r=4, lora_alpha=8, use_rslora=True, target_modules=LINEAR, rank_pattern={"fc1": 7, "encoder.layers.0.self_attn.q_proj": 2},
                                   alpha_pattern={"fc1": 3, r"decoder.*\.v_proj": 20}, lora_bias=True)),
    "biases": (Shape(8, 1.5), dict(r=3, lora_alpha=6, target_modules=["q_proj", "fc2"], bias="all", modules_to_save=["layer_norm"])),
    "dora": (Shape(12, 1.5, dtype=torch.float16), dict(r=4, lora_alpha=8, use_dora=True, target_modules=LINEAR)),
    "rows": (Shape(4, 1.5), dict(r=4, lora_alpha=8, target_modules=["k_proj", "out_proj"]), 123),
    "marian": (Shape(9, 4.5, dict(encoder_layers=2), marian=True), dict(r=4, lora_alpha=8, target_modules=LINEAR)),
    "mbart-rows": (Shape(5, 1.5, mbart=True), dict(r=4, lora_alpha=8, target_modules=LINEAR), 130),
    "t5": (Shape(3, 3.5, t5=True), dict(r=4, lora_alpha=8, target_modules=["q", "k", "v", "o", "wi_0", "wi_1", "wo"])),
}


def make(name, folder):
    """Writes the checkpoint, the adapter called name and its goldens into folder."""
    shape, settings, *rows = ADAPTERS[name]
    shutil.rmtree(folder, ignore_errors=True)
    odd.save(odd.random_model(shape), shape, folder)
    with tempfile.TemporaryDirectory() as base:
        shutil.copytree(folder, base, dirs_exist_ok=True)
        model = reference.load(base)
        if rows:
            torch.manual_seed(shape.seed)
            model.resize_token_embeddings(rows[0], mean_resizing=False)
        trained = get_peft_model(model, LoraConfig(task_type="SEQ_2_SEQ_LM", **settings))
        change(trained, shape.seed, bool(rows))
        with tempfile.TemporaryDirectory() as saved:
            trained.save_pretrained(saved, save_embedding_layers=bool(rows))
            for file in ("adapter_config.json", "adapter_model.safetensors"):
                shutil.copy(os.path.join(saved, file), folder)
        path = os.path.join(folder, "adapter_config.json")
        with open(path, encoding="utf8") as f:
            config = json.load(f)
        with open(path, "w", encoding="utf8") as f:
            json.dump(config | {"base_model_name_or_path": "base"}, f, indent=2, sort_keys=True)
        for file in os.listdir(folder):
            os.chmod(os.path.join(folder, file), 0o644)
        base_model = reference.load(base)
        if rows:
            base_model.resize_token_embeddings(rows[0], mean_resizing=False)
        unchanged = reference.load(base)
        model = PeftModel.from_pretrained(base_model, folder).merge_and_unload().eval()
    language = None if shape.marian or shape.t5 else model.config.vocab_size - 12
    chosen = {n: reference.setting(**{"max_length": odd.MAX_LENGTH, **s}) for n, s in odd.FEW_SETTINGS.items()}
    cases = [{"set": "random", "source": source, "outputs": {key: reference.generate(model, source, language, value)[0] for key, value in chosen.items()},
              "prefix": [model.config.decoder_start_token_id] + [language] * (language is not None)}
             for source in odd._sources(shape.seed, model.config)]
    if not rows:
        print(name, "differs from its base in", differing(unchanged, cases, language, chosen), "of", len(cases))
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/adapters/{name}", "files": reference.file_hashes(folder),
        "made_with": reference.versions() | {"peft": peft.__version__}, "settings": chosen, "cases": cases})


def change(model, seed, rows):
    """Gives the trained tensors of an adapter values that change its translations."""
    numbers = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if "lora_" in name and "magnitude" not in name:
            weight.data.normal_(0, 0.25, generator=numbers)
        elif weight.requires_grad:
            weight.data *= 1 + 0.2 * torch.randn(weight.shape, generator=numbers)
        elif rows and name.endswith("shared.weight"):
            weight.data[5::7] *= 1.3


def differing(base, cases, language, settings):
    return sum(reference.generate(base, c["source"], language, settings["greedy"])[0]["ids"] != c["outputs"]["greedy"]["ids"] for c in cases)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", metavar="NAME", help="what to make, of: " + " ".join(ADAPTERS))
    torch.set_num_threads(1)
    for name in parser.parse_args().name or ADAPTERS:
        make(name, os.path.join(TESTDATA, name))
