package segment

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// texts returns the sentences among the pieces.
func texts(pieces []Piece) []string {
	list := []string{}
	for _, p := range pieces {
		if p.Sentence {
			list = append(list, p.Text)
		}
	}
	return list
}

// checkPieces checks the rules of [Piece] for the pieces of a text.
func checkPieces(t *testing.T, text string, pieces []Piece) {
	t.Helper()
	var joined strings.Builder
	for i, p := range pieces {
		joined.WriteString(p.Text)
		require.NotEmpty(t, p.Text, "piece %d of %q", i, text)
		if p.Sentence {
			require.True(t, hasLetter(p.Text), "no letter in sentence %q", p.Text)
		} else if i > 0 {
			require.True(t, pieces[i-1].Sentence, "pieces %d and %d are both none", i-1, i)
		}
	}
	require.Equal(t, text, joined.String())
}

// checkSentences checks that sentences are trimmed and do not cross line ends.
func checkSentences(t *testing.T, pieces []Piece) {
	t.Helper()
	for _, s := range texts(pieces) {
		require.Equal(t, strings.TrimFunc(s, unicode.IsSpace), s, "not trimmed")
		require.False(t, strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029"), "a line end in %q", s)
	}
}

// Lines of wrapped text are joined. Each text marks its sentences by ⟦⟧.
func TestSplitWrapped(t *testing.T) {
	for _, test := range []struct{ name, lang, marked string }{
		{"empty", "en", ""},
		{"white space", "en", " \n\t\r\n "},
		{"a line", "en", " ⟦One.⟧ ⟦Two.⟧ "},
		{"a wrapped sentence", "en", "⟦This sentence goes on\nin the next line.⟧ ⟦And\r\nthis.⟧\n"},
		{"a sentence ends with its line", "en", "⟦One.⟧\n⟦Two goes\non.⟧\r\n⟦Three.⟧"},
		{"blank lines", "en", "\n\n⟦A title\n\n \nand a text.⟧\n\n⟦More.⟧\n"},
		{"every line end", "en", "⟦a\nb\r\nc\rd\u2028e\u2029f\vg\fh\u0085i⟧"},
		{"an abbreviation before a line end", "en", "⟦We met Mr.\nSmith there.⟧ ⟦He was\nat No.\n5.⟧"},
		{"lines that go on in small letters", "en", "⟦Is it so?⟧\n⟦It is.⟧ ⟦They said approx.\ntwo.⟧"},
		{"indentation", "en", "   ⟦def is a keyword\n                  that defines.⟧  \n\t\t⟦And\n\t\tmore.⟧"},
		{"no list in later lines", "en", "- ⟦one\n- two⟧"},
		{"wider than a byte", "zh", "⟦我们\n　　走吧。⟧\n⟦好\u2028的！⟧　"},
		{"other pieces of a line", "en", "⟦Home\nagain⟧ | ⟦Contact\nus⟧\t⟦Name⟧"},
		{"not UTF-8", "en", "⟦a\xff\n\xe2\x80b.⟧\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.NewReplacer("⟦", "", "⟧", "").Replace(test.marked)
			pieces := must(SplitWrapped(lasting, text, test.lang))
			checkPieces(t, text, pieces)
			var marked strings.Builder
			for _, p := range pieces {
				if p.Sentence {
					p.Text = "⟦" + p.Text + "⟧"
				}
				marked.WriteString(p.Text)
			}
			assert.Equal(t, test.marked, marked.String())
		})
	}
}

