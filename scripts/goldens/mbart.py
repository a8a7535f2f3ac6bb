"""Goldens of mBART-50: a small random checkpoint with a SentencePiece unigram model, texts in and
translations (of a kind) out.

Ids are those of the MBart50Tokenizer of transformers 4, which are SentencePiece's, as in training. That of
transformers 5 has its own way with odd spaces, see `differing`."""
import gzip
import json
import os
import shutil
import tempfile

import sentencepiece
from transformers import MBart50Tokenizer
from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES as CODES

import odd
import reference
from families import SETTINGS
from shapes import Shape

HERE = os.path.dirname(os.path.abspath(__file__))
PIECES = os.path.join(HERE, "..", "..", "tokenizer", "spm", "testdata", "unigram.model.gz")
SENTENCES = 26  # of each checkpoint, evenly from the file, with two of the 52 languages each
KINDS = {"mbart": "many-to-many"}


def make(name, sentences, folder):
    """Writes the checkpoint of a kind and its goldens into folder."""
    with open(sentences, encoding="utf8") as f:
        lines = [json.loads(line) for line in f]
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        with gzip.open(PIECES) as packed, open(os.path.join(work, "sentencepiece.bpe.model"), "wb") as f:
            shutil.copyfileobj(packed, f)
        with open(os.path.join(work, "tokenizer_config.json"), "w", encoding="utf8") as f:
            json.dump({"tokenizer_class": "MBart50Tokenizer", "name_or_path": f"facebook/mbart-large-50-{KINDS[name]}-mmt"}, f)
        sp = sentencepiece.SentencePieceProcessor(model_file=os.path.join(work, "sentencepiece.bpe.model"))
        first = len(sp) + 1  # of the languages
        shape = Shape(5, 1.5, dict(vocab_size=first + len(CODES) + 1, activation_function="relu"), mbart=True)
        odd.save(odd.random_model(shape), shape, folder)
        for file in os.listdir(work):
            shutil.copy(os.path.join(work, file), folder)
    model, theirs = reference.load(folder), MBart50Tokenizer.from_pretrained(folder)
    odd.check_loaded(model, shape, folder)
    for i, code in enumerate([*CODES, "<mask>"]):
        assert theirs.convert_tokens_to_ids(code) == first + i, code
    cases, differing = [], 0
    for i, line in enumerate(lines[::len(lines) // SENTENCES][:SENTENCES]):
        # Each language is there once, the first and the last ones too.
        origin, target = CODES[i], CODES[len(CODES) - 1 - i]
        if i % 2:
            origin, target = target, origin
        pieces = [3 if piece == sp.unk_id() else piece + 1 for piece in sp.encode(line["source"])]
        source, language = [first + CODES.index(origin), *pieces, 2], first + CODES.index(target)
        theirs.src_lang = origin
        differing += theirs(line["source"], split_special_tokens=True).input_ids != source
        case = {"set": line["set"], "from": origin[:2], "to": target[:2], "text": line["source"], "source": source,
                "prefix": [model.config.decoder_start_token_id, language], "outputs": {}}
        for key, settings in SETTINGS.items():
            output, _ = reference.generate(model, source, language, settings)
            text = sp.decode([i - 1 for i in output["ids"] if 4 <= i < first])
            case["outputs"][key] = output | {"text": text.strip()}
        cases.append(case)
    print(f"{name}: transformers' own tokenizer differs on {differing} of {len(cases)} sentences")
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/families/{name}", "files": reference.file_hashes(folder),
        "made_with": reference.versions(), "settings": SETTINGS, "cases": cases})
