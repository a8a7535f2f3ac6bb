"""Texts that break tokenizers, as bytes: `texts()`; run it to print one a line.

    python hostile.py > hostile.txt      # those without a newline inside
    scripts/tokenizer_diff.sh hostile.txt
"""

import random
import sys

SPECIALS = ["<s>", "</s>", "<unk>", "<pad>", "__en__", "__ja__", "__zu__", "__af__", "<mask>", "[MASK]",
            "madeupword0", "madeupword0000", "<0x0A>", "<0xFF>", "\u2047", " \u2047 ", "\u2581", "\u2581\u2581"]

SCRIPTS = {
    "arabic": "السلام عليكم، كيف حالك؟ مُحَمَّدٌ ١٢٣ ﷺ ﷽ لاﻻﻼ ـــ كتابٌ",
    "hebrew": "שָׁלוֹם עֲלֵיכֶם ״ציטוט״ ﬠﬢ יִשְׂרָאֵל",
    "thai": "สวัสดีครับ ที่นี่ไม่มีน้ำ กำ ก็ ๑๒๓ ฿",
    "devanagari": "नमस्ते दुनिया क्षत्रिय हिन्दी ॐ १२३ क़ख़ग़",
    "bengali": "আমি বাংলায় কথা বলি ড়ঢ়য়",
    "tamil": "வணக்கம் உலகம் ௧௨௩",
    "hangul": "안녕하세요 세계 ㄱㄴㄷ ㅏㅑ 한글 ﾡﾢ ㈀㈁",
    "jamo": "\u1112\u1161\u11ab\u1100\u1173\u11af \u1100\u1161\u11a8",
    "kana": "ｶﾞｷﾞｸﾞ ﾊﾟﾋﾟ がか\u3099は\u309a 〜～ ー―‐ ヽヾゝゞ ㌔㍍㌢ ㋐",
    "han": "漢字 汉字 﨑 豈 更 車 𠮟る 𩸽 ㊗㊙ ⼀⼁ 々〆〇",
    "khmer": "សួស្តី​ពិភពលោក ១២៣",
    "myanmar": "မင်္ဂလာပါ ကမ္ဘာလောက",
    "tibetan": "བོད་སྐད་ ཧཱུྃ གྷ",
    "georgian": "გამარჯობა ᲒᲐᲛᲐᲠᲯᲝᲑᲐ",
    "armenian": "Բարեւ աշխարհ և ﬓﬔ",
    "ethiopic": "ሰላም ዓለም፡ ፩፪፫",
    "greek": "Γειά σου Κόσμε ΐ ΰ ᾳ ῼ ς Ω Ω µμ",
    "cyrillic": "Привет, мир! Ё ё й Ѐ ѝ ӂ №",
    "vietnamese": "Tiếng Việt đẹp ệ ộ ữ ắ ẵ",
    "turkish": "İstanbul ıI ğ ş İ i̇",
    "maths": "𝐀𝑩𝒞𝓓𝔈𝕗𝖌 𝟘𝟙𝟚 ℝℂℕ ∑∏∫ x²³ ½⅓¾ ℃ ℉ Å Ⅳⅳ ①②③ ⒈⒉ ⑴ ㈱",
    "ligatures": "ﬁﬂﬀﬃﬄﬅﬆ Ĳĳ Ǆǅǆ ŉ ſ ẛ ß ẞ æ œ",
    "fullwidth": "Ｈｅｌｌｏ，　Ｗｏｒｌｄ！０１２３４５６７８９　（ａ＋ｂ）＝ｃ　＜ｓ＞　＜／ｓ＞　￥￦",
    "quotes": "“ ” ‘ ’ „ ‟ « » ‹ › ' \" ` ´ ′ ″ ‴ … ‥ ․ – — ― ‐ ‑ − ﹣ －",
    "currency": "$ € £ ¥ ₩ ₹ ₽ ₿ ¢ ƒ ﷼",
    "runes": "ᚠᛇᚻ ⠓⠑⠇⠇⠕ 𐍈 𒀀 𓀀 𐤀 🜁",
}

EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷🇯🇵🇬🇧", "☺️", "☺︎", "1️⃣", "👩🏿‍🚀", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
         "❤️‍🔥", "\u200d", "\ufe0f", "🫠🫡", "🧑‍🤝‍🧑"]

SPACES = [" ", "\t", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u1680", "\u180e", "\u2000", "\u2003", "\u2007",
          "\u2009", "\u200a", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c",
          "\u202d", "\u202e", "\u202f", "\u205f", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\u3000", "\ufeff", "\ufffc",
          "\ufffd", "\u00ad", "\u034f", "\u061c", "\u115f", "\u3164", "\uffa0", "\ufff9", "\ufffb", "\u2581"]

BROKEN = [b"\xff", b"\xfe\xff", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80",
          b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\x80", b"\xbf\xbf", b"\xc3", b"\xe3\x81",
          b"\xe2\x96", b"\xf0\x9f\x98", b"\xe2\x28\xa1", b"\xc3\x28", b"caf\xe9", b"\x93quoted\x94", b"\xef\xbf", b"\xef\xbb\xbfBOM",
          b"\xef\xbf\xbd", b"\x8f\xa1\xb2", b"\xe3\x81\xe3\x82", b"a\xccb", b"\xe2\x96\x81\xe2\x96"]


