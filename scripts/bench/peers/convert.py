"""Converts a checkpoint for CTranslate2:

    convert.py CHECKPOINT OUT int8|float32

CTranslate2's own converter makes the vocabulary from the tokenizer; here it is
padded, so that a random checkpoint can have a tokenizer smaller than its embedding.
"""
import sys

import ctranslate2
from ctranslate2.converters import transformers as converters

from text import vocabulary


def main(checkpoint, out, quantization):
    loader = converters._MODEL_LOADERS["M2M100Config"]
    loader.get_vocabulary = lambda model, tokenizer: vocabulary(checkpoint)
    ctranslate2.converters.TransformersConverter(checkpoint).convert(out, quantization=quantization, force=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
