"""The odd checkpoints: small, random, and each unlike M2M100 in its own way."""
from dataclasses import dataclass, field

import torch


@dataclass
class Shape:
    """One checkpoint to make."""
    # The seed, and the addition to the end token's logit. They were chosen among some dozens, because their outputs vary
    # most in tokens and length.
    seed: int
    ending: float
    config: dict = field(default_factory=dict)      # differs from BASE
    generation: dict = field(default_factory=dict)  # differs from GENERATION
    # Written into config.json, without a generation_config.json.
    old_defaults: dict = field(default_factory=dict)
    dtype: torch.dtype = torch.float32              # of the stored weights
    storage: str = "safetensors"                    # or "shards", "bin", "legacy"
    # Whether the goldens try every search setting or only a few: storage
    # formats need no more than proof that the weights were read.
    every_setting: bool = True
    marian: bool = False  # MarianMTModel, of MARIAN_BASE
    mbart: bool = False   # MBartForConditionalGeneration, of MBART_BASE
    t5: bool = False      # T5ForConditionalGeneration, of T5_BASE


BASE = dict(
    vocab_size=120, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=128,
    scale_embedding=True, tie_word_embeddings=True, dropout=0.0, attention_dropout=0.0, encoder_layerdrop=0.0,
    decoder_layerdrop=0.0, bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2,
)

# As Opus-MT's: the padding token is the last one and begins the target.
MARIAN_BASE = dict(
    vocab_size=120, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
    encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64, scale_embedding=True, tie_word_embeddings=True,
    activation_function="swish", dropout=0.0, bos_token_id=0, eos_token_id=0, pad_token_id=119, decoder_start_token_id=119,
)

# As mBART-50's, but for the activation: those fine-tuned for translation have ReLU.
MBART_BASE = BASE | dict(max_position_embeddings=64, activation_function="gelu")

# As MADLAD-400's, but small.
T5_BASE = dict(
    vocab_size=120, d_model=32, d_kv=12, d_ff=56, num_layers=1, num_decoder_layers=1, num_heads=3, feed_forward_proj="gated-gelu",
    relative_attention_num_buckets=32, relative_attention_max_distance=128, tie_word_embeddings=False, dropout_rate=0.0,
    pad_token_id=1, eos_token_id=2, decoder_start_token_id=0,
)

GENERATION = dict(num_beams=5, max_length=30, early_stopping=True)

