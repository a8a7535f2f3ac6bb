"""Goldens of the families beside M2M100: a small random checkpoint with a tokenizer trained
for it, texts in and translations (of a kind) out.

The ids of NLLB-200 are SentencePiece's, as those that the models were trained on: the
NllbTokenizer of transformers 5 agrees on ordinary text and has its own way with odd
spaces and characters, see `differing` in the goldens' head. The SMALL100Tokenizer is
not in transformers: its file beside the published checkpoint puts [target code] before
the pieces and </s> behind them.
"""
import json
import os
import shutil
import sys
import tempfile

import sentencepiece
from tokenizers import Tokenizer
from transformers import MBart50Tokenizer, NllbTokenizer, T5Tokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as M2M100_CODES
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as NLLB_CODES

import odd
import reference
from shapes import Shape

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tokenizer", "testdata"))
import hostile  # noqa: E402

PIECES = 400
SENTENCES = 24  # of each checkpoint, evenly from the file
SETTINGS = {
    "greedy": reference.setting(max_length=24),
    "beam5": reference.setting(beams=5, early_stopping="true", max_length=24),
    "beam3-never": reference.setting(beams=3, early_stopping="never", length_penalty=1.5, max_length=24),
}

# Targets that the sentences take turns with: the codes of users, and NLLB-200's tokens.
NLLB_TOKENS = {
    "en": "eng_Latn", "ja": "jpn_Jpan", "fr": "fra_Latn", "de": "deu_Latn", "zh": "zho_Hans", "zh-Hant": "zho_Hant",
    "sr": "srp_Cyrl", "ar": "arb_Arab", "ace-Arab": "ace_Arab", "zu": "zul_Latn", "taq-Tfng": "taq_Tfng", "fa": "pes_Arab",
}


