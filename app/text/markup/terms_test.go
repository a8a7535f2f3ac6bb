package markup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func glossary(pairs ...string) *Terms {
	var list []Term
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, Term{pairs[i], pairs[i+1]})
	}
	return NewTerms(list)
}

func TestTermsAreFound(t *testing.T) {
	terms := glossary("cat", "chat", "cat food", "croquettes", "IBM", "IBM", "machine learning", "ML", "猫", "chat", "café", "bistrot",
		"C++", "C++", "dog house", "niche", "house boat", "péniche", "version 11", "11")
	for text, want := range map[string][]string{
		"A cat, the CAT. Cats; category, concat, cat5": {"cat", "CAT"},
		"cat's cat-like l'cat":                         {"cat", "cat", "cat"},
		"Cat food for a cat":                           {"Cat food", "cat"},
		"IBM ibm Ibm":                                  {"IBM"},
		"machine\n  learning and machine learning":     {"machine\n  learning", "machine learning"},
		"子猫と猫です":                                       {"猫", "猫"},
		"Cafe\u0301 CAFÉ cafés":                        {"Cafe\u0301", "CAFÉ"},
		"C++ and C+":                                   {"C++"},
		"a dog house boat":                             {"dog house"}, // the first one
		"{cat} `cat` <b title='cat'>cat</b> https://cat.org/cat @cat": {"cat"},
		"version 11, version 112":                                     {"version 11"},
		"":                                                            nil,
		"\xff cat \xff":                                               {"cat"},
	} {
		s := must(read(text, Text).WithTerms(lasting, terms))
		var got []string
		end := 0
		for i, span := range s.Spans {
			require.LessOrEqual(t, end, span.Start, text)
			end = span.End
			if span.Term != nil {
				got = append(got, s.spanText(i))
			}
		}
		assert.Equal(t, want, got, "%q", text)
	}
}

func TestTermsInPlace(t *testing.T) {
	terms := glossary("cat", "chat", "dog", "Hund", "IBM", "IBM", "fish", "<poisson>")
	for text, want := range map[string][2]string{ // original, as HTML
		"The cat.":            {"The chat.", "The chat."},
		"Cat, cat & Cat":      {"Chat, chat & Chat", "Chat, chat &amp; Chat"},
		"cat and cat":         {"chat and chat", "chat and chat"},
		"dog, Dog: IBM's dog": {"Hund, Hund: IBM's Hund", "Hund, Hund: IBM's Hund"},
		"no term":             {"no term", "no term"},
		"a fish":              {"a <poisson>", "a &lt;poisson&gt;"},
	} {
		s := must(read(text, Text).WithTerms(lasting, terms))
		assert.Equal(t, want[0], s.Original(), text)
		assert.Equal(t, want[0], s.InPlace().Text, text)
		assert.Equal(t, want[0], s.InPlace().InPlace().Original(), text)
		assert.Equal(t, want[1], must(read(text, HTML).WithTerms(lasting, terms)).Original(), text)
	}
}

func TestTermsAreCounted(t *testing.T) {
	s := must(read("The cat sees IBM and a cat.", Text).WithTerms(lasting, glossary("cat", "chat", "IBM", "IBM")))
	for translation, want := range map[string][2]int{
		"Le chat voit IBM et un chat.": {0, 0},
		"Chat, CHAT, IBM":              {0, 0},
		"Le chat voit IBM.":            {1, 0},
		"chats chaton IBM's ibm":       {2, 0},
		"chat chat chat IBM IBM":       {0, 2},
		"":                             {3, 0},
	} {
		missing, extra := must2(s.Terms(lasting, translation))
		assert.Equal(t, want, [2]int{missing, extra}, translation)
	}
}

func TestTermsAreMasked(t *testing.T) {
	terms := glossary("cat", "minou", "the box", "la boîte", "Windows 11", "Windows 12")
	for _, test := range []struct{ text, masked, translation, want string }{
		{"I see a cat.", "I see a [1].", "Je vois un [1].", "Je vois un minou."},
		{"I see a cat.", "I see a [1].", "[1] est vu.", "Minou est vu."},
		{"Cat on {x}, 5 cats.", "[1] on [2], 5 cats.", "5 chats : le [1] sur [2].", "5 chats : le minou sur {x}."},
		{"A Cat", "A [1]", "un [1]", "un Minou"},
		{"Windows 11 and 3 cars", "[1] and 3 cars", "3 voitures et [1]", "3 voitures et Windows 12"},
		{"cat", "", "", ""},
	} {
		s := must(read(test.text, Text).WithTerms(lasting, terms)).Protected()
		m, ok := must2(s.Mask(lasting, 0))
		if test.masked == "" {
			assert.True(t, s.Blank())
			continue
		}
		require.True(t, ok, test.text)
		assert.Equal(t, test.masked, m.Text)
		got, err := m.Restore(lasting, test.translation)
		require.NoError(t, err)
		assert.Equal(t, test.want, got)
	}
	// Spaces of the marker go where the script has none.
	m, ok := must2(must(read("I see a cat here.", Text).WithTerms(lasting, glossary("cat", "猫"))).Protected().Mask(lasting, 0))
	require.True(t, ok)
	got, err := m.Restore(lasting, "ここで [1] が見える。")
	require.NoError(t, err)
	assert.Equal(t, "ここで猫が見える。", got)
}

