#!/usr/bin/env python3
"""Makes model/search/testdata/generate.json.gz with Hugging Face's own generate().

    python scripts/goldens/search.py model/search/testdata/generate.json.gz

The "model" is a table: the logits of the next token depend on the last two
decoder tokens only, logits = table[(7*previous + last) % states]. So the Go
test can rebuild every candidate row without a neural network, while generate()
runs unchanged: greedy search, beam search, its logits processors and its
stopping rules.

Ties. torch.topk promises no order among equal values. Each beam case is
therefore run twice: with torch.topk as it is, and with a stable one (lower index
first, which is also what ONNX's TopK promises). "sequence" and "score" are the
stable run's; where the stock run differs, its result is kept next to it as
"stock_sequence" and "stock_score". Both runs see the same values from every
topk (asserted on every call), so such a difference is a tie and nothing else.

"others" are the next best sentences of the stable run, as num_return_sequences
gives them.

Needs torch, numpy and transformers; the versions are written into the file.
"""

import argparse
import base64
import contextlib
import gzip
import itertools
import json
import random

import numpy as np
import torch
import transformers
from transformers import GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

VOCAB, STATES, LANGUAGE = 24, 37, 20
BOS, PAD, EOS = 0, 1, 2


class TableConfig(PretrainedConfig):
    model_type = "table"


class Encoder(torch.nn.Module):
    main_input_name = "input_ids"

    def forward(self, input_ids=None, **_):
        return BaseModelOutput(last_hidden_state=torch.zeros(*input_ids.shape, 1))


class TableModel(PreTrainedModel, GenerationMixin):
    """An encoder-decoder whose next logits are a row of a table."""

    config_class = TableConfig
    main_input_name = "input_ids"

    def __init__(self, table):
        super().__init__(TableConfig(is_encoder_decoder=True, vocab_size=table.shape[1], decoder_start_token_id=EOS,
                                     bos_token_id=BOS, pad_token_id=PAD, eos_token_id=EOS, use_cache=False))
        self.anchor = torch.nn.Parameter(torch.zeros(1))  # gives the model a device and a type
        self.encoder = Encoder()
        self.table = table

    def get_encoder(self, *_, **__):
        return self.encoder

    def prepare_inputs_for_generation(self, input_ids, encoder_outputs=None, **_):
        return {"decoder_input_ids": input_ids, "encoder_outputs": encoder_outputs}

    def forward(self, decoder_input_ids=None, encoder_outputs=None, return_dict=True, **_):
        ids = decoder_input_ids
        previous = ids[:, -2] if ids.shape[1] > 1 else torch.zeros_like(ids[:, -1])
        logits = self.table[(7 * previous + ids[:, -1]) % self.table.shape[0]]
        return Seq2SeqLMOutput(logits=logits[:, None, :])


def tables():
    """Named tables: how likely the end is, and how much is tied."""
    rng = np.random.default_rng(20240601)

    def normal(scale, eos):
        t = rng.normal(0, scale, (STATES, VOCAB))
        t[:, EOS] += eos
        return t

    loop = normal(0.7, 0)
    for s in range(STATES):  # prefers a few tokens whatever came before
        loop[s, [5, 6, 7]] += 4
    ties = rng.integers(0, 3, (STATES, VOCAB)).astype(float)
    eos_ties = rng.integers(0, 4, (STATES, VOCAB)).astype(float)
    eos_ties[:, EOS] = eos_ties.max(axis=1)
    made = {
        "peaked": normal(3, 1),
        "flat": normal(0.4, 0.5),
        "ends early": normal(1.5, 4),
        "ends late": normal(1.5, -1.5),
        "never ends": normal(1.5, -40),
        "loops": loop,
        "below zero": normal(1.5, 0.5) - 9,  # every logit is negative: the penalty multiplies
        "above zero": normal(1.0, 0.3) + 9,  # every logit is positive: the penalty divides
        "ties": ties,
        "ties with the end": eos_ties,
    }
    return {name: torch.tensor(t, dtype=torch.float32) for name, t in made.items()}


