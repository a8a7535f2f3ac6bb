"""Runs Hugging Face transformers and notes what it answered.

`Margins` makes models that also note, for every beam search, the smallest margin by which any
of its decisions was taken. A margin
near float noise says that another implementation may rightly decide otherwise.
"""
import gzip
import hashlib
import json
import os
import platform

import numpy
import sentencepiece
import torch
import transformers
from transformers import AutoConfig, GenerationConfig, GenerationMixin, M2M100ForConditionalGeneration, MarianMTModel, MBartForConditionalGeneration, MT5ForConditionalGeneration, T5ForConditionalGeneration

# Scores below this are transformers' placeholders (-1e9 and -inf), not scores.
PLACEHOLDER = -1e8

# The settings of a search: the names of dragoman's model.Generation and those
# of transformers.
SETTING_NAMES = {
    "beams": "num_beams",
    "max_length": "max_length",
    "min_length": "min_length",
    "length_penalty": "length_penalty",
    "early_stopping": "early_stopping",
    "no_repeat_ngram_size": "no_repeat_ngram_size",
    "repetition_penalty": "repetition_penalty",
}


class Margins:
    """Notes the margins of a beam search over one sentence."""

    def start_margins(self):
        self._margin = float("inf")
        self._finished = []

    def margin(self):
        """Smallest margin since start_margins, the choice of the best hypothesis included."""
        if len(self._finished) > 1:
            self._note(self._finished[0] - self._finished[1])
        return self._margin

    def _note(self, gap):
        self._margin = min(self._margin, abs(gap))

    def _note_cut(self, scores, keep):
        """Notes by how much the best `keep` of scores beat the next one."""
        scores = sorted((s for s in scores if s > PLACEHOLDER), reverse=True)
        if len(scores) > keep:
            self._note(scores[keep - 1] - scores[keep])

    def _get_top_k_continuations(self, accumulated_log_probs, beams_to_keep, **kwargs):
        # One more than the search looks at: the first that it leaves out.
        self._candidates = torch.topk(accumulated_log_probs, beams_to_keep + 1).values[0].tolist()
        return super()._get_top_k_continuations(
            accumulated_log_probs=accumulated_log_probs, beams_to_keep=beams_to_keep, **kwargs)

    def _get_running_beams_for_next_iteration(self, next_token_hits_stopping_criteria, num_beams, **kwargs):
        ends = next_token_hits_stopping_criteria[0].tolist() + [False]
        scores = self._candidates
        self._note_cut([s for s, end in zip(scores, ends) if not end], num_beams)
        # A candidate that ends its sentence counts only among the first num_beams.
        for rank, (score, end) in enumerate(zip(scores, ends)):
            if end and score > PLACEHOLDER:
                other = scores[num_beams if rank < num_beams else num_beams - 1]
                if other > PLACEHOLDER:
                    self._note(score - other)
        return super()._get_running_beams_for_next_iteration(
            next_token_hits_stopping_criteria=next_token_hits_stopping_criteria, num_beams=num_beams, **kwargs)

    def _update_finished_beams(self, **kwargs):
        length = kwargs["cur_len"] + 1 - kwargs["decoder_prompt_len"]
        ends = kwargs["next_token_hits_stopping_criteria"][0].tolist()[:kwargs["num_beams"]]
        scores = kwargs["topk_log_probs"][0].tolist()
        fresh = [s / length ** kwargs["length_penalty"] for s, end in zip(scores, ends) if end]
        self._note_cut(kwargs["beam_scores"][0].tolist() + fresh, kwargs["num_beams"])
        result = super()._update_finished_beams(**kwargs)
        self._finished = [s for s in result[1][0].tolist() if s > PLACEHOLDER]
        return result

    def _check_early_stop_heuristic(self, **kwargs):
        if kwargs["early_stopping"] is not True and bool(kwargs["is_sent_finished"].all()):
            span = kwargs["cur_len"] - kwargs["decoder_prompt_len"]
            if kwargs["early_stopping"] == "never" and kwargs["length_penalty"] > 0:
                span = kwargs["max_length"] - kwargs["decoder_prompt_len"]
            best = kwargs["running_beam_scores"][0, 0].item() / span ** kwargs["length_penalty"]
            if best > PLACEHOLDER:
                self._note(best - kwargs["beam_scores"].min().item())
        return GenerationMixin._check_early_stop_heuristic(**kwargs)


class M2M100(Margins, M2M100ForConditionalGeneration):
    pass


class Marian(Margins, MarianMTModel):
    pass


class MBart(Margins, MBartForConditionalGeneration):
    pass


class T5(Margins, T5ForConditionalGeneration):
    pass


class MT5(Margins, MT5ForConditionalGeneration):
    pass


def load(folder):
    """The checkpoint in folder in float32, ready to generate."""
    network = {"m2m_100": M2M100, "marian": Marian, "mbart": MBart, "t5": T5, "mt5": MT5}[AutoConfig.from_pretrained(folder).model_type]
    return network.from_pretrained(folder, dtype=torch.float32).eval()


