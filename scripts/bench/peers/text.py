"""Text to token ids and back for the peers, as M2M100Tokenizer does it but without
its overhead: SentencePiece pieces, then vocab.json, then the language tokens.
"""
import json
import os

import sentencepiece
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

EOS, UNK = 2, 3


def read_json(*path):
    with open(os.path.join(*path), encoding="utf8") as f:
        return json.load(f)


def vocabulary(checkpoint):
    """The token of every row of the embedding, by id. Rows without one, as in a
    random checkpoint with a small tokenizer, are made-up words, and all where there is no vocab.json."""
    config = read_json(checkpoint, "config.json")
    if config["model_type"] == "marian":  # the last row is for padding, which CTranslate2 does not have
        return ["</s>", "<unk>", *(f"madeupword{i}" for i in range(2, config["vocab_size"] - 1))]
    if not os.path.exists(os.path.join(checkpoint, "vocab.json")):
        return [f"madeupword{i}" for i in range(config["vocab_size"])]
    ids = read_json(checkpoint, "vocab.json")
    tokens = sorted(ids, key=ids.get)
    tokens += [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    missing = read_json(checkpoint, "config.json")["vocab_size"] - len(tokens)
    return tokens + [f"madeupword{i}" for i in range(missing)]


class Text:
    """Encodes and decodes. Safe for concurrent use."""

    def __init__(self, checkpoint):
        self.pieces = sentencepiece.SentencePieceProcessor(os.path.join(checkpoint, "sentencepiece.bpe.model"))
        self.tokens = vocabulary(checkpoint)
        self.words = len(read_json(checkpoint, "vocab.json"))  # languages and made-up words follow
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def language(self, code):
        """The id of a language; KeyError on one that is not known."""
        return self.ids[f"__{code}__"]

    def encode(self, code, text):
        """[language token, pieces, </s>] as ids."""
        return [self.language(code), *(self.ids.get(p, UNK) for p in self.pieces.encode(text, out_type=str)), EOS]

    def decode(self, ids):
        return self.pieces.decode([self.tokens[i] for i in ids if UNK < i < self.words])
