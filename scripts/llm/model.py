"""Writes a tiny language model that says the same in any run: the next token depends on the last one alone, without rounding.

    model.py gguf FILE | hf FOLDER

After a prompt it says "Bonjour le monde." and ends. If the prompt has the word "endless", it says "la la la" until its limit.
"""

import json
import sys
from pathlib import Path

import numpy as np

WORDS = ["<answer>", "<endless>", "▁Bonjour", "▁le", "▁monde", ".", "▁la"]
TOKENS = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + WORDS
FIRST = TOKENS.index(WORDS[0])
SIZE, HEADS, INNER, CONTEXT = 512, 8, 64, 4096
NEXT = {"<answer>": "▁Bonjour", "▁Bonjour": "▁le", "▁le": "▁monde", "▁monde": ".", ".": "</s>", "<endless>": "▁la", "▁la": "▁la"}
TEMPLATE = (
    "{% for m in messages %}{{ m.content }}{% endfor %}"
    "{% if 'endless' in (messages | map(attribute='content') | join) %}<endless>{% else %}<answer>{% endif %}"
)


def weights():
    """Yields names of llama.cpp and transformers with their values: a row of the embedding is 1 at its token, all blocks add 0."""
    embedding, head = np.zeros((len(TOKENS), SIZE), np.float32), np.zeros((len(TOKENS), SIZE), np.float32)
    for i, token in enumerate(TOKENS):
        embedding[i, i] = 1
        head[TOKENS.index(NEXT.get(token, "</s>")), i] = 1
    one, square = np.ones(SIZE, np.float32), np.zeros((SIZE, SIZE), np.float32)
    yield "token_embd.weight", "model.embed_tokens.weight", embedding
    yield "output.weight", "lm_head.weight", head
    yield "output_norm.weight", "model.norm.weight", one
    block, layer = "blk.0.", "model.layers.0."
    yield block + "attn_norm.weight", layer + "input_layernorm.weight", one
    yield block + "ffn_norm.weight", layer + "post_attention_layernorm.weight", one
    for ours, theirs in ("q", "q"), ("k", "k"), ("v", "v"), ("output", "o"):
        yield f"{block}attn_{ours}.weight", f"{layer}self_attn.{theirs}_proj.weight", square
    for name in "gate", "up":
        yield f"{block}ffn_{name}.weight", f"{layer}mlp.{name}_proj.weight", np.zeros((INNER, SIZE), np.float32)
    yield block + "ffn_down.weight", layer + "mlp.down_proj.weight", np.zeros((SIZE, INNER), np.float32)


def write_gguf(path):
    import gguf

    w = gguf.GGUFWriter(path, "llama")
    w.add_context_length(CONTEXT)
    w.add_embedding_length(SIZE)
    w.add_block_count(1)
    w.add_feed_forward_length(INNER)
    w.add_head_count(HEADS)
    w.add_head_count_kv(HEADS)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(SIZE // HEADS)
    w.add_vocab_size(len(TOKENS))
    w.add_tokenizer_model("llama")
    w.add_token_list(TOKENS)
    w.add_token_scores([0.0] * len(TOKENS))
    kind = gguf.TokenType
    special = {"<unk>": kind.UNKNOWN, "<s>": kind.CONTROL, "</s>": kind.CONTROL, "<answer>": kind.CONTROL, "<endless>": kind.CONTROL}
    w.add_token_types([kind.BYTE if t.startswith("<0x") else special.get(t, kind.NORMAL) for t in TOKENS])
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)
    w.add_unk_token_id(0)
    w.add_chat_template(TEMPLATE)
    for name, _, value in weights():
        w.add_tensor(name, value)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def write_hf(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def write(name, value):
        (folder / name).write_text(json.dumps(value, ensure_ascii=False))

    write("config.json", {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": len(TOKENS), "hidden_size": SIZE, "intermediate_size": INNER,
        "num_hidden_layers": 1, "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": False, "dtype": "float32",
    })
    write("generation_config.json", {"bos_token_id": 1, "eos_token_id": 2})
    write("tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "chat_template": TEMPLATE,
        "clean_up_tokenization_spaces": False, "model_max_length": CONTEXT,
    })
    special = [i for i, token in enumerate(TOKENS) if i < 3 or token in ("<answer>", "<endless>")]
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    write("tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "pre_tokenizer": None, "post_processor": None,
        "added_tokens": [{"id": i, "content": TOKENS[i], **added} for i in special],
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        ]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": True, "byte_fallback": True, "vocab": {token: i for i, token in enumerate(TOKENS)}, "merges": []},
    })
    header, at, values = {}, 0, []
    for _, name, value in weights():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
        values.append(value.tobytes())
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + b"".join(values))


if __name__ == "__main__":
    {"gguf": write_gguf, "hf": write_hf}[sys.argv[1]](sys.argv[2])
