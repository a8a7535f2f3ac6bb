"""What the goldens are made of: texts, and parts of texts, of tokens and of words."""

import io

from subword_nmt.learn_bpe import learn_bpe

TEXTS = """
Hello, world! It's a "test".
He said, "I can't; it's John's and the Joneses' house."
'Twas the '90s: rock 'n' roll, o'clock, '5 and 5'.
The U.S. and the U.K. signed at 10 a.m. on Jan. 5, 2020.
See No. 5, pp. 12-14, Art. 3 and No. one.
Dr. Smith, Mr. Jones, Prof. X. and e.g. this, i.e. that, etc. And so on.
It cost $5,300.25, or €1.000,50; £3,4 and 5, 6 ,7.
One ... two.. three.... four. .five ...six
Wait... What?! No!!! Yes???
Mail a.b@c.de or see https://example.com/a?b=c&d=e#f, www.x.org.
<b>bold</b> &amp; &lt;tag&gt; &quot;q&quot; &apos; &#91; &#124; | [x] {y} (z)
a @-@ b @@ c@@ d @@ @@
C++ and C# are #1 @ home, 100% ~ 3^2 = 9_x \\ / * + < >
well-known co-operate -- dash – en — em―bar
“Curly” ‘single’ „low“ «French» ‹one› ‚x‘ ´acute` ``tex''
« Bonjour » « x » 25 % 1 000 5 ºC nº 5 3 cm a : b ! c ? d ; e, f
a (b) c ( d ) e ) . f ) ! ( g)h(i
3 % and 5 : 6 ; x
."x ...". y "," ",." .",.  ."<b ." <b ." .".
l'homme d'aujourd'hui qu'il n'est l' ami 'x' 5's 's d' '
dell'arte un po' di c'è l'80% all'1
Don't 'quote me' on it's' 'its' it'.
Ends with a dot.' Ends so. '
Word.'
Um 5. Mai z.B. bzw. usw. Nr. 5 und Nr. fünf, d.h. 1. FC
¿Qué? ¡Sí! S.A. Sr. López, etc.
Například tzv. č. 5 „ahoj“ a 3 , 5 e-mail
EU:n 20:een USA:ssa klo 12.30, ns. esim. huone
Τι κάνεις; Καλά. π.χ. αυτό κ.λπ.
Это г. Москва, ул. Ленина, д. 5, т.е. тут. «Да», — сказал он.
你好，世界！这是 test 测试。“引号” 3.5万
今日は、元気ですか？「はい」テスト123カタカナ。
안녕하세요, 세계! "한국어" test 123.
السلام عليكم، كيف حالك؟ ١٢٣٬٤٥٦ «نص».
नमस्ते दुनिया! यह परीक्षण है। हिन्दी में क़ १२३
தமிழ் திரு. மு. கருணாநிதி நன்றி.
สวัสดีครับ ไทย ๑๒๓
😀 smile 👍🏽 👨‍👩‍👧 flag 🇫🇷 ©®™ °C ½ ² ³
á combining é e\u0301 ǆ ß İ ı ﬁ Ⅳ ① ª º
A\tB\u00a0C\u2003D\u200bE\ufeffF\u2028G\u0085H
ctrl \x00\x01\x07 x\x08y \x0b \x0c \x1b[0m \x1c\x1d \x7f end
.\x00. ,\x01, '\x02'
. .. ... .... , ,, ,,, ' '' ''' " "" - -- ---
,5 5, ,a a, 1,2,3 a,b,c ٣,٤ 5,a a,5
5,
a'
'
.
..
,
&
@@
vis-à-vis naïve façade Ærø Łódź
x.y.z. a.B. 5.6. A. b. Σ. x
pre. 5 No. 5 Nr. 5 s. 5 str. 5 no. no. no. 5 op. 5 art.
No.5 vol. X vol. x cf. Y. Z. q.
http://a.b/c'd"e 12:30:45 1/2 3-4 5–6 −7 a/b
a\u202eb \u2066c\u2069 \u00ad soft\u00adhyphen
İstanbul'da Türkiye'nin 1'inci
""".strip("\n").split("\n") + [
    "", " ", "\n", "\r\n", "a\r\nb", "a\nb.\nC", "\u3000", " x ", "x" * 300, "." * 70, "'" * 40, "&" * 30, "@@" * 20, '"' * 21, ',"' * 9,
    '."' * 9, ". " * 9, "5\u00a0" * 7, "5 % " * 4, "(" * 9 + ")" * 9, "a'" * 9, "5," * 9, ", " * 9]