// What a term has of numbers and signs is not looked for anywhere else.
func TestTermsAreNotCompared(t *testing.T) {
	s := must(read("Use Windows 11 & 3 <b>cars</b>", Text).WithTerms(lasting, glossary("Windows 11", "Fenster = XI")))
	require.False(t, s.AsIs())
	m, ok := must2(s.Mask(lasting, 0))
	require.True(t, ok)
	assert.Equal(t, "Use Windows 11 & 3 [1]cars[2]", strings.ReplaceAll(strings.ReplaceAll(m.Text, "[1] ", "[1]"), " [2]", "[2]"))
	_, err := m.Restore(lasting, "Utilisez Fenster = XI & 3 [1] voitures [2]")
	require.NoError(t, err)
	_, err = m.Restore(lasting, "Utilisez Fenster = XI & 4 [1] voitures [2]")
	require.ErrorIs(t, err, ErrLost)
}

func TestTermsStayInTranslations(t *testing.T) {
	s := must(read("Der Hund.", Text).WithTerms(lasting, glossary("Hund", "chien")))
	kept := must(s.Kept(lasting, "The chien barks at 3 dogs."))
	require.True(t, kept.HasTerms())
	assert.Equal(t, kept.Text, kept.Original())
	assert.False(t, must(read("Hund", Text).Kept(lasting, "chien")).HasTerms())
}

func TestFingerprintOfTerms(t *testing.T) {
	s := read("a cat", Text)
	one, other := must(s.WithTerms(lasting, glossary("cat", "chat"))), must(s.WithTerms(lasting, glossary("cat", "minou")))
	assert.NotEqual(t, one.Fingerprint(), other.Fingerprint())
	assert.Equal(t, one.Fingerprint(), must(s.WithTerms(lasting, glossary("x", "y", "cat", "chat"))).Fingerprint())
	assert.Empty(t, must(s.WithTerms(lasting, glossary("x", "y"))).Fingerprint(), "what does not apply makes no difference")
}

func FuzzTerms(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, "a", "é")
		f.Add(seed, seed, seed)
	}
	f.Add("İstanbul ǅ \u0345\u0300", "i̇stanbul", "ǆ")
	f.Fuzz(func(t *testing.T, text, one, other string) {
		terms := glossary(one, other, other, one, "the", "le")
		for _, form := range []Format{Text, HTML} {
			s := must(read(text, form).WithTerms(lasting, terms))
			end := 0
			for _, span := range s.Spans {
				require.True(t, end <= span.Start && span.Start < span.End && span.End <= len(text), "%v", s.Spans)
				end = span.End
			}
			m, ok := must2(s.Protected().Mask(lasting, 0))
			if !ok {
				continue
			}
			got, err := m.Restore(lasting, m.Text)
			for _, span := range s.Spans {
				if err == nil && span.Term != nil {
					require.Contains(t, strings.ToLower(got), strings.ToLower(form.Escape(span.Term.Target)))
				}
			}
		}
	})
}

// BenchmarkTerms looks for a thousand terms of 180 characters that begin alike, and for others.
func BenchmarkTerms(b *testing.B) {
	words := strings.Repeat("a ", 90)
	for name, term := range map[string]func(i int) string{
		"alike":  func(i int) string { return words + fmt.Sprint(i) },
		"nested": func(i int) string { return strings.Repeat("a ", i%90) + "a" },
		"words":  func(i int) string { return fmt.Sprintf("word%d", i) },
	} {
		b.Run(name, func(b *testing.B) {
			var list []Term
			for i := range 1000 {
				list = append(list, Term{term(i), "x"})
			}
			terms, s := NewTerms(list), Sentence{Text: strings.Repeat("a ", 50_000)}
			b.SetBytes(int64(len(s.Text)))
			for b.Loop() {
				must(s.WithTerms(lasting, terms))
			}
		})
	}
}