SHAPES = {
    # One layer each; as few positions as the sources need.
    "one-layer": Shape(6, 2.5, dict(d_model=64, max_position_embeddings=64)),
    # A number of heads that is not a power of two.
    "three-heads": Shape(14, 1.5, dict(d_model=48, encoder_attention_heads=3, decoder_attention_heads=3, decoder_layers=2)),
    # A width that is a multiple of neither 64 nor 8, and heads of 12.
    "heads-of-12": Shape(12, 1.5, dict(d_model=36, encoder_attention_heads=3, decoder_attention_heads=3, encoder_layers=2)),
    # One head, wider than 64: the kernels for GPUs hold such heads in other registers.
    "wide-head": Shape(7, 3.5, dict(d_model=72, encoder_attention_heads=1, decoder_attention_heads=1, decoder_layers=2),
                       dtype=torch.float16, every_setting=False),
    # Encoder and decoder differ in layers, heads and feed-forward width.
    "asymmetric": Shape(22, 1.5, dict(d_model=48, encoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=2,
                                encoder_ffn_dim=56, decoder_ffn_dim=88)),
    # An odd width: the last column of the position table is zero.
    "odd-width": Shape(13, 2.5, dict(d_model=33, encoder_attention_heads=3, decoder_attention_heads=3)),
    # Embeddings are not multiplied by the root of the width.
    "no-scale": Shape(15, 1.5, dict(scale_embedding=False)),
    # The head has weights of its own; encoder and decoder share the embedding.
    "untied-head": Shape(18, 0.5, dict(tie_word_embeddings=False)),
    # Other special ids: the pad id also moves the positions.
    "other-ids": Shape(2, 1.5, dict(bos_token_id=5, pad_token_id=3, eos_token_id=6, decoder_start_token_id=4)),
    # Types of stored weights. Equal seeds give equal weights, except for rounding.
    "fp16": Shape(4, 0.5, dtype=torch.float16, every_setting=False),
    "bf16": Shape(4, 1.5, dtype=torch.bfloat16, every_setting=False),
    "shards": Shape(4, 0.5, storage="shards", every_setting=False,
                    generation=dict(num_beams=3, length_penalty=0.8, no_repeat_ngram_size=2, min_length=6)),
    "bin": Shape(4, 0.5, storage="bin", every_setting=False),
    "bin-fp16": Shape(4, 0.5, dtype=torch.float16, storage="bin", every_setting=False),
    # As checkpoints were before generation_config.json: defaults in config.json.
    "old-config": Shape(4, 0.5, storage="bin", every_setting=False,
                        old_defaults=dict(num_beams=4, max_length=24, early_stopping=True, length_penalty=1.2)),
    # Opus-MT's network.
    "marian": Shape(8, 4.5, dict(d_model=48, encoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=4,
                                 encoder_ffn_dim=56, decoder_ffn_dim=88), marian=True),
    # As older tc-big models: a vocabulary for each side, ReLU, an odd width.
    "marian-two-vocabularies": Shape(14, 4.5, dict(
        d_model=33, encoder_attention_heads=3, decoder_attention_heads=3, decoder_layers=2, decoder_vocab_size=90,
        pad_token_id=89, decoder_start_token_id=89, share_encoder_decoder_embeddings=False, activation_function="relu"),
        storage="bin", marian=True, every_setting=False),
    # A head of its own, GELU, and probabilities without the padding token.
    "marian-untied": Shape(15, 4.5, dict(tie_word_embeddings=False, activation_function="gelu", scale_embedding=False),
                           generation=dict(num_beams=4, renormalize_logits=True, early_stopping=False),
                           dtype=torch.float16, marian=True, every_setting=False),
    # As Opus-MT was published in 2020, in the form of torch before 1.6.
    "marian-old-config": Shape(14, 2.5, storage="legacy", marian=True, every_setting=False,
                               old_defaults=dict(num_beams=6, max_length=24)),
    # mBART-50's network.
    "mbart": Shape(4, 3.5, dict(d_model=48, encoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=4,
                                encoder_ffn_dim=56, decoder_ffn_dim=88), mbart=True),
    # As published: a torch file, ReLU; an odd width.
    "mbart-bin": Shape(1, 1.5, dict(d_model=33, encoder_attention_heads=3, decoder_attention_heads=3, decoder_layers=2,
                                     activation_function="relu"), storage="bin", mbart=True, every_setting=False,
                       old_defaults=dict(num_beams=5, max_length=24, early_stopping=True)),
    # A head of its own, in half precision.
    # MADLAD-400's network: heads that are wider together than the model, a head of its own; few distances are told apart.
    "t5": Shape(18, 1.5, dict(num_layers=2, relative_attention_num_buckets=8, relative_attention_max_distance=20), t5=True),
    # The first T5: ReLU, a tied head; an odd width, a file of torch, and padding begins the target.
    "t5-tied": Shape(22, 9.0, dict(d_model=33, d_kv=7, num_heads=4, num_layers=2, num_decoder_layers=2, feed_forward_proj="relu", tie_word_embeddings=True,
                                  pad_token_id=0, eos_token_id=1), storage="bin", t5=True, every_setting=False),
    # Gated SiLU and a large epsilon, in half precision and shards, with the config.json of transformers 4.
    "t5-silu": Shape(22, 9.5, dict(d_kv=8, num_heads=2, feed_forward_proj="gated-silu", num_layers=2, num_decoder_layers=2, relative_attention_num_buckets=6,
                                  relative_attention_max_distance=9, layer_norm_epsilon=0.3), dtype=torch.float16, storage="shards", t5=True, every_setting=False,
                     old_defaults=dict(num_beams=3, max_length=24, early_stopping=True, tie_word_embeddings=False)),
    "mbart-untied": Shape(4, 3.5, dict(tie_word_embeddings=False, scale_embedding=False), dtype=torch.float16, mbart=True,
                          every_setting=False),
}
