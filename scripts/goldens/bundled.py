"""Goldens of the bundled checkpoint: real text in, translations out."""
import json
import os

from transformers import M2M100Tokenizer

import inside
import reference

TRACED = 24  # sentences whose steps are noted
OPENED = 4   # of those, sentences whose encoder output and cross-attention are noted

SETTINGS = {
    "greedy": reference.setting(),
    "beam5": reference.setting(beams=5, early_stopping="true"),
}


class Text:
    """M2M100Tokenizer, kept from reading special tokens out of the text."""

    def __init__(self, folder):
        # Without this list transformers 5 does not know that the language
        # tokens are special, and leaves them in decoded text.
        codes = M2M100Tokenizer.from_pretrained(folder).lang_code_to_id
        self.tokenizer = M2M100Tokenizer.from_pretrained(
            folder, additional_special_tokens=[f"__{code}__" for code in codes])

    def language(self, code):
        return self.tokenizer.get_lang_id(code)

    def encode(self, language, text):
        """[__language__ pieces </s>], whatever the text looks like."""
        t = self.tokenizer
        unknown = t.encoder["<unk>"]
        pieces = [t.encoder.get(piece, unknown) for piece in t.sp_model.encode(text, out_type=str)]
        ids = [self.language(language), *pieces, t.eos_token_id]
        t.src_lang = language
        if t(text).input_ids != ids and not any(token in text for token in t.all_special_tokens):
            raise ValueError(f"M2M100Tokenizer reads {text!r} otherwise: {t(text).input_ids}, not {ids}")
        return ids

    def decode(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


def make(folder, sentences, path):
    """Writes the goldens of the checkpoint in folder for the sentences file to path."""
    model, text = reference.load(folder), Text(folder)
    with open(sentences, encoding="utf8") as f:
        lines = [json.loads(line) for line in f]
    traced = _traced(lines)
    cases, traces = [], []
    for i, line in enumerate(lines):
        source, target = text.encode(line["from"], line["source"]), text.language(line["to"])
        case = {"set": line["set"], "from": line["from"], "to": line["to"], "text": line["source"],
                "source": source, "prefix": [model.config.decoder_start_token_id, target], "outputs": {}}
        if "reference" in line:
            case["reference"] = line["reference"]
        for name, settings in SETTINGS.items():
            output, raw = reference.generate(model, source, target, settings)
            case["outputs"][name] = output | {"text": text.decode(output["ids"])}
            if name == "greedy" and i in traced:
                traces.append(_trace(model, i, source, raw, opened=len(traces) < OPENED))
        cases.append(case)
        if i % 50 == 49:
            print(f"{i + 1} of {len(lines)} sentences", flush=True)
    reference.write(path, {
        "checkpoint": os.path.relpath(folder, os.path.join(os.path.dirname(path), "..", "..")),
        "files": reference.file_hashes(folder), "made_with": reference.versions(),
        "settings": SETTINGS | {"defaults": reference.default_setting(model)}, "cases": cases, "traces": traces})


def _traced(lines):
    """Indices of the sentences to trace: as many from each direction, the first of each."""
    by_direction = {}
    for i, line in enumerate(lines):
        by_direction.setdefault((line["from"], line["to"]), []).append(i)
    each = TRACED // len(by_direction)
    return {i for found in by_direction.values() for i in found[:each]}


def _trace(model, i, source, raw, opened):
    trace = {"case": i, "setting": "greedy", "steps": inside.steps(raw)}
    if opened:
        trace |= {"encoder": inside.encoder(model, source), "cross": inside.cross_attention(raw)}
    return trace
