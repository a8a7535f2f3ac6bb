package segment

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The golden rules of pragmatic_segmenter by Kevin S. Dias (github.com/diasks2, MIT): hard cases for comparisons of segmenters.
// "¦" stands where a sentence starts. A rule that this package breaks has the reason.
var golden = []struct{ lang, marked, miss string }{
	{"en", "Hello World. ¦My name is Jonas.", ""},
	{"en", "What is your name? ¦My name is Jonas.", ""},
	{"en", "There it is! ¦I found it.", ""},
	{"en", "My name is Jonas E. Smith.", ""},
	{"en", "Please turn to p. 55.", ""},
	{"en", "Were Jane and co. at the party?", ""},
	{"en", "They closed the deal with Pitt, Briggs & Co. at noon.", ""},
	{"en", "Let's ask Jane and co. ¦They should know.", ""},
	{"en", "They closed the deal with Pitt, Briggs & Co. ¦It closed yesterday.", ""},
	{"en", "I can see Mt. Fuji from here.", ""},
	{"en", "St. Michael's Church is on 5th st. near the light.", ""},
	{"en", "That is JFK Jr.'s book.", ""},
	{"en", "I visited the U.S.A. last year.", ""},
	{"en", "I live in the E.U. ¦How about you?", ""},
	{"en", "I live in the U.S. ¦How about you?", ""},
	{"en", "I work for the U.S. Government in Virginia.", ""},
	{"en", "I have lived in the U.S. for 20 years.", ""},
	{"en", "At 5 a.m. Mr. Smith went to the bank. ¦He left the bank at 6 P.M. ¦Mr. Smith then went to the store.",
		"the same words mean different things"},
	{"en", "She has $100.00 in her bag.", ""},
	{"en", "She has $100.00. ¦It is in her bag.", ""},
	{"en", "He teaches science (He previously worked for 5 years as an engineer.) at the local University.", ""},
	{"en", "Her email is Jane.Doe@example.com. ¦I sent her an email.", ""},
	{"en", "The site is: https://www.example.50.com/new-site/awesome_content.html. ¦Please check it out.", ""},
	{"en", "She turned to him, 'This is great.' she said.", ""},
	{"en", "She turned to him, \"This is great.\" she said.", ""},
	{"en", "She turned to him, \"This is great.\" ¦She held the book out to show him.", ""},
	{"en", "Hello!! ¦Long time no see.", ""},
	{"en", "Hello?? ¦Who is there?", ""},
	{"en", "Hello!? ¦Is that you?", ""},
	{"en", "Hello?! ¦Is that you?", ""},
	{"en", "1.) The first item ¦2.) The second item", "a list in one line without full stops"},
	{"en", "1.) The first item. ¦2.) The second item.", ""},
	{"en", "1) The first item ¦2) The second item", "a list in one line without full stops"},
	{"en", "1) The first item. ¦2) The second item.", ""},
	{"en", "1. The first item ¦2. The second item", "a list in one line without full stops"},
	{"en", "1. The first item. ¦2. The second item.", ""},
	{"en", "• 9. The first item ¦• 10. The second item", ""},
	{"en", "⁃9. The first item ¦⁃10. The second item", ""},
	{"en", "a. The first item ¦b. The second item ¦c. The third list item", "a list in one line without full stops"},
	{"en", "This is a sentence\ncut off in the middle because pdf.", "a line is a unit"},
	{"en", "It was a cold \nnight in the city.", "a line is a unit"},
	{"en", "features\n¦contact manager\n¦events, activities\n", ""},
	{"en", "You can find it at N°. 1026.253.553. ¦That is where the treasure is.", ""},
	{"en", "She works at Yahoo! in the accounting department.", ""},
	{"en", "We make a good team, you and I. ¦Did you see Albert I. Jones yesterday?", ""},
	{"en", "Thoreau argues that by simplifying one’s life, “the laws of the universe will appear less complex. . . .”", ""},
	{"en", "\"Bohr [...] used the analogy of parallel stairways [...]\" (Smith 55).", ""},
	{"en", "If words are left off at the end of a sentence, and that is all that is omitted, indicate the omission with ellipsis " +
		"marks (preceded and followed by a space) and then indicate the end of the sentence with a period . . . . ¦Next sentence.", ""},
	{"en", "I never meant that.... ¦She left the store.", ""},
	{"en", "I wasn’t really ... well, what I mean...see . . . what I'm saying, the thing is . . . I didn’t mean it.", ""},
	{"en", "One further habit which was somewhat weakened . . . was that of combining words into self-interpreting compounds. " +
		"¦. . . The practice was not abandoned. . . .", "cut behind the ellipsis, not in it"},
	{"en", "Hello world.¦Today is Tuesday.¦Mr. Smith went to the store and bought 1,000.¦That is a lot.",
		"names of files and addresses look the same"},

	{"de", "„Ich habe heute keine Zeit“, sagte die Frau und flüsterte leise: „Und auch keine Lust.“ ¦Wir haben 1.000.000 Euro.", ""},
	{"de", "Es gibt jedoch einige Vorsichtsmaßnahmen, die Du ergreifen kannst, z. B. ist es sehr empfehlenswert, dass Du Dein " +
		"Zuhause von allem Junkfood befreist.", ""},
	{"de", "Was sind die Konsequenzen der Abstimmung vom 12. Juni?", ""},

	{"ja", "これはペンです。¦それはマーカーです。", ""},
	{"ja", "それは何ですか？¦ペンですか？", ""},
	{"ja", "良かったね！¦すごい！", ""},
	{"ja", "自民党税制調査会の幹部は、「引き下げ幅は３．２９％以上を目指すことになる」と指摘していて、今後、公明党と合意したうえで、" +
		"３０日に決定する与党税制改正大綱に盛り込むことにしています。", ""},
	{"ja", "これは父の\n家です。", "a line is a unit"},

	{"ar", "سؤال وجواب: ¦ماذا حدث بعد الانتخابات الايرانية؟ ¦طرح الكثير من التساؤلات غداة ظهور نتائج الانتخابات الرئاسية الايرانية " +
		"التي أججت مظاهرات واسعة واعمال عنف بين المحتجين على النتائج ورجال الامن. ¦يقول معارضو الرئيس الإيراني إن الطريقة التي " +
		"اعلنت بها النتائج كانت مثيرة للاستغراب.", "a colon ends no sentence"},
	{"ar", "وقال د. ديفيد ريدي و الأطباء الذين كانوا يعالجونها في مستشفى برمنجهام إنها كانت تعاني من أمراض أخرى. ¦وليس معروفا ما " +
		"اذا كانت قد توفيت بسبب اصابتها بأنفلونزا الخنازير.", ""},
	{"ar", "ومن المنتظر أن يكتمل مشروع خط أنابيب نابوكو البالغ طوله 3300 كليومترا في 12/08/2014 بتكلفة تُقدر بـ 7.9 مليارات يورو أي " +
		"نحو 10.9 مليارات دولار. ¦ومن المقرر أن تصل طاقة ضخ الغاز في المشروع 31 مليار متر مكعب.", ""},
	{"ar", "الاحد, 21 فبراير/ شباط, 2010, 05:01 GMT الصنداي تايمز: ¦رئيس الموساد قد يصبح ضحية الحرب السرية التي شتنها بنفسه. " +
		"¦العقل المنظم هو مئير داجان رئيس الموساد الإسرائيلي.", "a colon ends no sentence"},
	{"ar", "عثر في الغرفة على بعض أدوية علاج ارتفاع ضغط الدم، والقلب، ¦زرعها عملاء الموساد كما تقول مصادر إسرائيلية، ¦وقرر الطبيب " +
		"أن الفلسطيني قد توفي وفاة طبيعية ربما إثر نوبة قلبية، ¦وبدأت مراسم الحداد عليه", "a comma ends no sentence"},

	{"it", "Salve Sig.ra Mengoni! ¦Come sta oggi?", ""},
	{"it", "Una lettera si può iniziare in questo modo «Il/la sottoscritto/a.».", ""},
	{"it", "La casa costa 170.500.000,00€!", ""},

	{"ru", "Объем составляет 5 куб.м.", ""},
	{"ru", "Маленькая девочка бежала и кричала: «Не видали маму?».", ""},
	{"ru", "Сегодня 27.10.14", ""},

	{"es", "¿Cómo está hoy? ¦Espero que muy bien.", ""},
	{"es", "¡Hola señorita! ¦Espero que muy bien.", ""},
	{"es", "Hola Srta. Ledesma. ¦Buenos días, soy el Lic. Naser Pastoriza, y él es mi padre, el Dr. Naser.", ""},
	{"es", "¡La casa cuesta $170.500.000,00! ¦¡Muy costosa! ¦Se prevé una disminución del 12.5% para el próximo año.", ""},
	{"es", "«Ninguna mente extraordinaria está exenta de un toque de demencia.», dijo Aristóteles.", ""},

	{"el", "Με συγχωρείτε· πού είναι οι τουαλέτες; ¦Τις Κυριακές δε δούλευε κανένας. ¦το κόστος του σπιτιού ήταν £260.950,00.",
		"a small letter starts no sentence behind a full stop"},
	{"hi", "सच्चाई यह है कि इसे कोई नहीं जानता। ¦हो सकता है यह फ़्रेन्को के खिलाफ़ कोई विद्रोह रहा हो, या फिर बेकाबू हो गया कोई आनंदोत्सव।", ""},
	{"hy", "Ի՞նչ ես մտածում: ¦Ոչինչ:", ""},
	{"hy", "Ապրիլի 24-ին սկսեց անձրևել...Այդպես էի գիտեի:", ""},
	{"hy", "Այսպիսով` մոտենում ենք ավարտին: ¦Տրամաբանությյունը հետևյալն է. պարզություն և աշխատանք:", ""},
	{"my", "ခင္ဗ်ားနာမည္ဘယ္လိုေခၚလဲ။¦၇ွင္ေနေကာင္းလား။", ""},
	{"am", "እንደምን አለህ፧¦መልካም ቀን ይሁንልህ።¦እባክሽ ያልሽዉን ድገሚልኝ።", ""},
	{"fa", "خوشبختم، آقای رضا. ¦شما کجایی هستید؟ ¦من از تهران هستم.", ""},
	{"ur", "کیا حال ہے؟ ¦ميرا نام ___ ەے۔ ¦میں حالا تاوان دےدوں؟", ""},
	{"nl", "Hij schoot op de JP8-brandstof toen de Surface-to-Air (sam)-missiles op hem af kwamen. ¦81 procent van de schoten was raak.", ""},
	{"nl", "81 procent van de schoten was raak. ¦...en toen barste de hel los.", ""},
}