// Each text marks its sentences by «», or by ⟦⟧ if it contains «». Text outside of them is not translated.
func TestSplitLayout(t *testing.T) {
	for _, test := range []struct{ name, lang, marked string }{
		{"empty", "en", ""},
		{"one word", "en", "⟦word⟧"},
		{"white space", "en", " \t\u00a0\u3000\u200b"},
		{"line ends", "en", "⟦a⟧\n⟦b⟧\r\n⟦c⟧\r⟦d⟧\u2028⟦e⟧\u2029⟦f⟧\v⟦g⟧\f⟦h⟧\u0085⟦i⟧"},
		{"blank lines", "en", "\n\n⟦First.⟧\n \n\r\n\t\n⟦Second.⟧\n\n\n"},
		{"indentation and trailing spaces", "en", "  ⟦First line.⟧   \n\t\t⟦Second line.⟧\t\n\u3000\u3000⟦Third line.⟧ "},
		{"a wrapped sentence", "en", "⟦This sentence goes on⟧\n⟦in the next line.⟧"},
		{"bullets", "en", "- ⟦one⟧\n* ⟦two⟧\n+ ⟦three⟧\n• ⟦four⟧\n  ◦ ⟦five⟧\n– ⟦six⟧\n— ⟦seven⟧\n⁃ ⟦eight⟧"},
		{"ornaments", "en", "→ ⟦one⟧\n✓ ⟦two⟧\n■⟦three⟧\n★★☆ ⟦four⟧ ★\n✅ ⟦five⟧"},
		{"numbers", "en", "1. ⟦one⟧\n2) ⟦two⟧\n(3) ⟦three⟧\n4.) ⟦four⟧\n1.2. ⟦five⟧\n12.3.4) ⟦six⟧\n  10. ⟦ten⟧"},
		{"letters", "en", "a) ⟦one⟧\nB) ⟦two⟧\n(c) ⟦three⟧\nd. ⟦four⟧\niv. ⟦five⟧\nXII. ⟦six⟧\n(ii) ⟦seven⟧"},
		{"letters that number nothing", "en", "⟦A. Smith wrote it.⟧\n⟦e. g. this⟧\n⟦p. 55 of it⟧\n⟦(see below)⟧"},
		{"numbers that number nothing", "en", "⟦3.14 is pi.⟧\n⟦2020. A year.⟧\n⟦5 apples⟧\n⟦1.5x faster⟧"},
		{"CJK numbers", "zh", "１．⟦一号⟧\n①⟦二号⟧\n② ⟦三号⟧\n一、⟦四号⟧\n（二）⟦五号⟧\n1、⟦六号⟧\n2.⟦七号⟧\n3）⟦八号⟧\n(4)⟦九号⟧"},
		{"ordinal numbers", "de", "⟦3. Oktober 1990⟧\n1. ⟦Einleitung⟧\nII. ⟦Hauptteil⟧"},
		{"small ordinals", "da", "⟦3. oktober 1990⟧\n1. ⟦Indledning⟧"},
		{"quotations and headings", "en", "> ⟦quoted⟧\n>> ⟦twice⟧\n> > - ⟦a list in it⟧\n# ⟦Title⟧\n### 1. ⟦Chapter⟧\n⟦#hashtag⟧\n⟦####### x⟧"},
		{"tasks", "en", "- [ ] ⟦open⟧\n- [x] ⟦done⟧\n* [X] ⟦done too⟧\n⟦[x]y⟧"},
		{"table", "en", "| ⟦Name⟧ | ⟦Age⟧ |\n|---|:-:|\n|⟦Ann⟧|42|\n| ⟦b c⟧ |"},
		{"bars", "en", "⟦Home⟧ | ⟦About us⟧ | ⟦Contact⟧\n⟦a|b⟧\n⟦a || b⟧"},
		{"dots between", "en", "⟦Home⟧ • ⟦About⟧ · ⟦Contact⟧\n⟦a·b⟧"},
		{"tabs", "en", "⟦Name⟧\t⟦Age⟧\t\t⟦City⟧\t42"},
		{"fills", "en", "⟦Chapter one⟧ .................. 12\n⟦Name:⟧ ______________ ⟦Date:⟧ ____________\n⟦First.⟧            ⟦(Second)⟧\n⟦Wow⟧!!!!!!!!!!!! ⟦Yes⟧"},
		{"rules", "en", "---\n***\n* * *\n==========\n⟦Title⟧\n-----\n~~~"},
		{"nothing with letters", "en", "12:30\n…\n🙂🙂\n© 2024\n$5.00\n3 + 4 = 7\n?!\n+49 30 1234-56\n№ 5"},
		{"emoji", "en", "🎉 ⟦Hello!⟧ 🎉 ⟦See you.⟧ 👩‍👧\n⟦I ♥ it.⟧ ☎️"},
		{"bidirectional marks", "ar", "\u200f⟦مرحبا.⟧\u200f \u2067⟦كيف حالك؟⟧\u2069"},
		{"controls", "en", "\x00⟦a⟧\x00\n\x1b⟦[0m b⟧"},
		{"not UTF-8", "en", "⟦a\xffb.⟧ \xff\n\xe2\x80\n⟦\xc3 d⟧"},
		{"no language", "", "1. ⟦Mr. Smith came.⟧ ⟦He left.⟧"},
		{"unknown language", "", "1. ⟦Mr. Smith came.⟧ ⟦He left.⟧"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.NewReplacer("⟦", "", "⟧", "").Replace(test.marked)
			pieces := must(Split(lasting, text, test.lang))
			checkPieces(t, text, pieces)
			checkSentences(t, pieces)
			var marked strings.Builder
			for _, p := range pieces {
				if p.Sentence {
					p.Text = "⟦" + p.Text + "⟧"
				}
				marked.WriteString(p.Text)
			}
			assert.Equal(t, test.marked, marked.String())
		})
	}
}

