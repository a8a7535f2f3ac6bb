package live

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/translate"
)

// Sentences are translated in windows. The one that is being written goes first, but not twice in a row.
func TestNext(t *testing.T) {
	for name, test := range map[string]struct {
		change func(p *progress)
		want   []string // keys of the sentences of successive requests
	}{
		"complete":   {func(p *progress) { p.document.goesOn = false }, []string{"[0 1 2 3]"}},
		"written":    {func(*progress) {}, []string{"[draft]", "[0 1 2 3]", "[draft]"}},
		"one by one": {func(p *progress) { p.alone, p.document.goesOn = true, false }, []string{"[0]"}},
		"refused":    {func(p *progress) { p.refused["1"], p.document.goesOn = true, false }, []string{"[0 2 3 4]"}},
		"settled":    {func(p *progress) { p.document.segments[2].settled, p.document.goesOn = true, false }, []string{"[0 1 3 4]"}},
		"equal":      {func(p *progress) { p.document.segments[1].key, p.document.goesOn = "0", false }, []string{"[0 2 3 4]"}},
		"only a word": {func(p *progress) {
			p.document.segments[5].part.Text, p.document.cut.Parts = "wor", p.document.cut.Parts[:6]
		}, []string{"[0 1 2 3]", "[0 1 2 3]"}},
		"nothing": {func(p *progress) { p.document.segments = nil }, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &progress{document: newDocument(translate.Cut{Parts: make([]translate.Part, 7)}), refused: map[string]bool{}}
			for i := range 6 {
				s := cutPart{part: translate.Part{Text: "two words", Translated: true}, key: fmt.Sprint(i), number: i, ended: i < 5}
				p.document.segments = append(p.document.segments, &segment{id: int64(i), cutPart: s})
			}
			test.change(p)
			for _, want := range test.want {
				f := p.next()
				if want == "" {
					assert.Nil(t, f)
					continue
				}
				var keys []string
				for _, item := range f.items {
					key := item.key
					if f.draft {
						key = "draft"
					}
					keys = append(keys, key)
				}
				assert.Equal(t, want, fmt.Sprint(keys))
			}
		})
	}
}
