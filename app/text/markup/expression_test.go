package markup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpressions(t *testing.T) {
	for _, test := range []struct {
		text, lang string
		held, soft []string
	}{
		// Operators join letters, numbers and what is held.
		{"use a ?? b here", "en", []string{"a ?? b"}, nil},
		{"x := 5", "en", []string{"x := 5"}, nil},
		{"if (x > 0) return", "en", []string{"x > 0"}, nil},
		{"a, b := f()", "fr", []string{"a, b := f()"}, nil},
		{"is x ∈ A or not", "en", []string{"x ∈ A"}, nil},
		{"f . g", "en", []string{"f . g"}, nil},
		{"SELECT * FROM t WHERE", "en", []string{"SELECT * FROM t WHERE"}, nil},
		{"BUY 2 + GET 1", "en", []string{"2 +"}, nil},
		{"select * FROM t", "en", []string{"* FROM t"}, nil},
		{"the line (count -= step) or mask >>> 3, where age >= 18", "en", []string{"count -= step", "mask >>> 3", "age >= 18"}, nil},
		{"What ? I think so", "en", nil, nil},
		{"Y a-t-il un x ?", "fr", nil, []string{"x"}},
		// Brackets join what they touch.
		{"a[i] and m[i][j]", "en", []string{"a[i]", "m[i][j]"}, nil},
		{"the vec![1, 2] of", "en", []string{"vec![1, 2]"}, nil},
		{"List<String> and Vec<u8>", "en", []string{"List<String>", "Vec<u8>"}, nil},
		{"sin(x), func(x int) and println!(\"{}\", x)", "en", []string{"sin(x)", "func(x int)", "println!(\"{}\", x)"}, nil},
		{"at (48.85, 2.29) or [1..n]", "en", []string{"(48.85, 2.29)", "[1..n]"}, nil},
		{"the year(s), bateau(x), Schüler(innen)", "de", nil, nil},
		{"a (small) house and year[s]", "en", nil, nil},
		// What is held goes on to where its brackets end.
		{"np.zeros((3, 4), dtype=np.int32) is big", "en", []string{"np.zeros((3, 4), dtype=np.int32)"}, nil},
		{"Map<String, List<Integer>> and Option<&'a str>.", "en", []string{"Map<String, List<Integer>>", "Option<&'a str>"}, nil},
		{"we hear [bʊs], [10/Oct/2000:13:55:36 -0700] and [Cu(NH₃)₄]²⁺", "en", []string{"bʊs", "10/Oct/2000:13:55:36", "-0700", "[Cu(NH₃)₄]²⁺"}, nil},
		{"in [foo_bar and other things] of", "en", []string{"foo_bar"}, []string{"[", "]"}},
		{"run ./run.sh& or foo::<T>()", "en", []string{"./run.sh&", "foo::<T>()"}, nil},
		// Fields, versions with words, coordinates and stamps.
		{"Add \"strict\": true or Content-Length: 0, and X-Request-ID", "en", []string{"\"strict\":", "Content-Length", "X-Request-ID"}, nil},
		{"LGPL-2.1-only since 1609459200", "en", []string{"LGPL-2.1", "1609459200"}, nil},
		{"the BTC-USD is up, AAPL:US not", "en", []string{"BTC-USD", "AAPL:US"}, nil},
		// Cards, keys, faces and lines of signs.
		{"I had 6♠ K♥Q♦ and ⌘⌥Esc", "en", []string{"6♠", "K♥Q♦", "⌘⌥Esc"}, nil},
		{"sad ;) or (ʘ‿ʘ). I am (>_<) too. ~~~~", "en", []string{";)", "(ʘ‿ʘ)"}, []string{"(>_<)", "~~~~"}},
		{"wie system(cmd) und Lehrer(innen) (und so)", "de", []string{"system(cmd)"}, nil},
		{"the value */* is", "en", nil, []string{"*/*"}},
		// Marks of direction are part of what they are in.
		{"it says AX\u200e-77\u200f-K and ID-\u20665512\u2069/b", "en", []string{"AX\u200e-77\u200f-K", "ID-\u20665512\u2069/b"}, nil},
		{"so \u200eword\u200f, and 5\u200f", "en", []string{"\u200e", "\u200f", "\u200f"}, nil},
		// What only looks so.
		{"born on 14 September 1987, XVIIIe siècle, alumno/a", "en", nil, []string{"alumno/a"}},
		{"open Mon.–Fri. (as ‚usual‘)", "de", nil, nil},
		// What touches a sign.
		{"take *ptr, &ref and ~mask", "en", []string{"*ptr", "&ref", "~mask"}, nil},
		{"'a' and '%x%' in it", "en", []string{"'a'", "'%x%'"}, nil},
		{"a 5\" disk", "en", []string{"5\""}, nil},
		{"he said \"I have 5\" to me", "en", nil, nil},
		{"L'Oréal™ est", "fr", []string{"L'Oréal™"}, nil},
		// Units, currencies and products beside numbers.
		{"220 V, 5 Kč, zł 9 and iOS 17", "en", []string{"5 Kč", "zł 9", "iOS 17"}, nil},
		{"it is 5 pm, Is 5 right?", "en", nil, nil},
		// Letters alone.
		{"type x here", "en", nil, []string{"x"}},
		{"J. Smith and I have a plan: b)", "en", nil, nil},
		{"type x here", "eo", nil, nil},
		{"Tシャツを買う", "ja", nil, nil},
		{"TV and HTML", "en", nil, []string{"HTML"}},
	} {
		var held, soft []string
		s := must(must(Parse(lasting, test.text, Text)).In(lasting, test.lang))
		for i, span := range s.Spans {
			switch span.Kind {
			case Number, Tag:
			case Sign:
				soft = append(soft, s.spanText(i))
			default:
				held = append(held, s.spanText(i))
			}
		}
		assert.Equal(t, test.held, held, test.text)
		if test.soft != nil || test.held == nil {
			assert.Equal(t, test.soft, soft, test.text)
		}
	}
}