def texts():
    """All texts, in a fixed order. Some hold newlines, some are not UTF-8."""
    out = [b"", b" ", b"  ", b"\xe2\x96\x81", b"a", b"\x00", b"a\x00b", b"\x00\x00\x00", b"<s>\x00</s>"]

    def add(*items):
        out.extend(t.encode("utf-8", "surrogatepass") for t in items)

    for s in SPECIALS:
        add(s, s * 2, s + s * 3, f"a{s}b", f"a {s} b", f" {s}", f"{s} ", f"{s} {s}", s.replace("", " "))
    add("".join(SPECIALS), " ".join(SPECIALS), "__en__ Hello </s>", "</s></s></s>", "<s><pad></s><unk>", "__e n__", "_ _en_ _", "__EN__")
    for s in SCRIPTS.values():
        add(s, s[::-1], s.replace(" ", ""), s.replace(" ", "\u3000"), f"The word {s} here.")
    for e in EMOJI:
        add(e, e * 3, f"ok{e}ok", f"I {e} you", " ".join(e))
    for s in SPACES:
        add(s, f"a{s}b", f"{s}a", f"a{s}", f"a {s} b", f"a{s}{s}{s}b", f" {s}a{s} ")
    add("".join(SPACES), "a".join(SPACES), " ".join(SPACES))
    for c in list(range(1, 10)) + list(range(11, 32)) + [127] + list(range(128, 160, 3)):
        add(f"a{chr(c)}b {chr(c)} c")
    add("".join(map(chr, range(1, 10))), "".join(map(chr, range(14, 32))))
    for mark in "\u0300\u0301\u0308\u0323\u0327\u20dd\u20e3\u3099\u309a\u093c\u0e31\u064b\u05b0":
        add(mark, mark * 5, f"a{mark}", f" {mark}", f"e{mark}\u0301\u0300x", f"{mark}a", f"か{mark}", f"\u2581{mark}", f"\u3000{mark}")
    add("Z" + "".join(chr(0x300 + i) for i in range(112)) + "algo", "H̸̡̪̯ͨ͊̽̅̾̎Ȩ̬̩̾͛ͪ̈́̀́͘ ̶̧̨̱̹̭̯ͧ̾ͬC̷̙̲̝͖ͭ̏ͥͮ͟Oͮ͏̮̪̝͍M̲̖͊̒ͪͩͬ̚̚͜Ȇ̴̟̟͙̞ͩ͌͝S̨̥̫͎̭ͯ̿̔̀ͅ")
    add("\u202eabc\u202c def", "abc\u200fאבג\u200e123", "\u2067مرحبا\u2069 hello", "\ufeffHello", "Hello\ufeffWorld", "\ufffe\uffff", "\U0010ffff\U000f0000")
    add("a" * 10_000, "antidisestablishmentarianism" * 400, "ab" * 5_000, "あ" * 10_000, "アイウエオ" * 2_000, "\u2581" * 10_000, " " * 10_000,
        "a" + " " * 50_000 + "b", "-" * 10_000, "_" * 3_000, "é" * 5_000, "e\u0301" * 5_000, "𝕏" * 3_000, "😀" * 3_000, "\u200b" * 3_000,
        "ha" * 3_000, "1" * 5_000, "1234567890" * 500, "." * 5_000, "?!" * 2_000, "a b " * 3_000, "\t" * 3_000, "\u3000" * 3_000,
        "http://example.com/" + "a/b?c=d&e=f#" * 100, "A" * 49, "A" * 48, "A" * 47, "n" * 49 + " " + "m" * 48)
    add("mixed 日本語 and English", "Iñtërnâtiônàlizætiøn", "C'est l'été à l'œuvre.", "ÇA VA ?", "«\u00a0Bonjour\u202f!\u00a0»", "Où ça ? Là !",
        "100\u00a0000,50\u00a0€", "3.14159e-10", "foo@bar.com", "C:\\path\\file", "<b>bold</b>", "&lt;s&gt;", "{\"a\": [1, 2]}", "'; DROP TABLE x; --",
        "%s%n%d", "\\u0041\\x41", "\\n", "camelCaseWord", "snake_case_word", "ALL CAPS TEXT", "MiXeD cAsE", "a.b.c.d", "...", "\u2026", "--", "—")
    out.extend(BROKEN)
    for b in BROKEN:
        out.extend([b"Hello " + b + b" world", b + b, "日本".encode() + b + "語".encode()])
    add("line one\nline two", "\n", "\n\n\n", "a\r\nb", "\r\n", "trailing\n", "\nleading", "a \n b", "日本\n語", "tab\t\nnewline", "x\u2028y\nz", "\n</s>\n")
    out.extend(_random())
    return out


def _random():
    """Random mixtures, the same on every run."""
    rng = random.Random(20)
    parts = SPECIALS + list(SCRIPTS.values()) + EMOJI + SPACES + ["the", "The ", " of", "ing", "é", "駅はどこですか。", "aujourd'hui", "123"]
    for _ in range(150):
        yield "".join(rng.choice(parts) for _ in range(rng.randint(1, 12))).encode()
    for _ in range(100):
        yield "".join(chr(rng.choice([rng.randrange(1, 0x3000), rng.randrange(0xf900, 0xffff), rng.randrange(0x1d400, 0x1d7ff),
                                      rng.randrange(0x20, 0x7f)])) for _ in range(rng.randint(1, 40))).encode("utf-8", "surrogatepass")
    for _ in range(100):
        yield bytes(rng.randrange(256) for _ in range(rng.randint(1, 30))).replace(b"\n", b"")


if __name__ == "__main__":
    for text in texts():
        if b"\n" not in text:
            sys.stdout.buffer.write(text + b"\n")
