package deepl

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// tags returns the ignored elements of a list of names, separated by commas.
func tags(names string) ignored {
	set := ignored{}
	for name := range strings.SplitSeq(names, ",") {
		set[name] = true
	}
	return set
}

func TestIgnored(t *testing.T) {
	for _, test := range []struct{ names, text, want string }{
		{"x", "a <x>b</x> c", `a <x translate="no">b</x> c`},
		{"x,keep", `<keep id="1">b</keep><x/><y>`, `<keep translate="no" id="1">b</keep><x translate="no"/><y>`},
		{"x", `<x translate="no">b</x>`, `<x translate="no" translate="no">b</x>`},
		{"x", "<xy><X><x<x", "<xy><X><x<x"},
		{"ns:a.b", "<ns:a.b\n><ns:axb>", "<ns:a.b translate=\"no\"\n><ns:axb>"},
		{"a,ab", "<ab><a>", `<ab translate="no"><a translate="no">`},
		{"y", "<x>b</x>", "<x>b</x>"},
	} {
		assert.Equal(t, test.want, tags(test.names).mark(test.text, 0))
		assert.Equal(t, test.text, tags(test.names).unmark(test.want))
	}
	assert.Equal(t, "<x>", ignored(nil).mark("<x>", 0))
	assert.Equal(t, "<x>é", tags("x").mark("<x>é", 3), "what is too long is refused, and grows no longer before")
	assert.Equal(t, `<x translate="no">é`, tags("x").mark("<x>é", 4))
}

// A translation has no space before an ignored element that its source does not have.
func TestGlue(t *testing.T) {
	for _, test := range []struct{ source, translation, want string }{
		{"Hello,<x>a</x>", "Bonjour, <x>a</x>", "Bonjour,<x>a</x>"},
		{"Hello,<x id='1'/> you", "Bonjour,  <x id='1'/> toi", "Bonjour,<x id='1'/> toi"},
		{"Hello, <x>a</x>", "Bonjour, <x>a</x>", "Bonjour, <x>a</x>"},
		{"Hello\n<x>a</x>", "Bonjour <x>a</x>", "Bonjour <x>a</x>"},
		{"<x>a</x> hello", "Bonjour <x>a</x>", "Bonjour <x>a</x>"},
		{`"<x>a</x>" is`, "« <x>a</x> » est", "« <x>a</x> » est"},
		{"A:<x>a</x>B:<x>b</x>", "A : <x>a</x>B : <x>b</x>", "A :<x>a</x>B :<x>b</x>"},
		{"A:<x>a</x>B:<x>b</x>", "B : <x>b</x>A : <x>a</x>", "B : <x>b</x>A : <x>a</x>"}, // another order
		{"A:<x>a</x>", "A", "A"}, {"", "A <x>", "A <x>"}, {"A<x", "A <x", "A <x"},
	} {
		assert.Equal(t, test.want, tags("x").glue(test.source, test.translation))
	}
	assert.Equal(t, "a <x>", ignored(nil).glue("a<x>", "a <x>"))
}

// The memory for a text with many ignored elements is linear.
func TestGlueIsLinear(t *testing.T) {
	allocated := func(elements int) float64 {
		text := strings.Repeat("a<x/>", elements)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		glued := tags("x").glue(text, text)
		runtime.ReadMemStats(&after)
		assert.Len(t, glued, len(text))
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	assert.Less(t, allocated(8000)/allocated(1000), 12.0)
}

func FuzzIgnored(f *testing.F) {
	f.Add("x,y", "<x>a</x> <y/>")
	f.Add("x", `<x translate="no" translate="no"><x`)
	f.Add("a,ab,", "<ab>< >")
	f.Fuzz(func(t *testing.T, names, text string) {
		ig := tags(names)
		assert.Equal(t, text, ig.unmark(ig.mark(text, 0)))
		assert.Equal(t, text, ig.glue(text, text))
	})
}
