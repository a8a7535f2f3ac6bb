package textfile

import (
	"strings"

	"dragoman/app/document/xmlpart"
	"dragoman/app/text/language"
)

// tmx translates translation memories: a unit without the target language gets a variant in it, or its empty variant a text.
func tmx(p *pass) {
	var u tmxUnit
	others := 0 // units without a text in the source language
	from := p.options.From
	xmlFormat{"tmx", "is no TMX", func(x *xmlReader, e *xmlElement) {
		if lang := e.attribute("srclang"); p.options.From == "" && lang != "" && lang != "*all*" && (e.name == "header" || e.name == "tu") {
			from = lang
		}
		if e.name == "tu" {
			u = tmxUnit{start: e.start}
		}
	}, func(x *xmlReader, e *xmlElement) {
		switch {
		case e.name == "seg" && x.parent() == "tuv":
			u.segment = *e
		case e.name == "tuv" && u.segment.start > e.start:
			u.add(*e, from, p.options.To)
		case e.name != "tu" || e.start != u.start || u.source.end == 0:
		case p.isForeign(u.source.attribute("lang")):
			others++
		default:
			u.fill(x)
		}
	}}.read(p)
	if others > 0 && p.options.Left != nil {
		p.options.Left(0, others, "units without a variant in the source language")
	}
}

// tmxUnit is the current unit.
type tmxUnit struct {
	start          int
	segment        xmlElement // the last one
	source, target xmlElement // variants
	text, old      xmlElement // their segments
}

// add adds a variant. The first one is the source unless another one is in its language.
func (u *tmxUnit) add(e xmlElement, from, to string) {
	switch lang := e.attribute("lang"); {
	case language.Same(lang, to):
		u.target, u.old = e, u.segment
	case u.source.end == 0, language.Same(lang, from) && !language.Same(u.source.attribute("lang"), from):
		u.source, u.text = e, u.segment
	}
}

// fill translates the unit if it has no text in the target language.
func (u *tmxUnit) fill(x *xmlReader) {
	isNew := u.target.end == 0
	if !isNew && strings.TrimSpace(x.text[u.old.inner:u.old.innerEnd]) != "" {
		return
	}
	switch translation, isChanged := x.content(&u.text, x.translate); {
	case !isChanged || x.options.To == "":
	case isNew:
		x.insert(&u.source, `<tuv xml:lang="`+xmlpart.EscapeAttribute(x.options.To)+`"><seg>`+translation+"</seg></tuv>")
	default:
		x.put(&u.old, x.text[u.old.start:u.old.inner], translation)
	}
}
