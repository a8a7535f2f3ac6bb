"""Varies pairs, anew in every epoch, so that a model learns what Tatoeba does not teach.

Each function takes a pair in the direction in which it is used and returns one; the rates
of Settings say how often. A rate of 0 switches a variation off, to measure what it is for.
"""
import dataclasses
import re
import unicodedata

import corpus
import names
import things


@dataclasses.dataclass(frozen=True)
class Settings:
    """How much of an epoch is what, as shares from 0 to 1."""
    noise: float = 0.06       # sentences with other case, without punctuation, with slips of the pen
    copies: float = 0.15      # sentences with names, numbers, markers, placeholders put in or exchanged
    joined: float = 0.06      # sentences that are two or three of the corpus, for longer inputs
    alone: float = 0.02       # texts that are copied as a whole: numbers, addresses, emoji, names
    pivots: float = 1.0       # of the pairs that share a sentence in English
    backs: float = 1.0        # of the pairs whose source was translated by a model
    distilled: float = 1.0    # of the pairs whose target was written by models
    written: float = 1.0      # of the pairs that persons wrote, in directions that have distilled ones
    words: float = 1.0        # of the pairs that are single words


def epoch(pairs, settings, random):
    """The pairs of an epoch, each with its source first, in no useful order."""
    distilled = {(pair.source_language, pair.target_language) for pair in pairs if pair.kind == corpus.DISTILLED}
    found = []
    for pair in pairs:
        for one in (pair,) if pair.kind in corpus.ONE_WAY else (pair, reverse(pair)):
            if random.random() < _rate(one, distilled, settings):
                found.append(vary(one, settings, random))
    found = join(found, settings.joined, random)
    return found + [alone(random) for _ in range(round(settings.alone * len(found)))]


def _rate(pair, distilled, settings):
    if pair.kind == corpus.DIRECT:
        return settings.written if (pair.source_language, pair.target_language) in distilled else 1.0
    return {corpus.JOINED: settings.pivots, corpus.BACK: settings.backs,
            corpus.DISTILLED: settings.distilled, corpus.WORD: settings.words}.get(pair.kind, 1.0)


def reverse(pair):
    """The pair in the other direction."""
    return corpus.Pair(pair.kind, pair.target_language, pair.source_language, pair.target, pair.source)


# Words and greetings are typed in a hurry more often than the sentences of a corpus.
_HURRY = 3


def vary(pair, settings, random):
    """The pair, or a variation of it."""
    noisy = settings.noise * (_HURRY if pair.kind in (corpus.WORD, corpus.PHRASE) else 1)
    chance = random.random()
    if pair.kind == corpus.WORD:
        return random.choice((_lower, _upper, capital))(pair, random) if chance < noisy else pair
    if chance < settings.copies:
        return copy(pair, random)
    if chance < settings.copies + noisy:
        return noise(pair, random)
    return pair


def alone(random):
    """A text to copy, from one language to another."""
    source, target = random.sample(corpus.LANGUAGES, 2)
    text = things.alone(random)
    return corpus.Pair("alone", source, target, text, text)


# Joining.

def join(pairs, share, random):
    """Joins some of the pairs in twos and threes with others of their direction. A share
    of the sentences that come of it are joined."""
    waiting, found = {}, []
    for pair in pairs:
        if pair.kind == corpus.WORD or random.random() >= 2.4 * share:
            found.append(pair)
            continue
        group = waiting.setdefault((pair.source_language, pair.target_language), [])
        group.append(pair)
        if len(group) >= (3 if random.random() < 0.3 else 2):
            found.append(_joined(group))
            group.clear()
    return found + [pair for group in waiting.values() for pair in group]


def _joined(group):
    between = lambda language: "" if language in ("ja", "zh") else " "
    first = group[0]
    return first._replace(kind="joined", source=between(first.source_language).join(pair.source for pair in group),
                          target=between(first.target_language).join(pair.target for pair in group))


# Noise.

_FINAL = re.compile(r"\s*[.!?。！？…]+$")


def noise(pair, random):
    """The pair as somebody in a hurry would write it."""
    return random.choice((_lower, _lower, _upper, _upper, _unfinished, _unfinished, _plain, _slip, _slip))(pair, random)


def _lower(pair, random):
    return pair._replace(source=pair.source.lower())


def _upper(pair, random):
    return pair._replace(source=pair.source.upper(), target=pair.target.upper())


def capital(pair, random=None):
    """With a capital at the start, on both sides."""
    first = lambda text: text[:1].upper() + text[1:]
    return pair._replace(source=first(pair.source), target=first(pair.target))


def _unfinished(pair, random):
    """Without the sign at the end, on both sides, and half of the time in small letters."""
    source = _FINAL.sub("", pair.source)
    return pair._replace(source=source.lower() if random.random() < 0.5 else source, target=_FINAL.sub("", pair.target))


