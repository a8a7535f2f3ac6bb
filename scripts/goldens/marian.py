"""Goldens of Opus-MT: small random checkpoints with SentencePiece unigram models trained for
them, texts in and translations (of a kind) out, by transformers' MarianTokenizer and MarianMTModel."""
import json
import os
import shutil
import tempfile

import sentencepiece
from transformers import MarianTokenizer

import odd
import reference
from families import SETTINGS
from shapes import Shape

SENTENCES = 24  # per checkpoint, evenly from the sentences of its source language
DROPPED = 40    # each such piece is not in the vocabulary, as some are not in published ones


class OnePair:
    """English to French, one vocabulary; tokenizer_config.json has the languages."""
    seed, ending, targets = 14, 2.5, {"fr": None}
    normalization, separate = ("nmt_nfkc", "identity"), False
    settings = {"source_lang": "eng", "target_lang": "fra"}


class ManyTargets:
    """English to three languages, by the tokens of the vocabulary; the model card has the source."""
    seed, ending = 12, 2.5
    targets = {"fr": ">>fra<<", "de": ">>deu<<", "zh-Hant": ">>cmn_Hant<<"}
    normalization, separate = ("identity", "identity"), False
    settings = {"source_lang": "en", "target_lang": "mul"}


class TwoVocabularies:
    """German to English, a vocabulary each; the model card has the languages."""
    seed, ending, targets = 13, 2.5, {"en": None}
    normalization, separate = ("identity", "identity"), True
    settings = {"source_lang": "gmw", "target_lang": "gmw", "separate_vocabs": True}


CARD = "---\nlanguage: de\nlicense: apache-2.0\n---\n\n### gmw-eng\n\n* source group: West Germanic languages\n" \
       "* source language(s): deu\n* target language(s): eng\n"
KINDS = {"marian": OnePair, "marian-many": ManyTargets, "marian-separate": TwoVocabularies}


def make(name, sentences, folder):
    """Writes the checkpoint of a kind and its goldens into folder."""
    kind = KINDS[name]
    with open(sentences, encoding="utf8") as f:
        lines = [json.loads(line) for line in f]
    origin = "de" if kind is TwoVocabularies else "en"
    shutil.rmtree(folder, ignore_errors=True)
    shape = Shape(kind.seed, kind.ending, marian=True)
    with tempfile.TemporaryDirectory() as work:
        targets = [code for code in kind.targets if code != "zh-Hant"]
        pieces = [train(lines, languages, normalization, os.path.join(work, side))
                  for side, languages, normalization in zip(("source", "target"), ([origin], targets), kind.normalization)]
        vocabularies = [vocabulary(p, kind.targets.values()) for p in (pieces if kind.separate else [pieces[0] + pieces[1]])]
        for file, ids in zip(("vocab.json", "target_vocab.json"), vocabularies):
            save(os.path.join(work, file), ids)
        save(os.path.join(work, "tokenizer_config.json"), {"tokenizer_class": "MarianTokenizer", **kind.settings})
        if kind is TwoVocabularies:
            with open(os.path.join(work, "README.md"), "w", encoding="utf8") as f:
                f.write(CARD)
        pad = vocabularies[-1]["<pad>"]  # of both: published models whose vocabularies differ in size are padded
        shape.config = dict(vocab_size=max(len(vocabularies[0]), pad + 1), decoder_vocab_size=max(len(vocabularies[-1]), pad + 1),
                            pad_token_id=pad, decoder_start_token_id=pad, share_encoder_decoder_embeddings=not kind.separate,
                            encoder_layers=2)
        odd.save(odd.random_model(shape), shape, folder)
        for file in os.listdir(work):
            shutil.copy(os.path.join(work, file), folder)
    model = reference.load(folder)
    odd.check_loaded(model, shape, folder)
    tokenizer = MarianTokenizer.from_pretrained(folder, split_special_tokens=True)
    cases, own = [], [line for line in lines if line["from"] == origin]
    for i, line in enumerate(own[::max(1, len(own) // SENTENCES)][:SENTENCES]):
        to = list(kind.targets)[i % len(kind.targets)]
        source = tokenizer((kind.targets[to] or "") + line["source"]).input_ids
        case = {"set": line["set"], "from": origin, "to": to, "text": line["source"], "source": source,
                "prefix": [model.config.decoder_start_token_id], "outputs": {}}
        for key, settings in SETTINGS.items():
            output, _ = reference.generate(model, source, None, settings)
            # Here a token such as >>fra<< that a model writes is special; to transformers it is text.
            ids = [i for i in output["ids"] if not tokenizer.convert_ids_to_tokens(i).startswith(">>")]
            text = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
            case["outputs"][key] = output | {"text": text}
        cases.append(case)
    reference.write(os.path.join(folder, "goldens.json.gz"), {
        "checkpoint": f"model/testdata/families/{name}", "files": reference.file_hashes(folder),
        "made_with": reference.versions(), "settings": SETTINGS, "cases": cases})


def train(lines, languages, normalization, prefix, pieces=250, **more):
    """Trains PREFIX.spm; returns its pieces."""
    text = [line["source"] for line in lines if line["from"] in languages and "\n" not in line["source"]]
    text += [line["reference"] for line in lines if line["to"] in languages and "\n" not in line.get("reference", "\n")]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf8") as corpus:
        corpus.write("\n".join(text))
        corpus.flush()
        sentencepiece.SentencePieceTrainer.train(
            input=corpus.name, model_prefix=prefix, model_type="unigram", vocab_size=pieces, num_threads=1, minloglevel=2,
            character_coverage=0.999, hard_vocab_limit=False, normalization_rule_name=normalization, **more)
    os.remove(prefix + ".vocab")
    os.rename(prefix + ".model", prefix + ".spm")
    sp = sentencepiece.SentencePieceProcessor(model_file=prefix + ".spm")
    return [sp.id_to_piece(i) for i in range(3, len(sp))]


def vocabulary(pieces, tokens):
    """The ids of pieces as Marian has them: the end, the unknown token, pieces, targets, padding."""
    kept = [piece for i, piece in enumerate(dict.fromkeys(pieces)) if i % DROPPED != DROPPED - 1]
    return {token: i for i, token in enumerate(["</s>", "<unk>", *kept, *filter(None, tokens), "<pad>"])}


def save(path, value):
    with open(path, "w", encoding="utf8") as f:
        json.dump(value, f, ensure_ascii=False, separators=(",", ":"))
