"""Goldens of MADLAD-400 and of mT5: small random checkpoints with SentencePiece unigram models, of which one has tokens of
languages, and one is told them in words, as its config.json says; texts in and translations (of a kind) out. Ids are SentencePiece's."""
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
WORDS = {"de": "en2de ", "fr": "translate English to French: ", "ro": "translate English to Romanian: "}  # from English
KINDS = {"t5": {to: token + " " for to, token in TOKENS.items()}, "t5-words": WORDS}


def make(name, sentences, folder):
    """Writes the checkpoint of a kind and its goldens into folder."""
    with open(sentences, encoding="utf8") as f:
        lines = [json.loads(line) for line in f]
    shutil.rmtree(folder, ignore_errors=True)
    prefixes, in_words = KINDS[name], name == "t5-words"
    with tempfile.TemporaryDirectory() as work:
        symbols = dict(pad_id=0, eos_id=1, unk_id=2, bos_id=-1) if in_words else dict(byte_fallback=True, user_defined_symbols=[*TOKENS.values(), *OTHERS])
        pieces = marian.train(lines, ["en", "fr", "de"], "identity", os.path.join(work, "spiece"), pieces=420, **symbols)
        shape = Shape(3, 5.0, dict(vocab_size=3 + len(pieces) + 5), t5=True)
        if in_words:
            shape = Shape(5, 10.5, dict(vocab_size=3 + len(pieces) + 100 + 12, pad_token_id=0, eos_token_id=1), t5=True)  # 100: <extra_id_0> and so on
        odd.save(odd.random_model(shape), shape, folder)
        shutil.copy(os.path.join(work, "spiece.spm"), os.path.join(folder, "spiece.model"))
    if in_words:
        path = os.path.join(folder, "config.json")
        with open(path, encoding="utf8") as f:
            config = json.load(f)
        tasks = {f"translation_en_to_{to}": {"max_length": 300, "prefix": prefix} for to, prefix in WORDS.items()}
        config |= {"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"],
                   "task_specific_params": tasks | {"summarization": {"prefix": "summarize: "}}}
        with open(path, "w", encoding="utf8") as f:
            json.dump(config, f, indent=2, sort_keys=True)
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf8") as f:
        json.dump({"tokenizer_class": "T5Tokenizer"}, f)
    model, theirs = reference.load(folder), T5Tokenizer.from_pretrained(folder)
    odd.check_loaded(model, shape, folder)
    sp = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, "spiece.model"))
    cases, differing = [], 0
    for i, line in enumerate(lines[::len(lines) // SENTENCES][:SENTENCES]):
        to = list(prefixes)[i % len(prefixes)]
        text = prefixes[to] + line["source"]
        source = sp.encode(text) + [sp.eos_id()]
        differing += theirs(text).input_ids != source
        case = {"set": line["set"], "from": "en" if in_words else list(TOKENS)[(i + 1) % len(TOKENS)], "to": to, "text": line["source"], "source": source,
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