def _plain(pair, random):
    """Without accents and apostrophes in the source, as on a foreign keyboard."""
    text = pair.source
    if pair.source_language == "de":
        text = text.translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}))
    if pair.source_language in ("en", "fr", "de"):
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
        text = text.replace("'", "’" if random.random() < 0.7 else "")
    return pair._replace(source=text)


def _slip(pair, random):
    """Two letters of a word exchanged, or one left out or doubled."""
    spots = [m.start() for m in re.finditer(r"(?<=[a-zà-ÿ])[a-zà-ÿ](?=[a-zà-ÿ])", pair.source)]
    if not spots:
        return pair
    i, text = random.choice(spots), pair.source
    middle = random.choice((text[i + 1] + text[i], text[i + 1], text[i] + text[i:i + 2]))
    return pair._replace(source=text[:i] + middle + text[i + 2:])


# Copying.

def copy(pair, random):
    """The pair with something in it that both sides have in common."""
    people, numbers = names.places(pair), names.numbers(pair)
    if numbers and random.random() < 0.6:
        others = [things.number(random, len(place.english)) for place in numbers]
        return names.put(pair, numbers, others, others)
    if people and random.random() < 0.75:
        return _exchanged(pair, people, random)
    return _inserted(pair, random)


def _exchanged(pair, people, random):
    """With something else for its names."""
    kind = random.choices((_other_names, _made_up, _marked, _placeholders, _wrapped), (3, 5, 6, 3, 2))[0]
    return names.put(pair, people, *kind(pair, people, random))


def _other_names(pair, people, random):
    chosen = random.sample(sorted(names.NAMES), len(people))
    return tuple([names.NAMES[english][language][0] for english in chosen]
                 for language in (pair.source_language, pair.target_language))


def _made_up(pair, people, random):
    made = [things.name(random) if random.random() < 0.85 else things.address(random) for _ in people]
    return made, made


def _marked(pair, people, random):
    style = random.randrange(len(things.MARKERS))
    first = 1 if random.random() < 0.8 else random.randint(2, 12)
    marks = [things.marker(random, style, first + i) for i in range(len(people))]
    return _spaced(pair.source_language, marks, random), _spaced(pair.target_language, marks, random)


def _spaced(language, marks, random):
    """Markers as the service writes them: with spaces, where the script has none; a model
    may leave these out."""
    return [f" {mark} " for mark in marks] if language in ("ja", "zh") else marks


def _placeholders(pair, people, random):
    made = [things.placeholder(random) for _ in people]
    return made, made


def _wrapped(pair, people, random):
    opening, closing = random.choice(things.AROUND)
    return ([opening + pair.source[place.source] + closing for place in people],
            [opening + pair.target[place.target] + closing for place in people])


def _inserted(pair, random):
    """With one thing, or two, at the start, at the end or within both sides."""
    count = random.choice((1, 1, 1, 2))
    kind = random.random()
    if kind < 0.6:
        style = random.randrange(len(things.MARKERS))
        made = [things.marker(random, style, 1 + i) for i in range(count)]
    else:
        make = (things.placeholder, things.address, things.figure, lambda r: r.choice(things.EMOJI))[int((kind - 0.6) * 10)]
        made = [make(random) for _ in range(count)]
    where = sorted(random.choice((0.0, 1.0, random.random(), random.random())) for _ in made)
    return pair._replace(source=_insert(pair.source, pair.source_language, made, where),
                         target=_insert(pair.target, pair.target_language, made, where))


def _insert(text, language, made, where):
    """Puts things at shares of the text's length, where a word or a phrase starts."""
    end = _FINAL.search(text)
    end = end.start() if end else len(text)
    gaps = sorted({0, end} | {match.start() for match in _GAPS[language].finditer(text, 0, end)})
    for thing, share in sorted(zip(made, where), key=lambda item: item[1], reverse=True):
        at = min(gaps, key=lambda gap: abs(gap - share * end))
        text = f"{text[:at].rstrip()} {thing} {text[at:].lstrip()}"
    return re.sub(r" (?=[.,。、，！？!?]( |$))" if language not in ("fr",) else r" (?=[.,]( |$))", "", text).strip()


_SPACE = re.compile(r" (?=\w)")
_GAPS = {"en": _SPACE, "fr": _SPACE, "de": _SPACE,
         "ja": re.compile(r"(?<=[\u3040-\u309f、])(?=[\u30a0-\u30ff\u3400-\u9fff])"),  # a phrase ends in hiragana
         "zh": re.compile(r"(?<=[\u3400-\u9fff，])(?=[\u3400-\u9fff])")}
