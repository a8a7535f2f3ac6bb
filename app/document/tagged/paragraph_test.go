package tagged_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document/tagged"
	"dragoman/app/text/markup"
)

var (
	plain  = tagged.Style{Open: "(", Close: ")"}
	bold   = tagged.Style{Key: "b", Open: "(b:", Close: ")"}
	raised = tagged.Style{Key: "^", Open: "(^", Close: ")", Raised: true}
	italic = tagged.Style{Key: "i", Open: "(i:", Close: ")"}
)

// rewrite returns a paragraph's text, and the paragraph with a translation.
func rewrite(p *tagged.Paragraph, translation func(string) string) (text, out string, err error) {
	out, _, err = p.Rewrite(func(t string) (string, error) {
		text = t
		return translation(t), nil
	}, func(t string) string { return t })
	return text, out, err
}

var paragraphs = []struct {
	name              string
	build             func(p *tagged.Paragraph)
	text, translation string
	out               string
}{
	{"runs of one style are one", func(p *tagged.Paragraph) {
		p.Text(plain, "Ship")
		p.Text(plain, "s wait")
	}, "Ships wait", "Des navires", "(Des navires)"},
	{"another style is a pair, and its spaces are outside of it", func(p *tagged.Paragraph) {
		p.Text(plain, "Press")
		p.Text(bold, " Save ")
		p.Text(plain, "now")
	}, `Press <g id="1">Save</g> now`, `Maintenant, <g id="1">enregistrer</g>`, "(Maintenant,)(b: enregistrer)"},
	{"the style of most of the text has no tag", func(p *tagged.Paragraph) {
		p.Text(bold, "A long warning: ")
		p.Text(plain, "go")
	}, `A long warning: <g id="1">go</g>`, `Attention : <g id="1">va</g>`, "(b:Attention : )(va)"},
	{"what is at the ends stays there", func(p *tagged.Paragraph) {
		p.Special("[anchor]")
		p.Text(plain, "  Words ")
		p.Special("[note]")
	}, "Words", "Mots", "[anchor](  Mots )[note]"},
	{"what is around the whole has no tag", func(p *tagged.Paragraph) {
		p.Open("<a>")
		p.Text(bold, "All")
		p.Text(italic, "X")
		p.Special("[1]")
		p.Close("</a>")
	}, `All<g id="1">X</g>`, `<g id="1">X</g> tout`, "<a>(i:X)(b: tout)[1]</a>"},
	{"specials beside each other are one", func(p *tagged.Paragraph) {
		p.Text(plain, "a")
		p.Special("[1]")
		p.Special("[2]")
		p.Text(plain, "b")
	}, `a<x id="1"/>b`, `b<x id="1"/>`, "(b)[1][2]"},
	{"line ends have no number", func(p *tagged.Paragraph) {
		p.Text(bold, "One")
		p.Break(bold, "<br>", "\n")
		p.Text(bold, "two")
		p.Break(bold, "", "\n")
		p.Text(bold, "three")
	}, "One<br/>two<br/>three", "1<br/>2<br/>3", "(b:1)(b:<br>)(b:2\n3)"},
	{"a sign in another style is not worth a tag", func(p *tagged.Paragraph) {
		p.Text(plain, "The end")
		p.Text(bold, ".")
	}, "The end.", "Fin.", "(Fin)(b:.)"},
	{"a full stop that is not in the usual style", func(p *tagged.Paragraph) {
		p.Text(bold, "Red")
		p.Text(plain, ", ")
		p.Text(bold, "blue")
		p.Text(plain, " and ")
		p.Text(bold, "green")
		p.Text(plain, ".")
	}, `Red, blue <g id="1">and</g> green.`, `Rot, blau <g id="1">und</g> grün.`, "(b:Rot)(, )(b:blau)( und )(b:grün)(.)"},
	{"a space beside a pair that is in no style of its neighbors", func(p *tagged.Paragraph) {
		p.Text(bold, "Old price")
		p.Text(plain, " ")
		p.Text(italic, "new")
		p.Text(plain, " ")
		p.Text(bold, "or none")
	}, `Old price <g id="1">new</g> or none`, `Preis <g id="1">neu</g> oder keiner`, "(b:Preis)( )(i:neu)( )(b:oder keiner)"},
	{"separators keep their style", func(p *tagged.Paragraph) {
		p.Text(bold, "Red house")
		p.Text(plain, ", ")
		p.Text(bold, "green")
		p.Text(plain, ", ")
		p.Text(bold, "blue")
	}, "Red house, green, blue", "Maison rouge, vert、bleu", "(b:Maison rouge)(, )(b:vert)(、)(b:bleu)"},
	{"also before another style", func(p *tagged.Paragraph) {
		p.Text(bold, "Red, green")
		p.Text(plain, "; ")
		p.Text(italic, "blue")
	}, `Red, green; <g id="1">blue</g>`, `Rouge, vert; <g id="1">bleu</g>`, "(b:Rouge, vert)(; )(i:bleu)"},
	{"spaces too, if all are such", func(p *tagged.Paragraph) {
		p.Text(bold, "Good")
		p.Text(plain, " ")
		p.Text(bold, "morning")
	}, "Good morning", "Bien le bonjour", "(b:Bien)( )(b:le)( )(b:bonjour)"},
	{"a symbol is", func(p *tagged.Paragraph) {
		p.Text(plain, "Start")
		p.Text(bold, "→")
		p.Text(plain, "end")
	}, `Start<x id="1"/>end`, `Fin<x id="1"/>début`, "(Fin)(b:→)(début)"},
	{"a range with words is a pair", func(p *tagged.Paragraph) {
		p.Mark("{", "1", true)
		p.Text(plain, "Here")
		p.Mark("}", "1", false)
		p.Text(plain, " and there")
	}, `<g id="1">Here</g> and there`, `Là et <g id="1">ici</g>`, "(Là et ){(ici)}"},
	{"ends of ranges that cross stay in order", func(p *tagged.Paragraph) {
		p.Text(plain, "a ")
		p.Mark("{1", "1", true)
		p.Text(plain, "b ")
		p.Mark("{2", "2", true)
		p.Text(plain, "c ")
		p.Mark("1}", "1", false)
		p.Text(plain, "d ")
		p.Mark("2}", "2", false)
		p.Text(plain, "e")
	}, `a <g id="1">b <a id="2"/>c</g> d <a id="3"/>e`, `<a id="3"/>E <a id="2"/>D <g id="1">C B</g> A`, "{2(E )2}(D ){1(C B)1}( A)"},
	{"a link does not come into another", func(p *tagged.Paragraph) {
		p.Text(plain, "a ")
		p.Open("<1>")
		p.Text(plain, "b")
		p.Close("</1>")
		p.Text(plain, " c ")
		p.Open("<2>")
		p.Text(plain, "d")
		p.Close("</2>")
	}, `a <g id="1">b</g> c <g id="2">d</g>`, `<g id="1">B <g id="2">D</g> rest</g> A`, "<1>(B )</1><2>(D)</2>( rest A)"},
	{"a link may stay in its own", func(p *tagged.Paragraph) {
		p.Text(plain, "a ")
		p.Open("<1>")
		p.Text(plain, "b ")
		p.Open("<2>")
		p.Text(plain, "c")
		p.Close("</2>")
		p.Close("</1>")
	}, `a <g id="1">b <g id="2">c</g></g>`, `<g id="1"><g id="2">C</g> B</g> A`, "<1><2>(C)</2>( B)</1>( A)"},
	{"a word has the style of its largest part", func(p *tagged.Paragraph) {
		p.Text(bold, "Two words i")
		p.Text(plain, "n it, and mo")
		p.Text(bold, "re t")
		p.Text(plain, "han these are plain")
	}, `<g id="1">Two words in</g> it, and more <g id="2">than</g> these are plain`, `<g id="2">plus</g> <g id="1">deux</g>`, "(b:plus)( )(b:deux)"},
	{"a style that would be nowhere has the word", func(p *tagged.Paragraph) {
		p.Text(bold, "T")
		p.Text(plain, "he man I met last night is interna")
		p.Text(bold, "tional")
	}, `<g id="1">The</g> man I met last night is <g id="2">international</g>`, `<g id="1">Il</g> est <g id="2">là</g>`, "(b:Il)( est )(b:là)"},
	{"a point is behind its word", func(p *tagged.Paragraph) {
		p.Text(plain, "A wo")
		p.Mark("{", "1", true)
		p.Mark("}", "1", false)
		p.Text(plain, "rd")
		p.Point("[note]")
		p.Text(bold, "s")
		p.Text(plain, " here")
		p.Special("[tab]")
		p.Text(plain, "there")
	}, `A <g id="1">words</g><a id="2"/> here<x id="3"/>there`, `<g id="1">M</g><a id="2"/> ici<x id="3"/>là`, "(b:M){}[note]( ici)[tab](là)"},
	{"nothing says where words may be divided", func(p *tagged.Paragraph) {
		p.Text(plain, "inter\u00adna\u200b")
		p.Text(bold, "\u00adtional \u200b日\u200b本")
	}, `international <g id="1">` + "\u200b日\u200b本</g>", `<g id="1">x</g>`, "(b:x)"},
	{"a word is in a link or not", func(p *tagged.Paragraph) {
		p.Text(plain, "My ")
		p.Open("<a>")
		p.Text(plain, "book")
		p.Close("</a>")
		p.Text(plain, "s today")
	}, `My <g id="1">books</g> today`, `Mes <g id="1">livres</g>`, "(Mes )<a>(livres)</a>"},
	{"no word goes on with a capital", func(p *tagged.Paragraph) {
		p.Text(plain, "Press the key ")
		p.Text(bold, "Save")
		p.Text(italic, "As")
	}, `Press the key <g id="1">Save</g><g id="2">As</g>`, `La <g id="1">S</g><g id="2">A</g>`, "(La )(b:S)(i:A)"},
	{"units and formulas are one thing", func(p *tagged.Paragraph) {
		p.Text(plain, "20 m")
		p.Text(raised, "2")
		p.Text(plain, " of H")
		p.Text(raised, "2")
		p.Text(plain, "SO")
		p.Text(raised, "4")
		p.Text(plain, " here")
		p.Text(raised, "1")
	}, `20 <x id="1"/> of <x id="2"/> here<x id="3"/>`, `Ici<x id="3"/> 20 <x id="1"/> de <x id="2"/>`,
		"(Ici)(^1)( 20 m)(^2)( de H)(^2)(SO)(^4)"},
	{"signs of XML", func(p *tagged.Paragraph) { p.Text(plain, "a < b & c") }, "a &lt; b &amp; c", "c &gt; &quot;b&quot;", `(c > "b")`},
	{"what floats comes first", func(p *tagged.Paragraph) {
		p.Text(plain, "a")
		p.Float("[f]")
		p.Text(plain, "b")
	}, "ab", "c", "[f](c)"},
	{"nothing to translate", func(p *tagged.Paragraph) { p.Text(plain, "1,234 –") }, "", "", ""},
}

