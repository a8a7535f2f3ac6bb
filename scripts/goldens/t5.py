"""Goldens of MADLAD-400: a small random checkpoint of T5 with a SentencePiece unigram model that has tokens of
languages, texts in and translations (of a kind) out. Ids are SentencePiece's."""
import json
import os
import shutil
import tempfile

import sentencepiece
from transformers import T5Tokenizer

import marian
import odd
import reference
from families import SETTINGS
from shapes import Shape

SENTENCES = 24  # of each checkpoint, evenly from the file
TOKENS = {"fr": "<2fr>", "de": "<2de>", "zh": "<2zh>", "sr-Latn": "<2sr_Latn>", "en": "<2en>"}
OTHERS = ["<2translate>", "<2zxx_xx_dtynoise>", "<2zh_Hans>"]  # are no languages, or none of their own
KINDS = {"t5": TOKENS}


def make(name, sentences, folder):
    """Writes the checkpoint of a kind and its goldens into folder."""
    with open(sentences, encoding="utf8") as f:
        lines = [json.loads(line) for line in f]
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        pieces = marian.train(lines, ["en", "fr", "de"], "identity", os.path.join(work, "spiece"), byte_fallback=True, pieces=420,
                              user_defined_symbols=[*TOKENS.values(), *OTHERS])
        shape = Shape(3, 5.0, dict(vocab_size=3 + len(pieces) + 5), t5=True)
        odd.save(odd.random_model(shape), shape, folder)
        shutil.copy(os.path.join(work, "spiece.spm"), os.path.join(folder, "spiece.model"))
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf8") as f:
        json.dump({"tokenizer_class": "T5Tokenizer"}, f)
    model, theirs = reference.load(folder), T5Tokenizer.from_pretrained(folder)
    odd.check_loaded(model, shape, folder)
    sp = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, "spiece.model"))
    cases, differing = [], 0
    for i, line in enumerate(lines[::len(lines) // SENTENCES][:SENTENCES]):
        to = list(TOKENS)[i % len(TOKENS)]
        text = f"{TOKENS[to]} {line['source']}"
        source = sp.encode(text) + [sp.eos_id()]
        differing += theirs(text).input_ids != source
        case = {"set": line["set"], "from": list(TOKENS)[(i + 1) % len(TOKENS)], "to": to, "text": line["source"], "source": source,
                "prefix": [model.config.decoder_start_token_id], "outputs": {}}
        for key, settings in SETTINGS.items():
            output, _ = reference.generate(model, source, None, settings)
            case["outputs"][key] = output | {"text": text_of(sp, output["ids"])}
        cases.append(case)
    print(f"{name}: transformers' own tokenizer differs on {differing} of {len(cases)} sentences")
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/families/{name}", "files": reference.file_hashes(folder),
        "made_with": reference.versions(), "settings": SETTINGS, "cases": cases})


def text_of(sp, ids):
    """The text of what a model wrote. Here a token such as <2fr> is special; to transformers it is text."""
    return sp.decode([i for i in ids if i < len(sp) and not sp.id_to_piece(i).startswith("<2") and not sp.is_unknown(i)]).strip()