PARTS = ["a", "b", "S", "s", "t", "A", "é", "ß", "Σ", "я", "Я", "中", "文", "の", "カ", "한", "ம்", "क", "्", "़", "ا", "ไ", "0", "5", "٣", "½", "²",
         " ", " ", " ", " ", "  ", "\u00a0", "\u2009", "\t", "\n", "\r", "\x00", "\x1f", "\x85", ".", ".", ".", "..", "...", ",", ",", "'", "'", "''", "`", "``",
         '"', '"', "-", "–", "—", "‘", "’", "‚", "“", "”", "„", "«", "»", "´", "…", "(", ")", "[", "]", "{", "}", "<", ">", "&", "|", "@", "@@", "@-@",
         "#", "$", "€", "%", ":", ";", "!", "?", "¿", "/", "\\", "*", "_", "=", "+", "ºC", "cm", "nº", "º", "😀", "\u200d", "\ufe0f", "\u0301", "。", "、", "「", "！",
         "No.", "Mr.", "e.g.", "U.S.", "pp.", "Nr.", "č.", "г.", "l'", "d'", "'s", "'t", "n't", "&amp;", "&apos;", "&quot;", "</w>", "<unk>"]

TOKENS = ["a", "b", "is", "s", "Jones", "X", "é", "я", "5", "12", "3.5", ".", ".", ",", ",", "!", "?", ":", ";", "%", "\\", ")", "]", "}", "?!", "...", "(", "[", "{", "¿",
          "¡", "$", "€", "($", "'", "'", "&apos;", "&apos;", "&quot;", "&quot;", '"', "''", "``", "`", "„", "“", "”", "„“", "'\"", "&apos;s", "&apos;t", "'ll", "'é",
          "l&apos;", "d'", "x'", "5'", "'5", "-", "–", "li", "mail", "mailu", "@-@", "@/@", "中", "文", "中文", "a中", "中a", "の", "カ", "한", "국", "。", "、", "「", "EU", "EU:", "ssa", "n",
          "&amp;", "&amp;lt;", "&lt;", "&gt;", "&#91;", "&#93;", "&#124;", "&bar;", "&bra;", "&ket;", "&", "&a", "@@", "un@@", "\u00a0", "", "ம்", "'ம்", "'्", "😀"]

LETTERS = ["a", "a", "a", "b", "b", "c", "é", "中", "ab", "aba", "abc", "@@", "@", "z", "&apos;"]


def codes():
    """Files of codes: learned of the texts, in both versions, and such that later merges go before earlier ones."""
    learned = io.StringIO()
    learn_bpe([" ".join(text.replace("'", " &apos; ").split()) for text in TEXTS] * 2, learned, 300)
    made = [("ab", "a"), ("abc", "ab"), ("a", "b"), ("b", "c"), ("a", "a"), ("aa", "a"), ("a", "bc"), ("ab", "c"), ("c", "a</w>"), ("aba", "b</w>"), ("a", "bc"),
            ("é", "中"), ("@", "@"), ("@@", "@@"), ("abc", "</w>"), ("b", "</w>")]
    form = lambda pairs: "".join(f"{a} {b}\n" for a, b in pairs)
    return {"learned.codes": learned.getvalue(), "odd.codes": "#version: 0.2\n" + form(made), "first.codes": form(made),
            "first-named.codes": "#version: 0.1.0\n" + form(made)}