def versions():
    """What made the goldens."""
    return {
        "attention": "sdpa",
        "dtype": "float32",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "sentencepiece": sentencepiece.__version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def setting(**changes):
    """A search's settings: greedy, unless changed, by model.Generation's names."""
    return {"beams": 1, "max_length": 200, "min_length": 0, "length_penalty": 1.0, "early_stopping": "false",
            "no_repeat_ngram_size": 0, "repetition_penalty": 1.0, **changes}


def default_setting(model):
    """The settings that a checkpoint's own files and transformers' defaults add up to."""
    config, _ = model._prepare_generation_config(None)
    found = {ours: getattr(config, theirs) for ours, theirs in SETTING_NAMES.items()}
    stop = found["early_stopping"]
    found["early_stopping"] = stop if isinstance(stop, str) else str(stop).lower()
    return found


def _generation_config(model, settings, language):
    named = {SETTING_NAMES[name]: value for name, value in settings.items()}
    named["early_stopping"] = {"true": True, "false": False, "never": "never"}[settings["early_stopping"]]
    config, own = model.config, model.generation_config
    return GenerationConfig(
        **named, do_sample=False, forced_bos_token_id=language, decoder_start_token_id=config.decoder_start_token_id,
        bos_token_id=getattr(config, "bos_token_id", None), pad_token_id=config.pad_token_id, eos_token_id=config.eos_token_id,
        bad_words_ids=own.bad_words_ids, forced_eos_token_id=own.forced_eos_token_id, renormalize_logits=own.renormalize_logits,
        output_scores=True, output_logits=True, return_dict_in_generate=True)


@torch.inference_mode()
def generate(model, source, language, settings):
    """Decodes one source (a list of ids) into a language, whose token is forced; None forces
    none. Returns the golden output and what generate() returned."""
    model.start_margins()
    raw = model.generate(torch.tensor([source]), attention_mask=torch.ones(1, len(source), dtype=torch.long),
                         generation_config=_generation_config(model, settings, language))
    margin = model.margin() if settings["beams"] > 1 else _greedy_margin(raw.scores, forced=language is not None)
    score = number(raw.sequences_scores[0]) if settings["beams"] > 1 else None
    return _output(model, raw.sequences[0].tolist(), settings, margin, score), raw


@torch.inference_mode()
def generate_padded(model, sources, language, settings):
    """Decodes several sources in one padded batch. Returns the golden outputs, without margins."""
    pad = model.config.pad_token_id
    width = max(map(len, sources))
    ids = torch.tensor([s + [pad] * (width - len(s)) for s in sources])
    raw = model.generate(ids, attention_mask=ids.ne(pad).long(),
                         generation_config=_generation_config(model, settings, language))
    scores = map(number, raw.sequences_scores) if settings["beams"] > 1 else [None] * len(sources)
    return [_output(model, row, settings, None, score) for row, score in zip(raw.sequences.tolist(), scores)]


def _greedy_margin(scores, forced):
    """Smallest lead of a chosen token, over the steps after the forced one."""
    tops = [torch.topk(step[0], 2).values.tolist() for step in scores[1 if forced else 0:]]
    return min((first - second for first, second in tops), default=float("inf"))


def _output(model, ids, settings, margin, score):
    pad, eos = model.config.pad_token_id, model.config.eos_token_id
    if eos in ids[1:]:
        ids = ids[:ids.index(eos, 1) + 1]  # a beam search fills up with the end token where the padding token is 0
    while ids[-1] == pad:
        ids.pop()
    if pad in ids[1:]:
        raise ValueError(f"the model wrote a pad token, {ids}: take another seed")
    forced = model.generation_config.forced_eos_token_id is not None  # whether or not the end would have come by itself
    output = {"ids": ids, "truncated": len(ids) == settings["max_length"] and (forced or ids[-1] != eos)}
    if margin is not None and margin != float("inf"):
        output["margin"] = number(margin)
    if score is not None:
        output["score"] = score
    return output


def number(x):
    """x with the fewest digits that name the same float32."""
    return float(str(numpy.float32(float(x))))


def numbers(tensor):
    """A tensor as nested lists of numbers."""
    return number(tensor) if tensor.dim() == 0 else [numbers(t) for t in tensor]


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def file_hashes(folder):
    """The checksums of a checkpoint's files: goldens hold for these files only."""
    names = sorted(n for n in os.listdir(folder) if n.endswith((".safetensors", ".bin")) or n == "config.json"
                   or n in ("generation_config.json", "model.safetensors.index.json", "sentencepiece.bpe.model", "spiece.model", "source.spm", "target.spm",
                            "vocab.json", "target_vocab.json",
                            "tokenizer_config.json"))
    return {name: sha256(os.path.join(folder, name)) for name in names}


def write(path, value):
    """Writes value as compressed JSON; the same value gives the same bytes."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":"))
    with open(path, "wb") as f, gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0, compresslevel=9) as z:
        z.write(text.encode() + b"\n")
    print(f"{path}: {os.path.getsize(path)} bytes")