def cases(names):
    """Plain settings on every table, then a sample of the whole grid."""
    for name, beams, early in itertools.product(names, (1, 2, 3, 5, 8), (True, False, "never")):
        if beams > 1 or early is True:
            yield name, dict(beams=beams, early_stopping=early, length_penalty=1.0, min_length=0, max_length=24,
                             no_repeat_ngram_size=0, repetition_penalty=1.0)
    grid = list(itertools.product(names, (1, 2, 3, 5, 8), (True, False, "never"), (-1.0, 0.0, 0.5, 1.0, 2.0),
                                  ((0, 24), (8, 20), (0, 3), (5, 6), (12, 12), (3, 40)), (0, 2, 3), (1.0, 1.2, 2.0)))
    for name, beams, early, penalty, (low, high), ngram, repetition in random.Random(7).sample(grid, 900):
        yield name, dict(beams=beams, early_stopping=early, length_penalty=penalty, min_length=low, max_length=high,
                         no_repeat_ngram_size=ngram, repetition_penalty=repetition)


@contextlib.contextmanager
def stable_topk():
    stock = torch.topk

    def topk(x, k, dim=-1):
        values, order = torch.sort(x, dim=dim, descending=True, stable=True)
        values, order = values.narrow(dim, 0, k), order.narrow(dim, 0, k)
        assert torch.equal(values, stock(x, k, dim)[0])
        return values, order

    torch.topk = topk
    try:
        yield
    finally:
        torch.topk = stock


def whole(sequence):
    """A sequence without the padding after its end."""
    while len(sequence) > 2 and sequence[-1] == PAD and EOS in sequence[2:]:
        sequence = sequence[:-1]
    return sequence


def run(model, case):
    """The sentences that generate() finds, best first, each with its score."""
    out = model.generate(
        torch.tensor([[5, 6, EOS]]), do_sample=False, forced_bos_token_id=LANGUAGE, num_beams=case["beams"],
        num_return_sequences=case["beams"],
        early_stopping=case["early_stopping"], length_penalty=case["length_penalty"], min_length=case["min_length"],
        max_length=case["max_length"], no_repeat_ngram_size=case["no_repeat_ngram_size"],
        repetition_penalty=case["repetition_penalty"], use_cache=False,
        return_dict_in_generate=True, output_scores=True, output_logits=True)
    if case["beams"] > 1:
        found = [(whole(s), score) for s, score in zip(out.sequences.tolist(), out.sequences_scores.tolist())]
        # A score of -1e9 means no sentence, or a sentence that the search was forced to: see package search.
        return found[:1] + [(s, score) for s, score in found[1:] if score > -1e6]
    sequence = out.sequences[0].tolist()
    # Greedy search has no score of its own: the model's log-probability of the
    # sequence, the forced token left out, under the same length penalty.
    steps = [torch.log_softmax(logits[0], -1)[token] for logits, token in zip(out.logits, sequence[1:])][1:]
    total = torch.zeros(())
    for step in steps:
        total = total + step
    return [(sequence, (total / (len(sequence) - 1) ** case["length_penalty"]).item())]


def floats(t):
    return base64.b64encode(t.numpy().astype("<f4").tobytes()).decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    args = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()

    made = tables()
    models = {name: TableModel(t).eval() for name, t in made.items()}
    results = []
    for name, case in cases(list(made)):
        with torch.no_grad():
            stock = run(models[name], case)
            with stable_topk():
                stable = run(models[name], case)
        result = {"table": name, **case, "sequence": stable[0][0], "score": stable[0][1]}
        result["early_stopping"] = str(case["early_stopping"]).lower()
        if len(stable) > 1:
            result["others"] = [{"sequence": s, "score": score} for s, score in stable[1:]]
        if stock[0] != stable[0]:
            result |= {"stock_sequence": stock[0][0], "stock_score": stock[0][1]}
        results.append(result)

    golden = {
        "made_with": {"transformers": transformers.__version__, "torch": torch.__version__},
        "vocab": VOCAB, "states": STATES, "prefix": [EOS, LANGUAGE], "eos": EOS,
        "tables": {n: {"logits": floats(t), "log_probs": floats(torch.log_softmax(t, -1))} for n, t in made.items()},
        "cases": results,
    }
    with open(args.output, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0) as z:
        z.write(json.dumps(golden).encode())
    print(f"{len(results)} cases, {sum('stock_sequence' in r for r in results)} with ties that the stock topk breaks otherwise")


if __name__ == "__main__":
    main()
