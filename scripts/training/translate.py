"""Greedy translation with a network of model.py, and chrF of what comes of it."""
import collections

import torch
from sacrebleu.metrics import CHRF

import augment
import corpus
from pieces import EOS, PAD


@torch.inference_mode()
def greedy(models, sources, language, limit):
    """Ids of the most likely translations of sources (lists of ids) into a language, given
    by its token's id: up to </s>, which is left out, or to limit ids. Several models of one
    vocabulary decide by the mean of their probabilities."""
    device = models[0].positions.device
    width = max(map(len, sources))
    source = torch.tensor([row + [PAD] * (width - len(row)) for row in sources], device=device)
    decoders = [_Decoder(model, source) for model in models]
    ids = torch.full((len(sources), 1), EOS, device=device)
    found = []
    done = torch.zeros(len(sources), dtype=torch.bool, device=device)
    for step in range(limit + 2):
        logits = [decoder.step(ids, step) for decoder in decoders]
        if step == 0:
            ids = torch.full_like(ids, language)
            continue
        best = logits[0] if len(logits) == 1 else sum(one.float().softmax(-1) for one in logits)
        ids = best.argmax(-1).masked_fill(done[:, None], PAD)
        found.append(ids)
        done |= ids[:, 0].eq(EOS)
        if done.all():
            break
    return [[i for i in row if i not in (EOS, PAD)] for row in torch.cat(found, 1).tolist()]


class _Decoder:
    """A model that has read sources, and what it wrote so far."""

    def __init__(self, model, source):
        self.model, self.layers = model, model.model.decoder.layers
        memory, self.mask = model.encode(source)
        self.across = [layer.encoder_attn.project(memory, ("k_proj", "v_proj")) for layer in self.layers]
        self.past = [None] * len(self.layers)

    def step(self, ids, position):
        """The scores of what follows ids, [rows, 1], which stand at a position."""
        x = self.model.embed(ids, position)
        for i, layer in enumerate(self.layers):
            x, self.past[i] = _step(layer, x, self.past[i], self.across[i], self.mask)
        return self.model.logits(self.model.model.decoder.layer_norm(x))


def _step(layer, x, past, across, mask):
    """One position through a layer of the decoder; past: keys and values of those before."""
    queries, keys, values = layer.self_attn.project(layer.self_attn_layer_norm(x), ("q_proj", "k_proj", "v_proj"))
    if past is not None:
        keys, values = torch.cat([past[0], keys], 2), torch.cat([past[1], values], 2)
    x = x + layer.self_attn(queries, keys, values)
    return layer.feed(layer.across(x, *across, mask)), (keys, values)


def translate(models, vocabulary, texts, source, target, rows=64):
    """Greedy translations of texts by models in eval mode (see greedy)."""
    encoded = [[vocabulary.language(source), *ids, EOS] for ids in vocabulary.encode(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
    found = [""] * len(texts)
    for start in range(0, len(order), rows):
        part = order[start:start + rows]
        limit = min(2 * len(encoded[part[-1]]) + 12, 198)
        for i, ids in zip(part, greedy(models, [encoded[i] for i in part], vocabulary.language(target), limit)):
            found[i] = vocabulary.decode(ids)
    return found


class Dev:
    """Sentences to measure with."""

    def __init__(self, path, most=None):
        """most: sentences of a direction."""
        self.directions = collections.defaultdict(list)
        for pair in corpus.read(path):
            for one in (pair, augment.reverse(pair)):
                group = self.directions[one.source_language, one.target_language]
                if most is None or len(group) < most:
                    group.append(one)

    def chrf(self, model, vocabulary):
        """{(from, to): chrF of greedy translations}"""
        found = {}
        for (source, target), pairs in sorted(self.directions.items()):
            texts = translate([model], vocabulary, [pair.source for pair in pairs], source, target)
            found[source, target] = CHRF().corpus_score(texts, [[pair.target for pair in pairs]]).score
        return found
