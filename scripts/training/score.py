"""Measures a Hugging Face checkpoint with transformers: chrF, greedy and with beams, and what goes wrong.

    python scripts/training/score.py --checkpoint model/bundled --dev DATA/dev.tsv

For each set and direction of the file of pairs: chrF of greedy search and of --beams, and how
many translations are empty, loop (something of up to 12 characters four times in a row, not
so in the source) or were cut at the length limit. Then what comes of texts that are hardly
sentences.
"""
import argparse
import collections
import os
import sys

import torch
from transformers import GenerationConfig, M2M100ForConditionalGeneration, M2M100Tokenizer

import augment
import corpus

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "quality"))
import hypotheses  # noqa: E402

PROBES = ("OK", "Hello", "Thank you.", "cat", "water", "42", "3.14", "2024-05-17", "12:30", "https://example.com/docs", "a@example.com",
          "😀", "Good morning, Tom!", "how are you", "WHERE IS THE STATION?", "Where is [1]?", "Click <1> to open #2.",
          "XA1 lives in Berlin.", "I paid 1250 dollars for 3 tickets.", "Hello {name}, you have %d messages.",
          "Kowalski is my neighbor.", "I went home. It was raining. I was very tired.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, metavar="FOLDER")
    parser.add_argument("--dev", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--beams", type=int, default=5)
    parser.add_argument("--most", type=int, help="sentences of a direction")
    parser.add_argument("--languages", nargs="*", default=corpus.LANGUAGES, help="only directions between these")
    arguments = parser.parse_args()
    translator = Translator(arguments.checkpoint)
    groups = collections.defaultdict(list)
    for path in arguments.dev:
        for pair in corpus.read(path):
            for one in (pair, augment.reverse(pair)):
                if {one.source_language, one.target_language} <= set(arguments.languages):
                    groups[one.kind, one.source_language, one.target_language].append((one.source, one.target))
    print(f"| set | direction | n | greedy | {arguments.beams} beams | empty | loops | cut |\n|---|---|---|---|---|---|---|---|")
    for (kind, source, target), pairs in sorted(groups.items()):
        pairs = pairs[:arguments.most]
        print(_row(translator, kind, source, target, pairs, arguments.beams), flush=True)
    for target in arguments.languages:
        if target != "en":
            for text in PROBES:
                print(f"en → {target}  {text}  →  {translator(['en', target, [text], 1])[0][0]}", flush=True)


def _row(translator, kind, source, target, pairs, beams):
    scores, trouble = [], collections.Counter()
    for width in (1, beams):
        found = translator([source, target, [text for text, _ in pairs], width])
        scores.append(hypotheses.chrf(pairs, [text for text, _ in found]))
        for (text, _), (translation, cut) in zip(pairs, found):
            trouble["empty"] += not translation.strip()
            trouble["loop"] += corpus.has_loop(translation) and not corpus.has_loop(text)
            trouble["cut"] += cut
    return (f"| {kind} | {source} → {target} | {len(pairs)} | {scores[0]:.1f} | {scores[1]:.1f} | "
            f"{trouble['empty']} | {trouble['loop']} | {trouble['cut']} |")


class Translator:
    """A checkpoint in fp32."""

    def __init__(self, folder):
        self.model = M2M100ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
        codes = M2M100Tokenizer.from_pretrained(folder).lang_code_to_id
        self.tokenizer = M2M100Tokenizer.from_pretrained(folder, additional_special_tokens=[f"__{code}__" for code in codes])

    @torch.inference_mode()
    def __call__(self, job, rows=48):
        """job: from, to, texts, beams. Returns (translation, was it cut) for each text."""
        source, target, texts, beams = job
        config = GenerationConfig(
            num_beams=beams, early_stopping=beams > 1, max_length=200, do_sample=False,
            forced_bos_token_id=self.tokenizer.get_lang_id(target), decoder_start_token_id=2, bos_token_id=0, eos_token_id=2, pad_token_id=1)
        self.tokenizer.src_lang = source
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = [None] * len(texts)
        for start in range(0, len(order), rows):
            part = order[start:start + rows]
            batch = self.tokenizer([texts[i] for i in part], return_tensors="pt", padding=True)
            for i, ids in zip(part, self.model.generate(**batch, generation_config=config).tolist()):
                text = self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
                found[i] = text, 2 not in ids[1:]
        return found


if __name__ == "__main__":
    main()
