package translate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/translate/cache"
	"dragoman/model/prompt"
)

// remembering is a memory: the translations of texts, and similar texts, in place of a language between > signs.
type remembering struct {
	exact, near map[string]string // by from>to text
	err         error
	asked       []string
}

func (m *remembering) Open(_ context.Context, ref MemoryRef) (Memory, error) {
	if ref.ID != "m" {
		return nil, errors.New("unknown")
	}
	return m, nil
}

func (m *remembering) Find(_ context.Context, from, to, text string, near int) ([]MemoryMatch, error) {
	key := from + ">" + to + " " + text
	m.asked = append(m.asked, key)
	if target, ok := m.exact[key]; ok {
		return []MemoryMatch{{Source: text, Target: target, Similarity: 1}}, m.err
	}
	if target, ok := m.near[key]; ok && near > 0 {
		return []MemoryMatch{{Source: "like " + text, Target: target, Similarity: 0.8}}, m.err
	}
	return nil, m.err
}

// inMemory returns a service with a memory, and a request that names it.
func inMemory(t *testing.T, m *remembering, eng Engine, list ...string) (*Service, Request) {
	c := config(runes{}, eng)
	c.Memories, c.Search.Beams = m, 4
	req := texts(list...)
	req.Memory = &MemoryRef{Owner: "me", ID: "m"}
	return c.start(t), req
}

// Sentences that the memory has do not reach the model, in any format, and the answer says so.
func TestMemory(t *testing.T) {
	for _, test := range []struct {
		name, text string
		format     Format
		exact      map[string]string
		want       string
		decoded    string // sources
		remembered int
	}{
		{"a text", "One.", Text, map[string]string{"One.": "Un."}, "Un.", "", 1},
		{"a sentence", "One. Two. One.", Text, map[string]string{"One.": "Un."}, "Un. TWO. Un.", "Two.", 2},
		{"several sentences together", "One. Two.", Text, map[string]string{"One. Two.": "Un et deux."}, "Un et deux.", "", 1},
		{"lines stay apart", "One.\nTwo.", Text, map[string]string{"One.\nTwo.": "x", "One.": "Un."}, "Un.\nTWO.", "Two.", 1},
		{"white space around stays", "  One.\n", Text, map[string]string{"One.": "Un."}, "  Un.\n", "", 1},
		{"a number in another way", "At 17.", Text, map[string]string{"At 17.": "À dix-sept."}, "À dix-sept.", "", 1},
		{"a person may leave a number out", "The 2 cats.", Text, map[string]string{"The 2 cats.": "Les chats."}, "Les chats.", "", 1},
		{"markup must not be lost", "Hi {name}.", Text, map[string]string{"Hi {name}.": "Salut."}, "HI {name}.", "Hi.", 0},
		{"placeholders", "Hi {name}.", Text, map[string]string{"Hi {name}.": "{name}, salut."}, "{name}, salut.", "", 1},
		{"HTML", "<p>One <b>two</b> &amp; three.</p><p>Four.</p>", HTML, map[string]string{"One <b>two</b> & three.": "Un, <b>deux</b> & trois."},
			"<p>Un, <b>deux</b> &amp; trois.</p><p>FOUR.</p>", "Four.", 1},
		{"HTML without its tags", "<p>One <b>two</b>.</p>", HTML, map[string]string{"One <b>two</b>.": "Un."}, "<p>ONE <b>TWO</b>.</p>", "One.two", 0},
		{"nothing to translate", "12:30", Text, map[string]string{"12:30": "x"}, "12:30", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &remembering{exact: map[string]string{}}
			for source, target := range test.exact {
				m.exact["en>fr "+source] = target
			}
			eng := &upper{decode: func(text string, _ engine.Job) (string, bool) { return strings.ToUpper(text), false }}
			s, req := inMemory(t, m, eng, test.text)
			req.Format = test.format
			got, err := s.Translate(t.Context(), req)
			require.NoError(t, err)
			assert.Equal(t, test.want, got[0].Text)
			assert.Equal(t, test.remembered, got[0].Remembered)
			if test.decoded == "" {
				assert.Empty(t, eng.requests)
				assert.False(t, got[0].Decoded || got[0].Cached)
			} else {
				assert.NotEmpty(t, eng.requests)
			}
			of := 0
			for _, x := range got[0].Segments {
				if x.Memory != nil {
					of++
					assert.Equal(t, 1., x.Memory.Similarity)
				}
			}
			assert.Equal(t, test.remembered, of)
		})
	}
}

