package textfile

import (
	"html"
	"regexp"
	"slices"
	"strings"
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
func (f *xliffFile) fillParts(u *xliffUnit) error {
	for _, e := range u.parts.empty {
		source, ok := u.parts.source[e.attribute("mid")]
		if !ok || e.start < f.at {
			continue
		}
		before, inner, after := trimmed(plainSections(f.text[source.inner:source.innerEnd]))
		if !f.hasUnits(inner) {
			continue
		}
		translation, err := f.translateInline(inner)
		if err != nil {
			return err
		}
		if translation != inner {
			if err := f.put(&e, f.text[e.start:e.inner], before+fragment(translation)+after); err != nil {
				return err
			}
		}
	}
	return nil
}

// memsourceTag matches a tag of Phrase (.mxliff), which is written as text: {b> and <b} around a text, {1} in place of a thing.
var memsourceTag = regexp.MustCompile(`\{(\w+)(?:&gt;|>)|(?:&lt;)(\w+)\}`)

// translateInline translates a fragment. Tags of Phrase are inline tags of it.
func (f *xliffFile) translateInline(inner string) (string, error) {
	found := memsourceTag.FindAllStringSubmatch(inner, -1)
	var open, tags []string
	for _, m := range found {
		if m[1] != "" {
			open = append(open, m[1])
			tags = append(tags, m[0])
		} else if len(open) == 0 || open[len(open)-1] != m[2] {
			return f.translate(inner)
		} else {
			open = open[:len(open)-1]
			tags = append(tags, m[0])
		}
	}
	if len(tags) == 0 || len(open) > 0 || strings.Contains(inner, "<g") {
		return f.translate(inner)
	}
	tagged := memsourceTag.ReplaceAllStringFunc(inner, func(tag string) string {
		if strings.HasPrefix(tag, "{") {
			return `<g id="` + memsourceTag.FindStringSubmatch(tag)[1] + `">`
		}
		return "</g>"
	})
	translation, err := f.translate(tagged)
	if err != nil || translation == tagged {
		return inner, err
	}
	var names []string
	return memsourceOut.ReplaceAllStringFunc(translation, func(tag string) string {
		if tag != "</g>" {
			names = append(names, html.UnescapeString(memsourceOut.FindStringSubmatch(tag)[1]))
			return "{" + names[len(names)-1] + "&gt;"
		}
		if len(names) == 0 {
			return ""
		}
		name := names[len(names)-1]
		names = slices.Delete(names, len(names)-1, len(names))
		return "&lt;" + name + "}"
	}), nil
}

var memsourceOut = regexp.MustCompile(`<g id="(\w+)">|</g>`)
