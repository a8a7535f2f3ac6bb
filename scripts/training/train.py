"""Trains a translation model on what data.py and vocabulary.py made.

    python scripts/training/train.py --data DATA --vocabulary VOCABULARY --out RUN

Goes on where it was if RUN has a state, which is written every few minutes and on SIGTERM:
to resume, give the same command. It trains until it is stopped. To end well, stop it and
give the command once more with --finish STEPS: the learning rate goes to nothing in as many
steps. export.py makes a checkpoint of RUN at any time, also while it trains.

RUN has: state.pt; log.csv, how training goes; dev.csv, chrF of greedy translations of DATA's
dev.tsv by the averaged weights.
"""
import argparse
import csv
import dataclasses
import os
import signal
import time

import torch
from safetensors.torch import load_file

import augment
import batches
import checkpoint
import optimize
from loss import TiedSoftmax
from model import M2M100, Shape
from pieces import PAD, Vocabulary
from translate import Dev


def main():
    arguments = _arguments()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    run = Run(arguments)
    signal.signal(signal.SIGTERM, run.stop)
    signal.signal(signal.SIGINT, run.stop)
    try:
        run.train()
    finally:
        run.epochs.close()


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, metavar="DIR", help="what data.py wrote")
    add("--more", nargs="*", default=[], metavar="FILE", help="further pairs, such as backtranslate.py's")
    add("--vocabulary", required=True, metavar="DIR", help="what vocabulary.py wrote")
    add("--out", required=True, metavar="RUN")
    add("--init", metavar="FILE", help="weights to start with: a model.safetensors of the same shape and vocabulary")
    add("--device", default="cpu", choices=("cpu", "cuda"))
    add("--threads", type=int, help="of a CPU")
    add("--processes", type=int, default=0, help="that make the next epoch; for a GPU")
    add("--precision", default="auto", choices=("auto", "bf16", "fp32"),
        help="of products; auto: bf16, but for a CPU without instructions for it")
    add("--compile", action="store_true", help="by torch.compile")
    add("--seed", type=int, default=1)
    for field in dataclasses.fields(Shape)[1:]:
        add("--" + field.name.replace("_", "-"), type=int, default=field.default)
    add("--dropout", type=float, default=0.1)
    add("--smoothing", type=float, default=0.1, help="of labels")
    add("--sampled", type=int, default=0, help="wrong pieces that the right one is compared with; 0: all")
    add("--optimizer", default="adamw", choices=("adamw", "muon"))
    add("--rate", type=float, default=1.5e-3, help="learning rate")
    add("--decay", type=float, default=0.01, help="weight decay")
    add("--warmup", type=int, default=500, help="steps in which the learning rate goes up")
    add("--average", type=float, default=0.999, help="how much of the averaged weights a step keeps")
    add("--tokens", type=int, default=3000, help="of a batch, on the longer side, padding counted")
    add("--longest", type=int, default=96, help="pieces of a sentence")
    for field in dataclasses.fields(augment.Settings):
        add("--" + field.name, type=float, default=field.default, help="see augment.Settings")
    add("--finish", type=int, metavar="STEPS", help="end in as many steps after the first start with this")
    add("--within", type=float, metavar="SECONDS",
        help="end in as many seconds, with a learning rate that goes to nothing in them; without --finish")
    add("--stop-after", type=float, metavar="SECONDS", help="save and end after this time")
    add("--save-every", type=float, default=180, metavar="SECONDS")
    add("--dev-every", type=int, default=2000, metavar="STEPS")
    add("--dev-sentences", type=int, default=100, help="of a direction")
    return parser.parse_args()


@dataclasses.dataclass
class Progress:
    """How far a run is."""
    step: int = 0
    epoch: int = 0
    batch: int = 0         # of the epoch, the next one
    tokens: int = 0        # of targets, seen so far
    seconds: float = 0.0   # spent so far, measuring left out
    decay_start: int | None = None