func TestParagraphs(t *testing.T) {
	for _, c := range paragraphs {
		t.Run(c.name, func(t *testing.T) {
			p := tagged.New()
			c.build(p)
			text, out, err := rewrite(p, func(string) string { return c.translation })
			require.NoError(t, err)
			assert.Equal(t, c.text, text)
			assert.Equal(t, c.out, out)

			same := tagged.New()
			c.build(same)
			_, changed, err := same.Rewrite(func(t string) (string, error) { return t, nil }, nil)
			require.NoError(t, err)
			assert.False(t, changed)
		})
	}
}

// A style that a word cannot have together with another one is lost and reported.
func TestLostStyles(t *testing.T) {
	for name, c := range map[string]struct {
		build func(p *tagged.Paragraph)
		lost  bool
	}{
		"one":          {func(p *tagged.Paragraph) { p.Text(bold, "un"); p.Text(plain, "real thing") }, false},
		"two":          {func(p *tagged.Paragraph) { p.Text(bold, "un"); p.Text(italic, "real"); p.Text(plain, " thing") }, true},
		"is elsewhere": {func(p *tagged.Paragraph) { p.Text(bold, "so un"); p.Text(italic, "real"); p.Text(plain, " thing") }, false},
		"at a link": {func(p *tagged.Paragraph) {
			p.Text(plain, "a ")
			p.Text(bold, "b")
			p.Open("<a>")
			p.Text(plain, "ook")
			p.Close("</a>")
			p.Text(plain, " here")
		}, true},
		"all in tags": {func(p *tagged.Paragraph) { p.Text(plain, "all of it "); p.Text(bold, "in") }, true},
		"signs":       {func(p *tagged.Paragraph) { p.Text(plain, "the end"); p.Text(bold, ".") }, false},
	} {
		p := tagged.New()
		c.build(p)
		_, _, err := rewrite(p, func(text string) string {
			if name == "all in tags" {
				return `<g id="1">x</g>`
			}
			return text + "!"
		})
		require.NoError(t, err)
		assert.Equal(t, c.lost, p.Lost(), name)
	}
}