class NLLB:
    seed, ending = 19, 2.5

    def write(self, folder, sp):
        self.sp = sp
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf8") as f:
            json.dump({"tokenizer_class": "NllbTokenizer"}, f)
        self.first = len(sp) + 1  # of the languages
        self.targets = list(NLLB_TOKENS)
        return self.first + len(NLLB_CODES) + 3

    def theirs(self, folder):
        tokenizer = self.theirs_of(folder)
        for i, token in enumerate(NLLB_CODES):
            assert tokenizer.convert_tokens_to_ids(token) == self.first + i, token
        return tokenizer

    @staticmethod
    def theirs_of(folder):
        """transformers' own tokenizer. It takes the ids of languages from the list that the
        published tokenizer_config.json has."""
        tokens = {i: token for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>"])}
        path = os.path.join(folder, "sentencepiece.bpe.model")
        first = len(sentencepiece.SentencePieceProcessor(model_file=path)) + 1
        tokens |= {first + i: token for i, token in enumerate(NLLB_CODES + ["<mask>"])}
        config = {"tokenizer_class": "NllbTokenizer", "additional_special_tokens": NLLB_CODES, "added_tokens_decoder": {
            i: {"content": token, "special": True, "normalized": token == "<mask>", "lstrip": token == "<mask>",
                "rstrip": False, "single_word": False} for i, token in tokens.items()}}
        with tempfile.TemporaryDirectory() as copy:
            shutil.copy(path, copy)
            with open(os.path.join(copy, "tokenizer_config.json"), "w", encoding="utf8") as f:
                json.dump(config, f)
            return NllbTokenizer.from_pretrained(copy)

    def id(self, code):
        return self.first + NLLB_CODES.index(NLLB_TOKENS[code])

    def encode(self, source, target, text):
        pieces = [self.sp.unk_id() + 3 if piece == self.sp.unk_id() else piece + 1 for piece in self.sp.encode(text)]
        return [self.id(source), *pieces, 2], self.id(target)

    def decode(self, ids):
        return self.sp.decode([i - 1 for i in ids if 4 <= i < self.first])


class NLLBWithLanguage(NLLB):
    """A fine-tune that has added a language: its token follows <mask>, and there are no more rows."""
    seed, ending = 23, 2.5

    def write(self, folder, sp):
        super().write(folder, sp)
        self.added = self.first + len(NLLB_CODES) + 1
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf8") as f:
            json.dump({"tokenizer_class": "NllbTokenizer", "added_tokens_decoder": {self.added: {"content": "tyv_Cyrl", "special": True}}}, f)
        self.targets = ["tyv", *self.targets[:4]]
        return self.added + 1

    def theirs(self, folder):
        return None

    def id(self, code):
        return self.added if code == "tyv" else super().id(code)


class SMaLL100:
    seed, ending = 11, 2.5

    def write(self, folder, sp):
        self.sp = sp
        self.vocab = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        for piece in range(3, len(sp)):
            self.vocab[sp.id_to_piece(piece)] = len(self.vocab)
        self.pieces = {i: piece for piece, i in self.vocab.items() if i > 3}
        for name, value in (("vocab.json", self.vocab), ("tokenizer_config.json", {
                "tokenizer_class": "SMALL100Tokenizer", "language_codes": "m2m100", "num_madeup_words": 8})):
            with open(os.path.join(folder, name), "w", encoding="utf8") as f:
                json.dump(value, f, ensure_ascii=False, separators=(",", ":"))
        self.codes = M2M100_CODES["m2m100"]
        self.targets = ["en", "ja", "fr", "de", "zh", "sr", "zu", "af"]
        return len(self.vocab) + len(self.codes) + 8

    def theirs(self, folder):
        return None

    def encode(self, source, target, text):
        pieces = [self.vocab.get(piece, 3) for piece in self.sp.encode(text, out_type=str)]
        return [len(self.vocab) + self.codes.index(target), *pieces, 2], None

    def decode(self, ids):
        return self.sp.decode([self.pieces[i] for i in ids if i in self.pieces])


FAMILIES = {"nllb": NLLB, "nllb-added": NLLBWithLanguage, "small100": SMaLL100}


def make(name, sentences, folder):
    """Writes the checkpoint of a family and its goldens into folder."""
    family = FAMILIES[name]()
    with open(sentences, encoding="utf8") as f:
        lines = [json.loads(line) for line in f]
    shape = Shape(family.seed, family.ending)
    with tempfile.TemporaryDirectory() as work:
        path = train(lines, name, work)
        sp = sentencepiece.SentencePieceProcessor(model_file=path)
        shape.config = dict(vocab_size=family.write(work, sp), decoder_layers=1, encoder_layers=2)
        shutil.rmtree(folder, ignore_errors=True)
        odd.save(odd.random_model(shape), shape, folder)
        for file in os.listdir(work):
            shutil.copy(os.path.join(work, file), folder)
    model, theirs = reference.load(folder), family.theirs(folder)
    odd.check_loaded(model, shape, folder)
    cases, differing = [], 0
    for i, line in enumerate(lines[::len(lines) // SENTENCES][:SENTENCES]):
        target = family.targets[i % len(family.targets)]
        if target == line["from"]:
            target = family.targets[(i + 1) % len(family.targets)]
        source, language = family.encode(line["from"], target, line["source"])
        if theirs is not None:
            theirs.src_lang = NLLB_TOKENS[line["from"]]
            differing += theirs(line["source"]).input_ids != source
        case = {"set": line["set"], "from": line["from"], "to": target, "text": line["source"], "source": source,
                "prefix": [model.config.decoder_start_token_id] + [language] * (language is not None), "outputs": {}}
        for key, settings in SETTINGS.items():
            output, _ = reference.generate(model, source, language, settings)
            case["outputs"][key] = output | {"text": family.decode(output["ids"]).strip()}
        cases.append(case)
    print(f"{name}: transformers' own tokenizer differs on {differing} of {len(cases)} sentences")
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/families/{name}", "files": reference.file_hashes(folder),
        "made_with": reference.versions(), "settings": SETTINGS, "cases": cases})


def make_tokenizers(checkpoint, sentences, folder):
    """Writes what transformers saves of NLLB-200's tokenizer, a tokenizer.json, into folder, and
    the ids that it gives to the sentences and hostile texts. `older` is as transformers 4 and
    published files have it, without a table of characters."""
    recent = saved(NLLB.theirs_of(checkpoint))
    older = json.loads(json.dumps(recent))
    older["model"]["merges"] = [" ".join(pair) for pair in recent["model"]["merges"]]
    older["normalizer"]["normalizers"] = [
        {"type": "Strip", "strip_left": False, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "\u2581"}]
    older["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True}]}
    write_ids({"recent": recent, "older": older}, sentences, folder)


def make_unigrams(checkpoints, sentences, folder):
    """Likewise of mBART-50, without its table of characters, which is NLLB-200's, and of a T5, for which transformers 5.23 writes that
    piece 2 is the unknown one, whichever it is."""
    mbart = saved(MBart50Tokenizer.from_pretrained(os.path.join(checkpoints, "mbart")))
    steps = mbart["normalizer"].get("normalizers", [mbart["normalizer"]])
    mbart["normalizer"] = {"type": "Sequence", "normalizers": [s for s in steps if s["type"] != "Precompiled"]}
    t5 = saved(T5Tokenizer.from_pretrained(os.path.join(checkpoints, "t5-trained")))
    t5["model"]["unk_id"] = next(i for i, (piece, _) in enumerate(t5["model"]["vocab"]) if piece == "<unk>")
    write_ids({"mbart": mbart, "t5": t5}, sentences, folder)


def saved(tokenizer):
    """The tokenizer.json that transformers writes."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        with open(os.path.join(folder, "tokenizer.json"), encoding="utf8") as f:
            return json.load(f)


def write_ids(contents, sentences, folder):
    with open(sentences, encoding="utf8") as f:
        texts = [json.loads(line)["source"] for line in f]
    texts += [t.decode() for t in hostile.texts() if is_text(t)]
    for name, content in contents.items():
        tokenizer = Tokenizer.from_str(json.dumps(content))
        tokenizer.encode_special_tokens = True  # text never becomes a special token
        rows = [{"text": t, "ids": tokenizer.encode(t).ids, "decoded": tokenizer.decode(tokenizer.encode(t).ids).strip()}
                for t in texts]
        reference.write(os.path.join(folder, f"{name}.json.gz"), content)
        reference.write(os.path.join(folder, f"{name}_ids.json.gz"), {"made_with": reference.versions(), "rows": rows})


def is_text(raw):
    try:
        return raw.decode("utf8") is not None
    except UnicodeDecodeError:
        return False


def train(lines, name, folder):
    """A SentencePiece model of the sentences in Latin script; its path. One is normalized as NLLB-200's,
    whose table of rules is 240 kB, the other not at all."""
    text = "\n".join(line["source"] for line in lines if line["from"] in ("en", "fr", "de") and "\n" not in line["source"])
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf8") as corpus:
        corpus.write(text)
        corpus.flush()
        sentencepiece.SentencePieceTrainer.train(
            input=corpus.name, model_prefix=os.path.join(folder, "m"), model_type="bpe", vocab_size=PIECES, num_threads=1,
            character_coverage=0.999, minloglevel=2, hard_vocab_limit=False,
            normalization_rule_name="nmt_nfkc" if name == "nllb" else "identity")
    os.remove(os.path.join(folder, "m.vocab"))
    path = os.path.join(folder, "sentencepiece.bpe.model")
    os.rename(os.path.join(folder, "m.model"), path)
    return path
