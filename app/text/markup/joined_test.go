package markup

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// spansOf returns the spans of the only unit of a document, tags left out.
func spansOf(t *testing.T, format Format, text string) (list []string) {
	split := SplitHTML
	if format == XML {
		split = SplitXML
	}
	pieces, err := split(t.Context(), text)
	require.NoError(t, err)
	for _, piece := range pieces {
		if !piece.Unit {
			continue
		}
		s, err := piece.Parse(t.Context())
		require.NoError(t, err)
		s, err = s.In(t.Context(), "en")
		require.NoError(t, err)
		for i, span := range s.Spans {
			if span.Kind != Tag {
				list = append(list, s.spanText(i))
			}
		}
	}
	return list
}

// A span that tags divide is held as a whole, and no span has a tag in it.
func TestSpansAcrossTags(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"<p>You have <b>{{ n }}</b> cats.</p>", []string{"{{ n }}"}},
		{"<p>A <i>f(x)</i> is <b>[[n]]</b>, <b>{% n %}</b> or <b>{{{n}}}</b> it.</p>", []string{"f(x)", "[[n]]", "{% n %}", "{{{n}}}"}},
		{`<p>Hello {{a}}<img src="x.png" alt="my cat"/>friend</p>`, []string{"{{a}}"}},
		{`<p>See <a href="x"><span class="a">https://</span><span class="b">long.example/pa</span><span class="a">th</span></a> now</p>`, []string{"https://", "long.example/pa", "th"}},
		{"<p>Write <b>house</b>@example.com.</p>", []string{"house", "@example.com"}},
		{"<p>Say {<b>name</b>} and file_<b>house</b>.txt</p>", []string{"{", "name", "}", "file_", "house", ".txt"}},
		{"<p>@<span>house</span> is here</p>", []string{"@", "house"}},
		{"<p>Save <b>10</b>% now</p>", []string{"10", "%"}},
		{"<p>$<span>5</span> per day</p>", []string{"$", "5"}},
		{"<p>Some <b>word</b>s and <i>an</i>other one</p>", nil},
		{"<p><b>Note:</b>the cat</p>", nil},
	} {
		for _, format := range []Format{HTML, XML} {
			if format == XML && strings.Contains(test.text, "</span><span") {
				continue // elements without text beside them are units in XML
			}
			assert.Equal(t, test.want, spansOf(t, format, test.text), "%s", test.text)
		}
	}
}

// Whatever is nested and however a sentence is translated, the result has the tags of the source in their order, and is well-formed.
func TestTagsStayTags(t *testing.T) {
	parts := []string{"{{ n }}", "{% n %}", "[[n]]", "{{{n}}}", "f(x)", "word", "the house", " ", " ", ", ", "<3", "a < b", "AT&T", "&lt;b&gt;", "&amp;lt;", "5", "$", "%s", "https://", "example.com/", "@", "_", "\"", "x>y"}
	random := rand.New(rand.NewPCG(1, 2))
	var nest func(depth int) string
	nest = func(depth int) string {
		var out strings.Builder
		for range 1 + random.IntN(4) {
			if depth < 3 && random.IntN(3) == 0 {
				name := []string{"b", "i", "span"}[random.IntN(3)]
				out.WriteString("<" + name + ">" + nest(depth+1) + "</" + name + ">")
				continue
			}
			out.WriteString(html.EscapeString(parts[random.IntN(len(parts))]))
		}
		return out.String()
	}
	tags := func(text string, format Format) (list []string) {
		tokens, end := tokenize(nil, text, format)
		require.Equal(t, len(text), end, text)
		for _, token := range tokens {
			if token.Kind != html.TextToken {
				list = append(list, text[token.Start:token.End])
			}
		}
		return list
	}
	for range 3000 {
		text := "Go " + nest(0)
		for _, format := range []Format{HTML, XML} {
			piece := HTMLPiece{Raw: text, Unit: true, format: format}
			s, err := piece.Parse(t.Context())
			require.NoError(t, err)
			s, err = s.In(t.Context(), "en")
			require.NoError(t, err)
			for i := 1; i < len(s.Spans); i++ {
				require.LessOrEqual(t, s.Spans[i-1].End, s.Spans[i].Start, "%q %v", s.Text, s.Spans)
			}
			assert.Equal(t, tags(text, format), tags(s.Original(), format), text)
			for style := range Styles {
				m, ok, err := s.Mask(t.Context(), style)
				require.NoError(t, err)
				if !ok {
					continue
				}
				out, err := m.Restore(t.Context(), m.Text)
				if err == nil {
					assert.Equal(t, tags(text, format), tags(out, format), text)
					assert.Equal(t, html.UnescapeString(strings.Join(strings.Fields(text), "")), html.UnescapeString(strings.Join(strings.Fields(out), "")), text)
				}
			}
		}
	}
}

// A number that tags divide is compared as one number: what joins its parts is between markers.
func TestDividedNumbers(t *testing.T) {
	for _, text := range []string{"<p>See section <b>3</b>.<i>2</i> for the price</p>", "<p>It costs <b>3</b>,<b>50</b> euros</p>"} {
		s := must(must(Parse(lasting, text, HTML)).In(lasting, "en"))
		for number := range Styles {
			m, ok := must2(s.Mask(lasting, number))
			if !ok {
				continue
			}
			got, err := m.Restore(lasting, m.Text)
			require.NoError(t, err, "%q", m.Text)
			require.Equal(t, text, got)
			for _, joint := range []string{". ", " and ", ", ", ":"} {
				for _, sign := range []string{".", ","} {
					if at := strings.Index(m.Text, sign); at > 0 {
						_, err = m.Restore(lasting, m.Text[:at]+joint+m.Text[at+1:])
						require.ErrorIs(t, err, ErrLost, "%s by %q of %q", sign, joint, m.Text)
					}
				}
			}
		}
	}
}
