"""Writes app/text/entity/words.txt: the words for 0 to 100, for the 1st to the 31st, for
the months, for 200 to 900 and for powers of ten in the languages of M2M100.

The words are those of Unicode's CLDR, in all genders and cases that it has, by way of ICU
(Debian: python3-icu), and a few that it lacks. Run it with a newer ICU to bring them up
to date:

    python3 scripts/entitywords/words.py >app/text/entity/words.txt
"""

import icu

# Languages of M2M100 that CLDR spells out, with the regions that have words of their own.
# Left out are those whose words are not between spaces (see numeral_words.go for Chinese
# and Japanese) and those that count in another way beside the nouns (ga, cy).
LOCALES = """af am ar az be bg bs ca cs da de el en es et fa ff fi fr=fr,fr_CH,fr_BE he hi hr hu hy id is it
    ka kk ko ky lb lt lv mk ms ne nl no=nb,nn pl pt=pt,pt_PT ro ru sk sl sq sr su sv sw ta tl=fil tr uk vi""".split()

# Words that CLDR lacks. A word after ~ has other meanings, too: see readNumberWord.
EXTRA = {
    "de": {2: "zwo", 12: "~dutzend", 100: "hundert"},
    "en": {0: "~nil ~nought", 12: "~dozen", 100: "hundred"},
    "es": {10: "~decena", 12: "~docena", 100: "~ciento"},
    "fr": {10: "~dizaine", 12: "~douzaine", 15: "~quinzaine", 20: "~vingtaine", 100: "~centaine"},
    "hu": {2: "két"},
    "id": {0: "nol"},
    "it": {10: "~decina", 12: "~dozzina"},
    "nl": {12: "~dozijn"},
    "pl": {12: "~tuzin"},
    "pt": {10: "~dezena", 12: "~dúzia"},
    "ru": {0: "нуля", 12: "~дюжина"},
}

# Words that are more often another word than the number.
AMBIGUOUS = {
    "az": "yeddi yüz altı", "ca": "deu nou cent", "fa": "نه ده دو", "fi": "kuusi kuusen kuusta", "fr": "neuf cent",
    "hi": "दो", "hu": "hat hét", "id": "kosong", "it": "sei cento", "ms": "kosong", "ro": "nouă", "sl": "nič",
    "tr": "yedi yüz altı", "vi": "không năm ba chín",
}

MOST = 6  # forms of a compound, of which Finnish has 24


def forms(locale, n, kind="cardinal"):
    speller = icu.RuleBasedNumberFormat(icu.URBNFRuleSetTag.SPELLOUT, icu.Locale(locale))
    rules = [speller.getRuleSetName(i) for i in range(speller.getNumberOfRuleSetNames())]
    for rule in rules:
        if kind in rule or rule == "%spellout-numbering" and kind == "cardinal":
            yield speller.format(n, rule).replace("\u00ad", "").lower()


def months(locale, n):
    symbols = icu.DateFormatSymbols(icu.Locale(locale))
    for context in icu.DateFormatSymbols.FORMAT, icu.DateFormatSymbols.STANDALONE:
        for width in icu.DateFormatSymbols.WIDE, icu.DateFormatSymbols.ABBREVIATED:
            yield symbols.getMonths(context, width)[n].lower().rstrip(".॰׳’'")


def listed(locales, n, of, most):
    """The forms without digits that of gives, joined as the table has them."""
    found = dict.fromkeys(w for l in locales for w in of(l, n) if not any(c.isdigit() for c in w))
    return "|".join(list(found)[:most])


def powers(locale, n):
    """The words for a power of ten, alone and behind the words for 2 and 5."""
    for factor in 1, 2, 5:
        before = {w for f in (factor,) for w in forms(locale, f)} | {w for w in forms(locale, factor, "ordinal")}
        for words in forms(locale, factor * 10**n):
            for word in sorted(before, key=len, reverse=True):
                if words.startswith(word) and words != word:
                    words = words[len(word):].strip(" -\u00a0")
                    break
            if factor == 1 or not words.isdigit():
                yield words


def main():
    print("# The words for 0 to 100, 1st to 31st, months, 200 to 900, 10^3, 10^6, 10^9 and 10^12, by language. Made by scripts/entitywords from Unicode's CLDR,")
    print("# ICU " + icu.ICU_VERSION + ". Copyright 1991-2022 Unicode, Inc., https://www.unicode.org/license.txt")
    english = list(forms("en", 99))
    for entry in LOCALES:
        language, _, locales = entry.partition("=")
        locales = (locales or language).split(",")
        if language != "en" and list(forms(locales[0], 99)) == english:
            raise SystemExit(f"ICU has no words for {language}")
        fields = []
        for n in range(101):
            words = list(dict.fromkeys(w for l in locales for w in forms(l, n) if not w.isdigit()))
            if n > 20 and n % 10:
                words = words[:MOST]
            words += EXTRA.get(language, {}).get(n, "").split()
            ambiguous = AMBIGUOUS.get(language, "").split()
            single = language == "ko"
            fields.append("|".join("~" + w if w in ambiguous or single and len(w) == 1 else w for w in words))
        fields += [listed(locales, n, lambda l, n: forms(l, n, "ordinal"), MOST) for n in range(1, 32)]
        fields += [listed(locales, n, months, None) for n in range(12)]
        fields += [listed(locales, n, forms, MOST) for n in range(200, 1000, 100)]
        fields += [listed(locales, n, powers, None) for n in (3, 6, 9, 12)]
        print("\t".join([language] + fields))


main()