class Run:
    """A training run and where it is written to."""

    def __init__(self, arguments):
        self.arguments, self.device = arguments, torch.device(arguments.device)
        self.started, self.stopped = time.monotonic(), False
        self.began = None  # when the first epoch was ready, from which --within counts
        os.makedirs(arguments.out, exist_ok=True)
        torch.manual_seed(arguments.seed)
        self.vocabulary = Vocabulary(arguments.vocabulary)
        settings = augment.Settings(**{f.name: getattr(arguments, f.name) for f in dataclasses.fields(augment.Settings)})
        pairs = batches.read([os.path.join(arguments.data, "train.tsv.gz"), *arguments.more])
        self.maker = batches.Maker(pairs, self.vocabulary, settings, arguments.seed, arguments.longest)
        self.epochs = batches.Epochs(self.maker, arguments.processes)
        self.dev = Dev(os.path.join(arguments.data, "dev.tsv"), arguments.dev_sentences)
        self.shape = Shape(self.vocabulary.size, *(getattr(arguments, f.name) for f in dataclasses.fields(Shape)[1:]))
        self.model = M2M100(self.shape, arguments.dropout).to(self.device)
        self.forward = torch.compile(self.model, dynamic=True) if arguments.compile else self.model
        self.average = optimize.Average(self.model, arguments.average)
        self.optimizers = optimize.Optimizers(self.model, arguments.optimizer, arguments.rate, arguments.decay)
        self.precision = _precision(arguments.precision, self.device)
        self.loss = TiedSoftmax(arguments.smoothing, arguments.sampled, self.precision)
        self.progress = Progress()
        self._resume()
        print(f"{sum(p.numel() for p in self.model.parameters()):,} parameters, {len(pairs):,} pairs, step {self.progress.step}",
              flush=True)

    def stop(self, *_):
        """Makes train() save and return after the step that it is in."""
        self.stopped = True

    def train(self):
        """Trains until stopped or finished."""
        finish, progress = self.arguments.finish, self.progress
        if finish is None:
            progress.decay_start = None
        elif progress.decay_start is None:
            progress.decay_start = progress.step
        log = Log(self)
        while not self._ends():
            examples = self.epochs.get(progress.epoch)
            self.began = self.began or time.monotonic()
            todo = examples.batches(self.arguments.tokens, self.maker.order(progress.epoch))
            for batch in todo[progress.batch:]:
                started = time.monotonic()
                learned = self._step(examples.tensors(batch, self.device))
                log.add(time.monotonic() - started, *learned)
                progress.step, progress.batch = progress.step + 1, progress.batch + 1
                log.chores()
                if self._ends():
                    break
            if progress.batch >= len(todo):  # more than there are, if the epoch was longer before a restart with other settings
                progress.epoch, progress.batch = progress.epoch + 1, 0
        self.save()
        if self._finished():
            log.measure()

    def _ends(self):
        limit = self.arguments.stop_after
        late = limit is not None and time.monotonic() - self.started > limit
        return self.stopped or late or self._finished()

    def _finished(self):
        steps, p = self.arguments.finish, self.progress
        if self.arguments.within:
            return self._spent() >= 1
        return steps is not None and p.step >= p.decay_start + steps

    def _spent(self):
        """The share of --within that is over; 0 without it."""
        within = self.arguments.within
        return (time.monotonic() - self.began) / within if within and self.began else 0.0

    def _step(self, tensors):
        """Learns from a batch. Returns the loss, the negative log-likelihood and the number of labels."""
        source, target, labels = tensors
        self.model.train()
        if self.progress.step % 50 == 0 or self.model.dropout.pool is None:
            generator = torch.Generator().manual_seed(self.arguments.seed + 7919 * (self.progress.step // 50))
            self.model.dropout.refill(generator, self.device, self.precision)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == torch.bfloat16):
            hidden = self.forward(source, target)
        chosen = labels.ne(PAD)
        labels = labels[chosen]
        loss, likelihood = self.loss(hidden[chosen], self.model.model.shared.weight, labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        a, p = self.arguments, self.progress
        self.optimizers.step(optimize.learning_rate(p.step, a.warmup, p.decay_start, a.finish or 1) * max(1 - self._spent(), 0))
        self.average.update(self.model, p.step)
        p.tokens += len(labels)
        return loss.detach(), likelihood, len(labels)

    def save(self):
        """Writes the state."""
        checkpoint.save(self.arguments.out, {
            "shape": dataclasses.asdict(self.shape), "progress": dataclasses.asdict(self.progress),
            "model": self.model.state_dict(), "average": self.average.model.state_dict(),
            "optimizers": self.optimizers.state_dict(), "random": torch.get_rng_state()})

    def _start(self):
        if self.arguments.init:
            weights = {name: tensor.float() for name, tensor in load_file(self.arguments.init).items()}
            self.model.load_state_dict(weights)
            self.average.model.load_state_dict(weights)

    def _resume(self):
        state = checkpoint.load(self.arguments.out)
        if state is None:
            self._start()
            return
        if state["shape"] != dataclasses.asdict(self.shape):
            raise SystemExit(f"{self.arguments.out} has a model of another shape, {state['shape']}: not {self.shape}")
        self.model.load_state_dict(state["model"])
        self.average.model.load_state_dict(state["average"])
        self.optimizers.load_state_dict(state["optimizers"])
        self.progress = Progress(**state["progress"])
        torch.set_rng_state(state["random"])


class Log:
    """What a run writes as it goes, and when."""

    EVERY = 100  # steps between two lines of log.csv

    def __init__(self, run):
        self.run, self.saved = run, time.monotonic()
        self._restart()

    def _restart(self):
        self.seconds, self.losses, self.tokens = 0.0, [], 0

    def add(self, seconds, loss, likelihood, tokens):
        """Notes what a step took and what _step returned."""
        self.run.progress.seconds += seconds
        self.seconds += seconds
        self.losses.append(torch.stack([loss, likelihood]))
        self.tokens += tokens

    def chores(self):
        """What is due after a step: a line, the state, measuring."""
        run, a = self.run, self.run.arguments
        if len(self.losses) == self.EVERY:
            self._line()
        if time.monotonic() - self.saved > a.save_every:
            run.save()
            self.saved = time.monotonic()
        if a.dev_every and run.progress.step % a.dev_every == 0:
            self.measure()

    def _line(self):
        p = self.run.progress
        loss, likelihood = torch.stack(self.losses).mean(0).tolist()
        line = {"step": p.step, "epoch": p.epoch, "batch": p.batch, "loss": f"{loss:.4f}", "nll": f"{likelihood:.4f}",
                "tokens": p.tokens, "tokens_per_second": round(self.tokens / self.seconds), "hours": f"{p.seconds / 3600:.3f}"}
        print(" ".join(f"{name} {value}" for name, value in line.items()), flush=True)
        _append(os.path.join(self.run.arguments.out, "log.csv"), [line])
        self._restart()

    def measure(self):
        """Measures the averaged weights."""
        p, found = self.run.progress, self.run.dev.chrf(self.run.average.model, self.run.vocabulary)
        base = {"step": p.step, "epoch": p.epoch, "hours": f"{p.seconds / 3600:.3f}"}
        _append(os.path.join(self.run.arguments.out, "dev.csv"),
                [base | {"from": a, "to": b, "chrf": f"{score:.2f}"} for (a, b), score in found.items()])
        print(f"step {p.step} chrF " + " ".join(f"{a}-{b} {score:.1f}" for (a, b), score in found.items())
              + f" mean {sum(found.values()) / len(found):.2f}", flush=True)


def _precision(name, device):
    if name == "auto":
        # Without AVX-512 BF16 a product in bf16 takes three and a half times as long as one in fp32.
        name = "bf16" if device.type == "cuda" or torch.cpu._is_avx512_bf16_supported() else "fp32"
    return {"bf16": torch.bfloat16, "fp32": torch.float32}[name]


def _append(path, lines):
    fresh = not os.path.exists(path)
    with open(path, "a", encoding="utf8", newline="") as f:
        writer = csv.DictWriter(f, lines[0])
        if fresh:
            writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
