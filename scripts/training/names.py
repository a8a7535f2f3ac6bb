"""Names that stand in both sides of a pair, and putting other things in their place.

Tatoeba's sentences are about few people: nearly each one about a person is about Tom.
Where a name is in both sides, whatever else can stand for a person can take its place in
both: another name, a made-up one, a placeholder, a marker. The model so learns to copy
what it never saw, at the place where the translation has it.
"""
import re
from typing import NamedTuple

# English, Japanese, Chinese; French and German where they differ from English.
_TABLE = """
Tom      トム            汤姆
Mary     メアリー,メアリ,メアリィ 玛丽,瑪麗  Marie  Maria
John     ジョン          约翰
Jim      ジム            吉姆
Bob      ボブ            鲍勃
Bill     ビル            比尔
Jack     ジャック        杰克
Jane     ジェーン        简
Nancy    ナンシー        南希
Mike     マイク          迈克
Paul     ポール          保罗
Peter    ピーター        彼得
George   ジョージ        乔治
Lucy     ルーシー        露西
Betty    ベティ          贝蒂
Emily    エミリー        艾米丽
Alice    アリス          爱丽丝
Ann      アン            安
Anna     アンナ          安娜
David    デービッド,デイビッド 大卫
Kate     ケイト          凯特
Susan    スーザン        苏珊
Linda    リンダ          琳达
Dick     ディック        迪克
Fred     フレッド        弗雷德
Henry    ヘンリー        亨利
Helen    ヘレン          海伦
Sam      サム            山姆
Tony     トニー          托尼
Roger    ロジャー        罗杰
Ken      ケン            肯
Judy     ジュディ        朱迪
Carol    キャロル        卡罗尔
Meg      メグ            梅格
"""


def _read(table):
    names = {}
    for line in table.split("\n"):
        columns = [column.split(",") for column in line.split()]
        if columns:
            english, japanese, chinese = columns[:3]
            french, german = columns[3:] or ([], [])
            names[english[0]] = {"en": english, "ja": japanese, "zh": chinese,
                                 "fr": english + french, "de": english + german}
    return names


NAMES = _read(_TABLE)
_ENGLISH = {language: {form: english for english, forms in NAMES.items() for form in forms[language]}
            for language in ("en", "ja", "fr", "de", "zh")}
# A Chinese character is too often part of something else to be taken for a name.
_PATTERN = {language: re.compile("|".join(
                (r"\b%s\b" if form.isascii() else r"(?<![\u30a1-\u30fa\u30fc])%s(?![\u30a1-\u30fa\u30fc])") % re.escape(form)
                for form in sorted(forms, key=len, reverse=True) if len(form) > 1))
            for language, forms in _ENGLISH.items()}


class Place(NamedTuple):
    """Where a name is in both sides of a pair."""
    english: str
    source: slice
    target: slice


def places(pair):
    """The names that are once in either side of a pair, in the order of the source."""
    there = _once(pair.target, pair.target_language)
    here = _once(pair.source, pair.source_language)
    return sorted((Place(english, where, there[english]) for english, where in here.items() if english in there),
                  key=lambda place: place.source.start)


def _once(text, language):
    found = {}
    for match in _PATTERN[language].finditer(text):
        found.setdefault(_ENGLISH[language][match[0]], []).append(slice(*match.span()))
    return {english: where[0] for english, where in found.items() if len(where) == 1}


def put(pair, found, sources, targets):
    """The pair with other texts at places of it."""
    return pair._replace(source=_put(pair.source, [place.source for place in found], sources),
                         target=_put(pair.target, [place.target for place in found], targets))


def _put(text, where, others):
    for span, other in sorted(zip(where, others), key=lambda item: item[0].start, reverse=True):
        text = text[:span.start] + other + text[span.stop:]
    return text


_NUMBER = re.compile(r"(?<![\d.,:/])(?<![\d.,:/] )\d{1,4}(?![\d.,:/]?\d)")


def numbers(pair):
    """The numbers that are once in either side, as digits, in the order of the source."""
    found = []
    for match in _NUMBER.finditer(pair.source):
        other = [m for m in _NUMBER.finditer(pair.target) if m[0] == match[0]]
        if len(other) == 1 and len(re.findall(match[0], pair.source)) == 1:
            found.append(Place(match[0], slice(*match.span()), slice(*other[0].span())))
    return found
