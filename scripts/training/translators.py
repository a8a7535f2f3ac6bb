"""Checkpoints in Hugging Face's form as translators, by two libraries.

Both answer translate(texts, source, target, beams) with, for each text, what a search with so
many beams ended with, the best first.
"""
import os
import tempfile
from typing import NamedTuple

import ctranslate2
import torch
from ctranslate2.converters import TransformersConverter
from transformers import GenerationConfig, M2M100ForConditionalGeneration, M2M100Tokenizer

import corpus
from pieces import EOS, SPECIAL, Vocabulary


class Translation(NamedTuple):
    text: str
    cut: bool  # at the limit of length


class CTranslate2:
    """A checkpoint in int8, for many sentences: it answers with all that a beam found."""

    LIMIT = 128  # pieces

    def __init__(self, folder, threads=os.cpu_count()):
        self.vocabulary = Vocabulary(folder, threads)
        with tempfile.TemporaryDirectory() as converted:
            TransformersConverter(folder).convert(converted, force=True)
            self.translator = ctranslate2.Translator(converted, compute_type="int8", inter_threads=threads, intra_threads=1)
        self.pieces = dict(self.vocabulary.piece)
        for code in corpus.LANGUAGES:
            self.pieces[self.vocabulary.language(code)] = f"__{code}__"
        self.ids = {piece: i for i, piece in self.pieces.items()}

    def translate(self, texts, source, target, beams):
        rows = [[f"__{source}__", *(self.pieces[i] for i in ids), self.pieces[EOS]] for ids in self.vocabulary.encode(texts)]
        found = self.translator.translate_batch(
            rows, target_prefix=[[f"__{target}__"]] * len(rows), beam_size=beams, num_hypotheses=beams,
            max_batch_size=4096, batch_type="tokens", max_decoding_length=self.LIMIT)
        return [[self._translation(pieces) for pieces in result.hypotheses] for result in found]

    def _translation(self, pieces):
        text = self.vocabulary.decode([self.ids[piece] for piece in pieces[1:]])  # without the language
        return Translation(text, len(pieces) >= self.LIMIT)


class Transformers:
    """A checkpoint in fp32, for reference: it answers with the best alone."""

    LIMIT = 200  # pieces
    ROWS = 48    # of a batch

    def __init__(self, folder):
        self.model = M2M100ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
        codes = M2M100Tokenizer.from_pretrained(folder).lang_code_to_id
        self.tokenizer = M2M100Tokenizer.from_pretrained(folder, additional_special_tokens=[f"__{code}__" for code in codes])

    @torch.inference_mode()
    def translate(self, texts, source, target, beams):
        config = GenerationConfig(
            num_beams=beams, early_stopping=beams > 1, max_length=self.LIMIT, do_sample=False,
            forced_bos_token_id=self.tokenizer.get_lang_id(target), **SPECIAL)
        self.tokenizer.src_lang = source
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = [None] * len(texts)
        for start in range(0, len(order), self.ROWS):
            part = order[start:start + self.ROWS]
            batch = self.tokenizer([texts[i] for i in part], return_tensors="pt", padding=True)
            for i, ids in zip(part, self.model.generate(**batch, generation_config=config).tolist()):
                text = self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
                found[i] = [Translation(text, EOS not in ids[1:])]
        return found
