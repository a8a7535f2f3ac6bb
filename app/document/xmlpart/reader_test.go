package xmlpart_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
)

// read returns the bytes of all tokens.
func read(in io.Reader, o xmlpart.Options) (raw string, tokens []xmlpart.Token, err error) {
	r := xmlpart.NewReader(in, "part.xml", o)
	var out strings.Builder
	for {
		t, err := r.Next()
		if err == io.EOF {
			return out.String(), tokens, nil
		}
		if err != nil {
			return out.String(), tokens, err
		}
		out.Write(t.Raw)
		t.Raw = nil
		if len(tokens) < 100 {
			tokens = append(tokens, t)
		}
	}
}

func TestTokens(t *testing.T) {
	const part = "\uFEFF<?xml version='1.0' encoding=\"utf-8\" ?>\r\n<!-- c --><a:r  xmlns:a=\"u\" a:id='1' id='2'><a:b/>x &amp;\r\n<![CDATA[<y>]]></a:r >\n"
	raw, tokens, err := read(strings.NewReader(part), xmlpart.Options{})
	require.NoError(t, err)
	assert.Equal(t, part, raw)
	var text string
	for _, token := range tokens {
		text += token.Text
		if token.Kind == xmlpart.Start && token.Name.Local == "r" {
			assert.Equal(t, "u", token.Name.Space)
			assert.Equal(t, "1", token.Attribute("id"))
			assert.Empty(t, token.Attribute("a"), "a name space is no attribute")
		}
	}
	assert.Equal(t, "\uFEFF\nx &\n<y>\n", text)
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, part, reason string }{
		{"document type", `<!DOCTYPE a SYSTEM "http://example.com/a.dtd"><a/>`, "has a document type"},
		{"entities", `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, "has a document type"},
		{"unknown entity", `<a>&x;</a>`, "not well-formed"},
		{"name", "<a><" + strings.Repeat("b", 300) + "/></a>", "an element whose name has more than 256 bytes"},
		{"cut", `<a><b>`, "not well-formed"},
		{"other end", `<a></b>`, "not well-formed"},
		{"UTF-16", "\xff\xfe<\x00a\x00/\x00>\x00", "not well-formed"},
		{"Latin 1", `<?xml version="1.0" encoding="iso-8859-1"?><a/>`, "not well-formed XML in UTF-8"},
		{"depth", strings.Repeat("<a>", 300), "more than 256 elements"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(strings.NewReader(c.part), xmlpart.Options{})
			var refused *document.Error
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Reason, c.reason)
			assert.Contains(t, refused.Reason, "part.xml")
		})
	}
}

func TestDocumentType(t *testing.T) {
	o := xmlpart.Options{DOCTYPE: true, Entities: map[string]string{"nbsp": "\u00A0"}}
	const part = `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd"><p>a&nbsp;b</p>`
	raw, _, err := read(strings.NewReader(part), o)
	require.NoError(t, err)
	assert.Equal(t, part, raw)
	_, _, err = read(strings.NewReader(`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`), o)
	assert.ErrorContains(t, err, "declares entities")
}

// endless repeats a text, and counts the bytes requested.
type endless struct {
	start, text string
	at          int
	read        int64
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.start)
	e.start = e.start[n:]
	for ; n < len(b); e.at++ {
		b[n] = e.text[e.at%len(e.text)]
		n++
	}
	e.read += int64(n)
	return n, nil
}

// TestEndless has endless parts: the bytes read for a token, and the memory for all tokens, are bounded.
func TestEndless(t *testing.T) {
	for _, start := range []string{"<a>", "<!--", `<a b="`, "<a ", "<?a "} {
		in := &endless{start: start, text: "x=y "}
		_, _, err := read(in, xmlpart.Options{})
		var refused *document.Error
		require.ErrorAs(t, err, &refused, start)
		assert.Less(t, in.read, int64(9<<20), start)
	}
	var before, after runtime.MemStats
	r := xmlpart.NewReader(&endless{start: "<a>", text: "<b>text</b>"}, "part.xml", xmlpart.Options{})
	runtime.ReadMemStats(&before)
	for range 300_000 {
		_, err := r.Next()
		require.NoError(t, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
}

func TestReadingFails(t *testing.T) {
	broken := errors.New("broken")
	_, _, err := read(io.MultiReader(strings.NewReader("<a>"), failing{broken}), xmlpart.Options{})
	assert.ErrorIs(t, err, broken)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func FuzzReader(f *testing.F) {
	for _, seed := range []string{`<a b="c">x<d/><!-- e --></a>`, `<a xmlns="u"><![CDATA[x]]></a>`, `<!DOCTYPE a [ ]><a/>`, "<a>\r\n&#x20;</a>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, part string) {
		raw, _, err := read(strings.NewReader(part), xmlpart.Options{DOCTYPE: len(part)%2 == 0})
		if err == nil {
			require.Equal(t, part, raw)
			return
		}
		var refused *document.Error
		require.ErrorAs(t, err, &refused)
		require.True(t, strings.HasPrefix(part, raw))
	})
}
