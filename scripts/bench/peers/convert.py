"""Converts a checkpoint for CTranslate2:

    convert.py CHECKPOINT OUT int8|float32

CTranslate2's own converter makes the vocabulary from the tokenizer; here it is
padded, so that a random checkpoint can have a tokenizer smaller than its embedding.
"""
import sys

import ctranslate2
import transformers
from ctranslate2.converters import transformers as converters

from text import vocabulary


class Rows:
    """Of a tokenizer, how the rows of a T5 checkpoint are called that CTranslate2 asks for."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.unk_token, self.pad_token, self.eos_token = tokens[:3]

    def convert_ids_to_tokens(self, i):
        return self.tokens[i]


def main(checkpoint, out, quantization):
    config = transformers.AutoConfig.from_pretrained(checkpoint)
    loader = converters._MODEL_LOADERS[type(config).__name__]
    loader.get_vocabulary = lambda model, tokenizer: vocabulary(checkpoint)
    converter = ctranslate2.converters.TransformersConverter
    if config.model_type == "t5":
        converter.load_tokenizer = lambda *_, **__: Rows(vocabulary(checkpoint))
    converter(checkpoint, low_cpu_mem_usage=True).convert(out, quantization=quantization, force=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
