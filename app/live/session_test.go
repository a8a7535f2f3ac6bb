package live

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/translate"
)

// bits are what random texts are made of.
var bits = []string{
	"a", "word ", "Good morning. ", "end.", " ", "\n", "1. ", "**", "`", "é", "今天很好。", "😀 ", "<b>", "</b>", "Dr. ", "? ", "{n, plural, one {a file} other {files}}", "\n\n", "http://a.org ", ".",
}

// plain is the translation of a text by itself.
func plain(t testing.TB, s *translate.Service, text string) string {
	req := enFr
	req.Records, req.Flagged = []translate.Record{{Text: text}}, true
	results, err := s.Translate(t.Context(), req)
	require.NoError(t, err)
	return results[0].Text
}

// randomEdit is an edit of a text somewhere, mostly at its end, and the text after it.
func randomEdit(random *rand.Rand, text []rune) (Edit, []rune) {
	e := Edit{From: End, Text: bits[random.IntN(len(bits))]}
	from, to := len(text), len(text)
	if random.IntN(3) == 0 {
		from = random.IntN(len(text) + 1)
		to = from + random.IntN(min(20, len(text)-from)+1)
		e.From, e.To = from, to
	}
	return e, slices.Concat(text[:from], []rune(e.Text), text[to:])
}

// Whatever the edits are, and however often the client goes and comes back, repeats what it has sent
// or leaves something out, its text has the translation that it has at once.
func TestSession(t *testing.T) {
	tr := translator(t, &upper{})
	s := start(t, Config{Pause: 1}, tr)
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		x := open(t, s)
		var text []rune
		var sent []Edits
		m := &mirror{}
		for number := int64(1); number <= 40; number++ {
			e := Edits{Number: number}
			for range 1 + random.IntN(3) {
				edit, after := randomEdit(random, text)
				e.List, text = append(e.List, edit), after
			}
			switch random.IntN(5) {
			case 0:
				_, err := x.Edit(Edits{Number: number + 1, List: e.List}, admitted)
				assert.Equal(t, &GapError{Expected: number}, err)
			case 1:
				if len(sent) > 0 {
					taken, err := x.Edit(sent[random.IntN(len(sent))], admitted)
					require.NoError(t, err)
					assert.Equal(t, number-1, taken)
				}
			case 2:
				m = &mirror{} // another client, which knows nothing
			case 3:
				m.until(t, x, func() bool { return m.taken == number-1 && m.seen > 0 })
			}
			taken, err := x.Edit(e, admitted)
			require.NoError(t, err)
			assert.Equal(t, number, taken)
			sent = append(sent, e)
		}
		_, err := x.Edit(Edits{Number: 41, Complete: true}, admitted)
		require.NoError(t, err)
		m.until(t, x, func() bool { return m.done })
		require.Equal(t, plain(t, tr, string(text)), m.text(), "seed %d: %q", seed, string(text))
		chars := 0
		for i, g := range m.segments {
			assert.True(t, g.Final)
			assert.Equal(t, len([]rune(*g.Text)), g.Stable)
			chars += g.Skip
			source := string(text[chars : chars+g.Length])
			assert.Equal(t, shuffled(source), shuffled(*g.Text), "segment %d, %q, of %q: %q", i, source, string(text), *g.Text)
			chars += g.Length
		}
		_, err = x.Edit(appended(42, "x"), admitted)
		assert.ErrorIs(t, err, ErrComplete)
		x.End(ReasonDeleted)
	}
}

// shuffled are the characters of a text in capitals, in an order of their own: tags may leave words.
func shuffled(text string) string {
	list := []rune(strings.ToUpper(text))
	slices.Sort(list)
	return string(list)
}

// A sentence keeps its id while it is edited, cut in two or moved.
func TestSegmentsKeepTheirIDs(t *testing.T) {
	s := start(t, Config{Pause: 1}, translator(t, &upper{}))
	x, m := open(t, s), &mirror{}
	ids := func(edits ...Edit) (list []int64) {
		_, err := x.Edit(Edits{Number: m.taken + 1, List: edits}, admitted)
		require.NoError(t, err)
		last := m.taken + 1
		m.until(t, x, func() bool { return m.shown == last })
		for _, g := range m.segments {
			list = append(list, g.ID)
		}
		return list
	}
	assert.Equal(t, []int64{1}, ids(Edit{From: End, Text: "One"}))
	assert.Equal(t, []int64{1}, ids(Edit{From: End, Text: " is here."}))
	assert.Equal(t, []int64{1, 2, 3}, ids(Edit{From: End, Text: " Two is here. Three is"}))
	assert.Equal(t, []int64{1, 2, 3}, ids(Edit{From: 0, To: 3, Text: "Another one"}))
	assert.Equal(t, []int64{1, 2, 3}, ids(Edit{Text: "And "}))
	assert.Equal(t, []int64{1, 4, 2, 3}, ids(Edit{From: 18, To: 18, Text: ". It"}))
	assert.Equal(t, []int64{1, 2, 3}, ids(Edit{From: 18, To: 22}))
	assert.Equal(t, []int64(nil), ids(Edit{From: 0, To: len([]rune(x.text.string))}))
}

// What was translated is not translated again: neither when it comes back, nor when it moves.
func TestOnlyWhatChangedIsTranslated(t *testing.T) {
	e := &upper{}
	s := start(t, Config{Pause: 1}, translator(t, e))
	x, m := open(t, s), &mirror{}
	page := "This is a sentence. Here is another. And a third. "
	edit := func(edit Edit) {
		_, err := x.Edit(Edits{Number: m.taken + 1, List: []Edit{edit}}, admitted)
		require.NoError(t, err)
		last := m.taken + 1
		m.until(t, x, func() bool {
			return m.shown == last && !slices.ContainsFunc(m.segments, func(s Segment) bool { return !s.Final })
		})
	}
	edit(Edit{From: End, Text: page})
	edit(Edit{From: 20, To: 37})
	edit(Edit{From: 20, To: 20, Text: "Here is another. "})
	edit(Edit{Text: "\n\n"})
	edit(Edit{From: End, Text: "\nThis is a sentence.\n"})
	assert.Equal(t, []string{"This is a sentence.", "Here is another.", "And a third."}, e.requests())
	assert.Equal(t, "\n\nTHIS IS A SENTENCE. HERE IS ANOTHER. AND A THIRD. \nTHIS IS A SENTENCE.\n", m.text())
}