func TestLostTags(t *testing.T) {
	for _, translation := range []string{
		"no tags", `<g id="1">a</g><x id="2"/>`, `<g id="1">a</g><x id="2"/><x id="2"/><br/>`, `<g id="1">a<x id="2"/><br/>`,
		`a</g><g id="1"><x id="2"/><br/>`, `<g id="1">a</g><g id="1">b</g><x id="2"/><br/>`, `<g id="1">a</g><x id="2"/><br/><br/>`,
		`<g id="1">a</g><x id="2"/><br/><b>`, `<g id="1">a</g><x id="2"/><br/> 1 < 2`, `<g id="2">a</g><x id="1"/><br/>`,
		`<g id="1">a</g><x id="99999999999999999999"/><br/>`, `<g id="1">a</g><x id="0"/><x id="2"/><br/>`,
	} {
		_, _, err := rewrite(mixed(), func(string) string { return translation })
		assert.ErrorIs(t, err, markup.ErrLost, translation)
	}
}

// mixed has a tag of each kind.
func mixed() *tagged.Paragraph {
	p := tagged.New()
	p.Text(plain, "A plain ")
	p.Text(bold, "word")
	p.Special("[1]")
	p.Text(plain, " and")
	p.Break(plain, "<br>", "\n")
	p.Text(plain, "a line")
	return p
}

// TestManyRanges checks that time is linear in the number of ranges.
func TestManyRanges(t *testing.T) {
	p := tagged.New()
	const n = 20_000
	for i := range n {
		p.Mark("{", strings.Repeat("m", i%50)+string(rune('a'+i%26)), true)
		p.Text(plain, "w ")
	}
	_, out, err := rewrite(p, func(text string) string { return strings.ReplaceAll(text, "w", "v") })
	require.NoError(t, err)
	assert.Equal(t, n, strings.Count(out, "{"))
	assert.Equal(t, n, strings.Count(out, "v"))
}

func FuzzTranslation(f *testing.F) {
	for _, seed := range []string{`A <g id="1">w</g><x id="2"/> b<br/>c`, `<g id="1"><x id="2"/><br/></g>`, `<x id="2"/>`, "a & b < c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, translation string) {
		_, out, err := rewrite(mixed(), func(string) string { return translation })
		if err != nil {
			require.ErrorIs(t, err, markup.ErrLost)
			return
		}
		for _, once := range []string{"[1]", "<br>"} {
			require.GreaterOrEqual(t, strings.Count(out, once), 1)
		}
	})
}
