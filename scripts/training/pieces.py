"""Text to a model's ids and back, as Hugging Face's M2M100Tokenizer does it."""
import json
import os

import numpy
import sentencepiece

BOS, PAD, EOS, UNKNOWN = range(4)
SPECIAL = {"bos_token_id": BOS, "decoder_start_token_id": EOS, "eos_token_id": EOS, "pad_token_id": PAD}  # as transformers names them
UNUSED = 8  # rows behind the languages, as in M2M100
MODEL, VOCABULARY = "sentencepiece.bpe.model", "vocab.json"
LANGUAGES = ("af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu "
             "hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro "
             "ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu").split()

# The normalization nmt_nfkc makes these narrow, so that no piece has one. They are entries
# of vocab.json of their own, behind the pieces: the model never reads but can write them,
# and Chinese and Japanese come out with the punctuation that they are written with.
WIDE = "？！，：；（）"
# Replacements on the way through SentencePiece: private-use characters, which
# SentencePiece does not know and therefore leaves unchanged.
_SHIELD = {ord(c): chr(0xE000 + i) for i, c in enumerate(WIDE)}
_SHIELDED = {chr(0xE000 + i): c for i, c in enumerate(WIDE)}


def entries(processor, wide):
    """The content of vocab.json: special tokens, the pieces, and what WIDE has."""
    found = {"<s>": BOS, "<pad>": PAD, "</s>": EOS, "<unk>": UNKNOWN}
    for i in range(3, processor.get_piece_size()):
        found[processor.id_to_piece(i)] = len(found)
    for c in WIDE if wide else ():
        found[c] = len(found)
    return found


class Vocabulary:
    """The SentencePiece model and vocab.json of a folder."""

    def __init__(self, folder, threads=2):
        self.folder, self.threads = folder, threads
        self.processor = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, MODEL))
        with open(os.path.join(folder, VOCABULARY), encoding="utf8") as f:
            self.ids = json.load(f)
        self.piece = {i: piece for piece, i in self.ids.items()}
        self.size = len(self.ids) + len(LANGUAGES) + UNUSED
        self._languages = {code: len(self.ids) + i for i, code in enumerate(LANGUAGES)}
        self._wide = {c: self.ids[c] for c in WIDE if c in self.ids}
        self._table = numpy.array([self.ids.get(self.processor.id_to_piece(i), UNKNOWN)
                                   for i in range(self.processor.get_piece_size())])
        self._table[self.processor.unk_id()] = UNKNOWN

    def language(self, code):
        """The id of a language's token."""
        return self._languages[code]

    def encode(self, texts):
        """The ids of each text, as a source: without its language and its end."""
        return [self._table[ids].tolist() for ids in self.processor.encode(texts, out_type=int, num_threads=self.threads)]

    def encode_targets(self, texts):
        """The same of translations, in which full-width punctuation stays full-width."""
        found = self.encode(texts)
        for i, text in enumerate(texts):
            if not text.isascii() and any(c in self._wide for c in text):
                found[i] = self._encode_wide(text)
        return found

    def _encode_wide(self, text):
        ids = []
        for piece in self.processor.encode(text.translate(_SHIELD), out_type=str):
            if piece in self.ids:
                ids.append(self.ids[piece])
                continue
            for c in piece:
                i = self._wide.get(_SHIELDED.get(c), UNKNOWN)
                if i != UNKNOWN or not ids or ids[-1] != UNKNOWN:
                    ids.append(i)
        return ids

    def decode(self, ids):
        """The text of ids; special tokens and languages are nothing, as with skip_special_tokens."""
        return self.processor.decode([self.piece[i] for i in ids if UNKNOWN < i < len(self.ids)]).strip()