// Here "¦" stands where the next sentence starts.
func TestSplitSentences(t *testing.T) {
	for _, test := range []struct{ lang, marked string }{
		// English
		{"en", "Hello, world. ¦How are you? ¦Fine!"},
		{"en", "Mr. and Mrs. Smith met Dr. Jones at 5 p.m. on Main St. ¦They talked."},
		{"en", "J. R. R. Tolkien wrote it. ¦George W. Bush did not."},
		{"en", "Use e.g. Python, i.e. Python 3, etc. when you can."},
		{"en", "Apple Inc. CEO Tim Cook spoke. ¦He works for Apple Inc. ¦He likes it."},
		{"en", "The U.S. Government said no. ¦I live in the U.S. ¦It is large."},
		{"en", "See No. 5, Fig. 3 and pp. 12. ¦No. ¦I do not."},
		{"en", "It was on Jan. 5 and Feb. 6. ¦Ask Jan. ¦She knows."},
		{"en", "He has a Ph.D. in physics. ¦She has a Ph.D. ¦The rest has none."},
		{"en", "Plan B. ¦The end."},
		{"en", "They left in June. ¦12 people stayed here."},
		{"en", "It costs $3.50 or 1,000.25 in v1.2.3. ¦See example.com. ¦Or open config.yaml. ¦Done."},
		{"en", "Go to https://example.com/a.b?q=What!Now&x=1. ¦Mail joe.doe@example.co.uk! ¦Bye."},
		{"en", "Node.js and ASP.NET run. ¦.NET too. ¦So does file.Txt."},
		{"en", "\"Why?\" he asked. ¦\"Because!\" she said. ¦“Stop.” ¦She did."},
		{"en", "He asked 'Why?' and left. ¦(Really.) ¦He (who was old!) sat down."},
		{"en", "He teaches (He worked. He slept.) at school. ¦Then (see above)."},
		{"en", "Wait... what? ¦I never meant that.... ¦She left. ¦Well… ¦No one knows… not even me."},
		{"en", "What?! ¦No!!! ¦Really?? ¦Yes."},
		{"en", "Great. :) ¦See you! :-D ¦Bye. ;) and so on."},
		{"en", "Thanks!🙏 ¦Nice.👍 ¦Bye"},
		{"en", "It is a fact.[1] ¦It is another.[2][13] ¦And a third.¹ ¦Last."},
		{"en", "**Bold ends.** ¦_So does this._ ¦`Code.` ¦Then more."},
		{"en", "She works at Yahoo! in sales. ¦I like Yahoo! ¦It is old."},
		{"en", "hey! ¦how are you? ¦i am fine. and you"},
		{"en", "World War II. ¦The end of Henry V. was sad."},
		{"en", "He won (!) the race [...] and left."},
		{"en", "\"I can't.\" ¦\"You must!\" ¦Wm. Smith was born c. 1950 in St. Louis. ¦Tel. +1 555 is no. 12. ¦Ok."},
		{"en", "Yes.No?Maybe!"},
		{"en", "It ends.[see] Here. ¦He came (Yes. (Ok.) No.) home. ¦Bye"},
		// German
		{"de", "Am 3. Oktober 1990 war es so weit. ¦Im 19. Jahrhundert nicht. ¦Es war 1990. ¦Danach kam nichts."},
		{"de", "Das gilt z. B. für Hunde, d. h. Tiere, bzw. Katzen usw. ¦Der Rest gilt nicht."},
		{"de", "Dr. Müller wohnt in der Hauptstr. 12. Etage bei Frau Prof. Dr. Schmidt. ¦Sie ist 80. ¦Er auch."},
		{"de", "Kaiser Wilhelm II. Friedrich Krupp, Nr. 5, S. 12, Abb. IV und Abs. 3 Satz 2."},
		{"de", "Er sagte: „Komm!“ ¦Sie kam. ¦„Wirklich?“, fragte er. ¦»Ja.« ¦Gut. ¦»Nein!« rief sie."},
		{"de", "Vgl. Meier et al. ¦Siehe u. a. Müller, i. d. R. Anm. 5."},
		// French
		{"fr", "M. Dupont et Mme Durand sont là. ¦M. Le Pen aussi. ¦Est-ce vrai ? ¦Oui !"},
		{"fr", "J.-P. Belmondo et J. P. Dupont sont là. ¦« Rien. » dit-il."},
		{"fr", "« Bonjour ! » dit-il. ¦« Où vas-tu ? » ¦Il ne répondit pas. ¦« Quoi ? ! » ¦Rien."},
		{"fr", "C'est grand, p. ex. Paris, n° 5, etc. ¦Il y a aussi Lyon. ¦Vers 50 av. J.-C. ¦Il naquit."},
		// Spanish
		{"es", "¿Qué tal? ¦¡Muy bien! ¦El Sr. García vive en EE. UU. con la Dra. López. ¦Vale."},
		{"es", "Los EE.UU. están lejos. ¦Véase pág. 5, p. ej. Madrid. ¦—¿Sí? —preguntó él. ¦—No."},
		// Italian, Portuguese, Dutch
		{"it", "Il sig. Rossi e la sig.ra Bianchi, ecc. ¦Il prof. Verdi no."},
		{"pt", "O Sr. Silva mora na Av. Brasil, n.º 5. ¦A Dra. Costa não."},
		{"nl", "Dhr. Jansen komt, bijv. morgen. ¦Mevr. De Vries en A. Van Dam niet, d.w.z. nooit."},
		// Russian, Ukrainian, Polish, Czech, Turkish, Greek
		{"ru", "А. С. Пушкин родился в 1799 г. ¦Он жил в г. Москве на ул. Ленина, т. е. в центре, и т. д. ¦Потом уехал."},
		{"ru", "— Как дела? — спросил он. ¦— Хорошо! ¦— Правда? ¦Да."},
		{"ru", "Это стоит 5 тыс. руб. ¦См. рис. 3 на стр. 5. ¦В XX в. ¦Люди летали."},
		{"uk", "Див. рис. 5 на вул. Шевченка. ¦Народився у 1814 р. ¦Помер пізніше."},
		{"pl", "Np. prof. Kowalski mieszka przy ul. Długiej, tj. w centrum, itd. ¦Urodził się w 1990 r. ¦Potem wyjechał."},
		{"cs", "Např. p. Novák, tzv. Dr. Kdo, atd. ¦Stalo se to 5. května. ¦Pak nic."},
		{"tr", "Prof. Dr. Yılmaz geldi. ¦1. Dünya Savaşı bitti, vb. ¦Sonra gitti."},
		{"el", "Πού είναι; ¦Εδώ. ¦Π.χ. Ο κ. Παπάς, κ.λπ. ¦Τέλος."},
		{"el", "Πού\u037e ¦Εδώ είναι; ναι."},
		// Arabic, Hebrew, Persian, Urdu
		{"ar", "كيف حالك؟ ¦أنا بخير. ¦وقال د. أحمد إن الوقت متأخر! ¦نعم؛ هذا صحيح."},
		{"he", "מה שלומך? ¦אני בסדר. ¦תודה!"},
		{"he", "ד\"ר כהן שילם 3.5 ש\"ח. ¦בסדר. ¦א. ב. יהושע כתב."},
		{"sv", "T.ex. kl. 10.30 i Bl.a. Lund. ¦Sen kl. 11. ¦Hej då!"},
		{"fa", "حال شما چطور است؟ ¦من خوبم. ¦خداحافظ."},
		{"ur", "کیا حال ہے؟ ¦میں ٹھیک ہوں۔ ¦شکریہ۔"},
		// India
		{"hi", "नमस्ते। ¦आप कैसे हैं? ¦डॉ. शर्मा आए॥ ¦वह अच्छा है. ¦ठीक है| ¦अब चलो।"},
		{"bn", "আমি ভালো আছি। ¦তুমি কেমন আছো? ¦ধন্যবাদ।"},
		{"hi", "कीमत रु. 500 है। ¦\"चलो।\" ¦उसने कहा।"},
		{"ta", "நான் நலம். ¦நீங்கள் எப்படி இருக்கிறீர்கள்?"},
		// Chinese, Japanese, Korean
		{"zh", "你好。¦我是小明！¦你呢？¦“走吧。”¦他说。¦“好！”¦“不好！”"},
		{"zh", "价格是3.14元。¦真的吗？！¦是的……好吧。。。¦再见"},
		{"zh", "真的？……好吧。¦走"},
		{"zh", "你好!¦我很好.¦谢谢?¦请看https://example.com/?中文。¦用Node.js写的。"},
		{"zh", "他说（真的。不骗你。）然后走了。¦（完。）¦结束"},
		{"ja", "これはペンです。¦それは何ですか？¦すごい！！¦「はい。そうです。」と言った。¦「いいえ。」¦「そう。」"},
		{"ja", "モーニング娘。のコンサート。¦Yahoo！知恵袋で見た。¦３．１４です。¦何？　¦そう。"},
		{"ja", "すごい！🎉¦次へ。¦今日は…明日も。"},
		{"ko", "안녕하세요. ¦반갑습니다! ¦“네.”라고 말했다. ¦3.5점입니다."},
		// South-East Asia
		{"th", "สวัสดีครับ ผมชื่อสมชาย ยินดีที่ได้รู้จัก"},
		{"th", "พ.ศ. 2563 ดร. สมชายมาถึงเวลา 10.30 น. แล้วกลับบ้าน"},
		{"th", "จริงหรือ? ¦ใช่! ¦ไปกันเถอะ"},
		{"my", "နေကောင်းလား။ ¦ကောင်းပါတယ်။"},
		{"km", "សួស្តី។ ¦តើអ្នកសុខសប្បាយទេ? ¦ខ្ញុំសុខសប្បាយ។"},
		{"lo", "ສະບາຍດີ ຂ້ອຍຊື່ສົມຊາຍ"},
		// Others
		{"hy", "Ո՞ւր ես գնում։ ¦Տուն։ ¦Այո: ¦Ոչ: ժամը 10:30 է:"},
		{"am", "እንደምን አለህ፧¦መልካም ቀን። ¦ደህና።"},
		{"bo", "བཀྲ་ཤིས་བདེ་ལེགས། ¦ཐུགས་རྗེ་ཆེ།"},
		{"ka", "გამარჯობა. ¦როგორ ხარ? ¦კარგად, ე. ი. მაგრად."},
		{"vi", "TP. Hồ Chí Minh rất lớn. ¦Bạn có khỏe không?"},
		{"sw", "Habari yako? ¦Nzuri sana. ¦Dr. Juma yuko hapa."},
	} {
		t.Run(test.lang, func(t *testing.T) {
			text := strings.ReplaceAll(test.marked, "¦", "")
			var want []string
			for _, sentence := range strings.Split(test.marked, "¦") {
				start, end := trim(sentence, 0, len(sentence))
				want = append(want, sentence[start:end])
			}
			pieces := must(Split(lasting, text, test.lang))
			checkPieces(t, text, pieces)
			checkSentences(t, pieces)
			if test.lang == "es" || test.lang == "ru" { // dashes at the start of a line are markers
				want[0] = strings.TrimPrefix(want[0], "— ")
			}
			assert.Equal(t, want, texts(pieces))
		})
	}
}

// A long text without punctuation is cut between clauses, into parts of similar size.
func TestSplitLongThai(t *testing.T) {
	clause := strings.Repeat("ภาษาไทย", 9) // 189 bytes
	for _, test := range []struct {
		name, text string
		want       []int // clauses per sentence
	}{
		{"short", strings.Repeat(clause+" ", 3), []int{3}},
		{"long", strings.Repeat(clause+" ", 4), []int{2, 2}},
		{"longer", strings.Repeat(clause+" ", 9), []int{3, 3, 3}},
		{"without spaces", strings.Repeat(clause, 9), []int{9}},
		{"spaces around Latin words only", strings.Repeat(clause+" ok ", 9), []int{9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pieces := must(Split(lasting, test.text, "th"))
			checkPieces(t, test.text, pieces)
			var got []int
			for _, s := range texts(pieces) {
				got = append(got, strings.Count(s, clause))
			}
			assert.Equal(t, test.want, got)
		})
	}
}
