"""The examples of an epoch as numbers, and batches of them."""
import concurrent.futures
import multiprocessing
import os
import random

import numpy
import torch

import augment
import corpus
from pieces import EOS, PAD

SHARDS = 16  # parts of an epoch that are made on their own, for several processes to make them


class Examples:
    """Pairs of rows of ids of any length, end to end in one array.

    Row 2i is a source, `[language] pieces </s>`; row 2i + 1 the target, likewise.
    """

    def __init__(self, ids, lengths):
        self.ids, self.lengths = ids, lengths
        self.starts = numpy.concatenate([[0], numpy.cumsum(lengths)])

    def __len__(self):
        return len(self.lengths) // 2

    @classmethod
    def of(cls, pairs, vocabulary, longest):
        """The ids of pairs; those with a side of more than longest are left out."""
        sources = vocabulary.encode([pair.source for pair in pairs])
        targets = vocabulary.encode_targets([pair.target for pair in pairs])
        rows = []
        for pair, source, target in zip(pairs, sources, targets):
            if 0 < len(source) <= longest and 0 < len(target) <= longest:
                rows.append([vocabulary.language(pair.source_language), *source, EOS])
                rows.append([vocabulary.language(pair.target_language), *target, EOS])
        lengths = numpy.array([len(row) for row in rows], dtype=numpy.int32)
        return cls(numpy.fromiter((i for row in rows for i in row), dtype=numpy.uint16, count=int(lengths.sum())), lengths)

    @classmethod
    def joined(cls, parts):
        return cls(numpy.concatenate([part.ids for part in parts]), numpy.concatenate([part.lengths for part in parts]))

    def batches(self, tokens, random):
        """Lists of examples of like lengths, with at most tokens ids on the longer side, the
        padding counted, in random order."""
        source, target = self.lengths[0::2], self.lengths[1::2]
        # Targets go up with one length of sources and down with the next: fewer jumps.
        order = numpy.lexsort((random.random(len(self)), numpy.where(source % 2, -target, target), source))
        longest = numpy.maximum(source, target)[order]
        found, start = [], 0
        while start < len(order):
            part = longest[start:start + max(tokens // longest[start], 1)]
            sizes = numpy.maximum.accumulate(part) * numpy.arange(1, len(part) + 1)
            end = start + max(numpy.searchsorted(sizes, tokens, "right"), 1)
            found.append(order[start:end])
            start = end
        return [found[i] for i in random.permutation(len(found))]

    def tensors(self, batch, device):
        """source, target and labels of a batch: target is what the decoder is given, labels
        what it should answer, PAD where that does not count (the language is forced)."""
        source, answer = self._padded(2 * batch), self._padded(2 * batch + 1)
        target = numpy.where(answer == EOS, PAD, answer)
        target = numpy.concatenate([numpy.full((len(batch), 1), EOS), target[:, :-1]], 1)
        labels = answer.copy()
        labels[:, 0] = PAD
        return [torch.from_numpy(rows).to(device, non_blocking=True) for rows in (source, target, labels)]

    def _padded(self, rows):
        lengths = self.lengths[rows, None]
        columns = numpy.arange(lengths.max())
        there = columns < lengths
        return numpy.where(there, self.ids[numpy.where(there, self.starts[rows, None] + columns, 0)], PAD).astype(numpy.int64)


class Maker:
    """Makes epochs. The same seed and number give the same epoch."""

    def __init__(self, pairs, vocabulary, settings, seed, longest):
        self.pairs, self.vocabulary, self.settings, self.seed, self.longest = pairs, vocabulary, settings, seed, longest

    def shard(self, epoch, number):
        """One of SHARDS parts of an epoch."""
        pairs = augment.epoch(self.pairs[number::SHARDS], self.settings, random.Random(f"{self.seed} {epoch} {number}"))
        return Examples.of(pairs, self.vocabulary, self.longest)

    def epoch(self, number):
        """The examples of an epoch, made here and now."""
        return Examples.joined([self.shard(number, i) for i in range(SHARDS)])

    def order(self, number):
        """The random numbers that order the batches of an epoch."""
        return numpy.random.default_rng([self.seed, number])


def read(paths):
    """The pairs of several files."""
    return [pair for path in paths for pair in corpus.read(path)]


class Epochs:
    """Epochs of a Maker, each made by other processes while the one before is in use."""

    def __init__(self, maker, processes):
        """processes: 0 to make each epoch when it is asked for. Others begin with the first at
        once: they are forks, which a process that uses a GPU cannot make any more."""
        self.maker, self.waiting, self.pool = maker, {}, None
        if processes:
            self.pool = concurrent.futures.ProcessPoolExecutor(
                processes, multiprocessing.get_context("fork"), initializer=_keep, initargs=(maker,))
            self.waiting = {0: self._start(0)}

    def get(self, number):
        """The examples of an epoch."""
        if self.pool is None:
            return self.maker.epoch(number)
        shards = self.waiting.pop(number, None) or self._start(number)
        examples = Examples.joined([shard.result() for shard in shards])
        self.waiting = {number + 1: self._start(number + 1)}
        return examples

    def close(self):
        """Ends the processes."""
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def _start(self, number):
        return [self.pool.submit(_shard, number, i) for i in range(SHARDS)]


def _keep(maker):
    global _maker  # in a process of the pool: its copy of the first process's maker
    _maker = maker
    os.nice(10)  # the training process has priority


def _shard(epoch, number):
    return _maker.shard(epoch, number)