// goldenHold is the number of rules that hold.
const goldenHold = 73

func TestGoldenRules(t *testing.T) {
	hold := 0
	for i, rule := range golden {
		text := strings.ReplaceAll(rule.marked, "¦", "")
		var want []string
		for _, sentence := range strings.Split(rule.marked, "¦") {
			want = append(want, strings.TrimSpace(sentence))
		}
		got := withSymbols(must(Split(lasting, text, rule.lang)))
		switch same := assert.ObjectsAreEqual(want, got); {
		case same && rule.miss == "":
			hold++
		case same:
			t.Errorf("rule %d (%s) holds now, although %q", i+1, rule.lang, rule.miss)
		case rule.miss == "":
			assert.Equal(t, want, got, "rule %d (%s)", i+1, rule.lang)
		}
	}
	t.Logf("%d of %d golden rules hold", hold, len(golden))
	assert.Equal(t, goldenHold, hold)
}

// withSymbols joins the markers with their sentences, as the rules have them.
func withSymbols(pieces []Piece) []string {
	var list []string
	before := ""
	for _, p := range pieces {
		before += p.Text
		if p.Sentence {
			list = append(list, strings.TrimSpace(before))
			before = ""
		}
	}
	if rest := strings.TrimSpace(before); rest != "" && len(list) > 0 {
		list[len(list)-1] += rest
	}
	return list
}
