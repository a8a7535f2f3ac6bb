#!/usr/bin/env bash
# Usual ways to train the token of a new language in peft train nothing, or become another model when they are merged.
#
# M2M100, NLLB and Marian have one table of embeddings with four names: shared, encoder.embed_tokens, decoder.embed_tokens and lm_head. peft 0.21.2
# takes modules by their names. With transformers 5.23.0 no layer computes by shared, so that what is to be trained there gets no
# gradient, and is saved as it began. What is trained as embed_tokens is right until merge_and_unload(), which adds the changes of both sides
# to the one table, or until Marian's merged model is saved: its head is not in the file, and random when it is read. There is no error, and at
# most a warning of ties.
# A list of the tokens alone (trainable_token_indices=[5]) is right.
#
#                                                 Marian                          M2M100
#   modules_to_save=["shared"]                    not trained                     not trained
#   trainable_token_indices={"shared": [5]}       not trained                     right
#   modules_to_save=["embed_tokens"]              changes when it is saved        right
#   trainable_token_indices={"embed_tokens": [5]} changes when it is merged       changes when it is merged
#   trainable_token_indices=[5]                   right                           right
#
# The script fails if that changes. It needs Python 3.11, PyPI and 6 GB of disk for torch.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check peft==0.21.2 transformers==5.23.0 torch==2.15.0 numpy==2.4.6
cd "$work"
HF_HUB_OFFLINE=1 "$work/venv/bin/python" - 2>python.log <<'PYTHON' || { cat python.log >&2; exit 1; }
import torch
from peft import LoraConfig, get_peft_model
from transformers import M2M100Config, M2M100ForConditionalGeneration, MarianConfig, MarianMTModel

sentence, translation, words = torch.tensor([[4, 5, 6, 2]]), torch.tensor([[2, 5, 7]]), torch.tensor([5, 7, 2])


def logits(model):
    return model.eval()(input_ids=sentence, decoder_input_ids=translation).logits[0]


def outcome(config, network, settings):
    """Trains LoRA and the embedding of token 5 on one sentence, and merges, saves and reads the model."""
    torch.manual_seed(0)
    model = network(config(
        vocab_size=40, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32, pad_token_id=1, decoder_start_token_id=2))
    torch.nn.init.normal_(model.get_input_embeddings().weight, std=0.5)
    model = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"], **settings))
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    optimizer = torch.optim.SGD(parameters.values(), lr=0.5)
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits(model), words).backward()
        optimizer.step()
    if all(p.grad is None for name, p in parameters.items() if "lora" not in name):
        return "not trained"
    with torch.no_grad():
        trained = logits(model)
        merged = model.merge_and_unload()
        if not torch.allclose(logits(merged), trained, atol=1e-3):
            return "changes when it is merged"
        merged.save_pretrained("merged")
        return "right" if torch.allclose(logits(network.from_pretrained("merged")), trained, atol=1e-3) else "changes when it is saved"


none, saved, merged, right = "not trained", "changes when it is saved", "changes when it is merged", "right"
for name, value, expected in (
    ("modules_to_save", ["shared"], [none, none]), ("trainable_token_indices", {"shared": [5]}, [none, right]),
    ("modules_to_save", ["embed_tokens"], [saved, right]), ("trainable_token_indices", {"embed_tokens": [5]}, [merged, merged]),
    ("trainable_token_indices", [5], [right, right]),
):
    found = [outcome(*of, {name: value}) for of in ((MarianConfig, MarianMTModel), (M2M100Config, M2M100ForConditionalGeneration))]
    print(f"{name}={value}: Marian {found[0]}, M2M100 {found[1]}")
    assert found == expected, "other results than were seen"
PYTHON
