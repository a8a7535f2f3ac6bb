package textfile

import (
	"regexp"
)

// xliffParts are the sentences of a unit as Trados Studio divides it (.sdlxliff): mrk elements of seg-source, each with one of the
// same id in the target.
type xliffParts struct {
	source map[string]xmlElement
	empty  []xmlElement // without a translation
}

// add adds a part of the element parent.
func (p *xliffParts) add(parent string, e xmlElement) {
	switch id := e.attribute("mid"); {
	case parent == "seg-source":
		if p.source == nil {
			p.source = map[string]xmlElement{}
		}
		p.source[id] = e
	case parent == "target" && e.inner >= e.innerEnd:
		p.empty = append(p.empty, e)
	}
}

// fillParts translates the parts of a unit that have no translation.
func (f *xliffFile) fillParts(u *xliffUnit) {
	for _, e := range u.parts.empty {
		source, ok := u.parts.source[e.attribute("mid")]
		if !ok || e.start < f.at {
			continue
		}
		if translation, isChanged := f.content(&source, f.translateInline); isChanged {
			f.put(&e, f.text[e.start:e.inner], translation)
		}
	}
}

// The tags of Phrase (.mxliff) are written as text: {b> and <b} around a text. {1} is a placeholder in all texts.
var (
	phraseOpen, phraseEnd   = regexp.MustCompile(`\{(\w+)(?:&gt;|>)`), regexp.MustCompile(`&lt;(\w+)\}`)
	phraseOpens, phraseEnds = regexp.MustCompile(`<x id="open-(\w+)"/>`), regexp.MustCompile(`<x id="end-(\w+)"/>`)
)

// translateInline translates a fragment, in which tags of Phrase become inline tags.
func (f *xliffFile) translateInline(inner string) string {
	tagged := phraseEnd.ReplaceAllString(phraseOpen.ReplaceAllString(inner, `<x id="open-$1"/>`), `<x id="end-$1"/>`)
	translation := f.translate(tagged)
	if translation == tagged {
		return inner
	}
	return phraseEnds.ReplaceAllString(phraseOpens.ReplaceAllString(translation, `{$1&gt;`), `&lt;$1}`)
}
