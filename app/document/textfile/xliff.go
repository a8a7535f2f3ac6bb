package textfile

import (
	"cmp"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/language"
)

// xliff translates XLIFF 1.2 and 2: sources into targets. Existing targets stay, unless their state calls for translation.
func xliff(p *pass) {
	var f xliffFile
	xmlFormat{"xliff", "is no XLIFF", f.opened, f.ended}.read(p)
}

// xliffFile goes through the units of a document.
type xliffFile struct {
	*xmlReader
	version string     // of the document
	source  string     // the language of the texts, as the file says
	unit    *xliffUnit // the current unit, or nil
}

// xliffUnit is a trans-unit of version 1.2, or a segment of version 2.
type xliffUnit struct {
	xmlElement
	depth          int // of its element
	source, target *xmlElement
	parts          xliffParts
}

// forReview is the state of a machine's translation in version 1.
const forReview = "needs-review-translation"

func (f *xliffFile) isVersion1() bool { return strings.HasPrefix(f.version, "1.") }

// opened handles a start tag.
func (f *xliffFile) opened(x *xmlReader, e *xmlElement) {
	f.xmlReader = x
	switch e.attribute("translate") {
	case "no":
		e.stays = true
	case "yes":
		e.stays = false
	}
	if l := e.attribute("locked"); l == "true" || l == "locked" {
		e.stays = true
	}
	switch {
	case len(f.open) == 1:
		f.source = e.attribute("srcLang")
		f.checkSource(f.source)
		if f.version = e.attribute("version"); !f.isVersion1() {
			f.setLanguage(e, "trgLang")
		}
	case e.name == "file" && f.isVersion1():
		f.source = e.attribute("source-language")
		f.checkSource(f.source)
		f.setLanguage(e, "target-language")
	case e.name == "trans-unit", e.name == "segment" && f.unit == nil:
		f.unit = &xliffUnit{xmlElement: *e, depth: len(f.open)}
	}
}

// ended handles an end tag.
func (f *xliffFile) ended(_ *xmlReader, last *xmlElement) {
	u, e := f.unit, *last
	switch {
	case u == nil:
	case e.start == u.start:
		f.unit = nil
		f.fill(u)
	case e.name == "mrk" && e.attribute("mtype") == "seg":
		u.parts.add(f.parent(), e)
	case len(f.open) != u.depth+1:
	case e.name == "source" && u.source == nil, e.name == "seg-source":
		u.source = &e
	case e.name == "target":
		u.target = &e
	}
}

// fill translates a unit that needs a target.
func (f *xliffFile) fill(u *xliffUnit) {
	source, isOpen := u.source, f.isOpen(u)
	if !isOpen {
		_, other := f.languageOf(u.target.attribute("lang"))
		f.translated(cmp.Or(other, f.other))
	}
	switch {
	case u.stays || u.source == nil || f.isOther(u.source.attribute("lang")):
		return
	case len(u.parts.empty) > 0 && isOpen:
		f.fillParts(u)
		return
	case f.options.Also.Has(document.AlsoSource) && u.target != nil:
		source = u.target
	case !isOpen:
		return
	}
	translation, isChanged := f.content(source, f.translateInline)
	if !isChanged {
		return
	}
	name := xmlpart.PrefixOf(f.text[u.source.start:u.source.inner]) + "target"
	tag := "<" + name + ">"
	if u.target != nil {
		if tag = f.text[u.target.start:u.target.inner]; u.target.attribute("lang") != "" && f.options.To != "" {
			tag = xmlpart.SetAttribute(tag, "xml:lang", f.options.To)
		}
	}
	if f.isVersion1() {
		tag = xmlpart.SetAttribute(tag, "state", forReview)
	}
	if u.target == nil {
		f.insert(u.source, tag+translation+"</"+name+">")
		return
	} else if u.attribute("state") != "" {
		f.replace(u.start, u.inner, xmlpart.SetAttribute(f.text[u.start:u.inner], "state", "translated"))
	}
	f.put(u.target, tag, translation)
}

// isOther reports whether a text is in another language than the source, and than the file says of its texts.
func (f *xliffFile) isOther(code string) bool {
	return f.isForeign(code) && !language.Same(code, f.source)
}

// isOpen reports whether a unit needs a target.
func (f *xliffFile) isOpen(u *xliffUnit) bool {
	if u.target == nil || strings.TrimSpace(f.text[u.target.inner:u.target.innerEnd]) == "" || len(u.parts.empty) > 0 {
		return true
	}
	switch u.target.attribute("state") + u.attribute("state") {
	case "new", "needs-translation", "initial":
		return u.attribute("approved") != "yes"
	}
	return false
}

// plainSections writes CDATA sections as text, unless a section is all there is.
func plainSections(fragment string) string {
	parts := xmlParts(fragment)
	if len(parts) == 1 {
		return fragment
	}
	var out strings.Builder
	for _, part := range parts {
		if part.sort == 'c' {
			part.raw = xmlText.Replace(part.raw)
		}
		out.WriteString(part.raw)
	}
	return out.String()
}

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