// What no recognizer holds is compared.
func TestResidue(t *testing.T) {
	for _, test := range []struct {
		source, translation string
		lost                bool
	}{
		{"it is ※ here", "es ist hier", true},
		{"type x here", "tippe hier", true},
		{"type x here", "tippe x hier", false},
		{"type x here", "tippe x und x hier", true},
		{"go to origin/main now", "geh zu origin/main", false},
		{"cats and/or dogs", "Katzen und/oder Hunde", false},
		{"cats and/or dogs", "Katzen oder Hunde", false},
		{"he said “yes”!", "er sagte: „Ja“.", false},
		{"the HTML of it", "das davon", true},
		{"the value is NULL here", "der Wert ist hier", true},
		{"the TV is on", "der Fernseher ist an", false},
		{"the API is back", "DER APIER IST JUNDE", true},
		{"do NOT do it", "NE le fais PAS", false},
		{"Press (X) to run, (Y) to jump", "Drücke, (Y) zum Springen", true},
		{"Press (X) to run", "Drücke （X） zum Laufen", false},
		{"He is (not) here", "Er ist da", true},
		{"Pattern (fill)", "Muster der Füllung", false}, // in other words, as long as the source
		{"Pattern (fill)", "Muster", true},
		{"Faster (fine)", "Etwas schneller", false},
		{"(closed)", "geschlossen", true},
		{"GPS fire", "GIMP Paint Studio Feuer", false}, // spelled out
		{"GPS fire", "GIMP Paint Feuer", true},
		{"click to (un)hide", "ein- oder ausblenden", false},
		{"【note】the door is open", "die Tür ist offen", true},
		{`he said \"yes\" to me`, `er sagte \"\" zu mir`, true},
		{"call it", "rufe f() auf", false},
		{"the HTML of it", "das HTMN davon", true},
		{"Going to NYC now", "Nach NEVOIR jetzt", true},
		{"Do NOT open it", "NICHT öffnen", false},
		{"the NATO and the UN", "die OTAN und die ONU", false},
	} {
		_, err := must(must(Parse(lasting, test.source, Text)).In(lasting, "en")).Between("en", "de").Verify(lasting, test.translation)
		if test.lost {
			assert.ErrorIs(t, err, ErrLost, test.source)
		} else {
			assert.NoError(t, err, test.source)
		}
	}
	_, err := must(must(Parse(lasting, "他（不）在家", Text)).In(lasting, "zh")).Between("zh", "en").Verify(lasting, "He is at home")
	assert.ErrorIs(t, err, ErrLost)
}

// Initials may end a text without their last full stop.
func TestInitialsAtTheEnd(t *testing.T) {
	for _, text := range []string{"Made in U.S.A", "F.Y.I", "in the U.S."} {
		assert.Empty(t, must(must(Parse(lasting, text, Text)).In(lasting, "en")).Spans, text)
	}
}