// Similar sentences are alternatives, right behind the best translation, as far as alternatives are wanted.
func TestMemoryOffers(t *testing.T) {
	m := &remembering{near: map[string]string{"en>fr One.": "Presque un."}}
	eng := &upper{others: numbered}
	s, req := inMemory(t, m, eng, "One.")
	req.Alternatives = 3
	got, err := s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, []string{"ONE.", "Presque un.", "ONE. ii"}, alternativesOf(got[0].Alternatives))
	assert.Equal(t, &MemoryMatch{Source: "like One.", Target: "Presque un.", Similarity: 0.8}, got[0].Alternatives[1].Memory)
	assert.Nil(t, got[0].Alternatives[0].Memory)
	assert.Equal(t, got[0].Alternatives, got[0].Segments[0].Alternatives)
	assert.Zero(t, got[0].Remembered)

	req.Alternatives = 0
	got, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Empty(t, got[0].Alternatives)

	req.Memory.Least = 0.8 // similar enough to be used
	got, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "Presque un.", got[0].Text)
	assert.Equal(t, 1, got[0].Remembered)
	req.Memory.Least = 0.81
	got, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "ONE.", got[0].Text)

	// In HTML, an alternative has the markup of the sentence, or none.
	m.near = map[string]string{"en>fr One <b>two</b>.": "Un <b>deux</b>.", "en>fr A.": "<i>", "en>fr B.": "Bé."}
	s, req = inMemory(t, m, eng, "One <b>two</b>.", "A.", "B.")
	req.Format, req.Alternatives = HTML, 2
	got, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "Un <b>deux</b>.", got[0].Alternatives[1].Text)
	assert.Equal(t, "&lt;i&gt;", got[1].Alternatives[1].Text)
	assert.Equal(t, "Bé.", got[2].Alternatives[1].Text)
}

// The memory goes before the cache, which it does not change.
func TestMemoryAndCache(t *testing.T) {
	kept, err := cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	m := &remembering{exact: map[string]string{}}
	c := config(runes{}, &upper{})
	c.Memories, c.Cache = m, kept
	s := c.start(t)
	req := texts("One.")
	for _, test := range []struct {
		memory *MemoryRef
		known  bool
		want   string
	}{{nil, false, "ONE."}, {&MemoryRef{ID: "m"}, false, "ONE."}, {&MemoryRef{ID: "m"}, true, "Un."}, {nil, true, "ONE."}} {
		if test.known {
			m.exact["en>fr One."] = "Un."
		}
		req.Memory = test.memory
		got, err := s.Translate(t.Context(), req)
		require.NoError(t, err)
		assert.Equal(t, test.want, got[0].Text)
	}
}

// A route of several steps ends with the memory's translation of its languages.
func TestMemoryOfARoute(t *testing.T) {
	m := &remembering{exact: map[string]string{"en>fr One.": "Un.", "en>ja One.": "wrong"}}
	c := chainOf(t, map[pair][]string{{"en", "fr"}: {"a>ja", "b>fr"}}, func(_ *chained, cfg *Config) { cfg.Memories = m })
	req := texts("One. Two.")
	req.Memory = &MemoryRef{ID: "m"}
	got, err := c.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(got[0].Text, "Un. "), got[0].Text)
	assert.Equal(t, 1, got[0].Remembered)
	for _, asked := range m.asked {
		assert.True(t, strings.HasPrefix(asked, "en>fr "), asked)
	}
}

// A term that the memory's translation does not have is flagged.
func TestMemoryAndTerms(t *testing.T) {
	m := &remembering{exact: map[string]string{"en>fr One cat.": "Un chat.", "en>fr Two cats.": "Deux CHATON."}}
	s, req := inMemory(t, m, &upper{}, "One cat.")
	req.Terms = []Term{{"cat", "chaton"}}
	got, err := s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "Un chat.", got[0].Text)
	assert.True(t, got[0].Flags.Has(GlossaryMissed))
}

func TestMemoryFails(t *testing.T) {
	m := &remembering{err: errors.New("the store is away")}
	s, req := inMemory(t, m, &upper{}, "One.")
	_, err := s.Translate(t.Context(), req)
	assert.ErrorIs(t, err, m.err)
	req.Memory.ID = "other"
	_, err = s.Translate(t.Context(), req)
	assert.EqualError(t, err, "unknown")
	assert.EqualError(t, s.Check(t.Context(), req), "unknown")
	_, err = service(t, runes{}, &upper{}).Translate(t.Context(), req)
	assert.Equal(t, fault.NotOffered, fault.Explain(err, fault.Situation{}).Kind)
}

// A language model is told the similar sentences, and its translations with other ones are others in the cache.
func TestMemoryGivesExamples(t *testing.T) {
	m := &remembering{near: map[string]string{"en>fr One.": "Presque un."}}
	stored, err := cache.New(cache.Config{Bytes: 1 << 20})
	require.NoError(t, err)
	told := &guided{before: map[string][]string{}}
	c := config(runes{}, told)
	c.Memories, c.Prompted, c.Cache = m, &Prompted{}, stored
	s, req := c.start(t), texts("One. Two.")
	req.Memory = &MemoryRef{Owner: "me", ID: "m"}
	for range 2 {
		_, err = s.Translate(t.Context(), req)
		require.NoError(t, err)
	}
	example := []prompt.Example{{Source: "like One.", Target: "Presque un."}}
	assert.Equal(t, [][]prompt.Example{example, nil}, told.examples, "the second time both are in the cache")
	m.near = nil
	_, err = s.Translate(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, [][]prompt.Example{example, nil, nil}, told.examples)
}

// guided is an engine that keeps what it is told.
type guided struct {
	upper
	examples [][]prompt.Example
	before   map[string][]string // by source
}

func (g *guided) Stream(ctx context.Context, req engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	return g.upper.Stream(ctx, req, func() (engine.Job, bool, error) {
		job, ok, err := next()
		if ok {
			g.examples = append(g.examples, job.Guide.Examples)
			g.before[runes{}.Decode(job.Source)] = job.Guide.Before
		}
		return job, ok, err
	}, each)
}
