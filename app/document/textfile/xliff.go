package textfile

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"dragoman/app/document"
)

// xliff is the kind of XLIFF 1.2 and 2: sources are translated into targets. Targets that somebody has
// written stay, unless their state says that they are to be done.
func xliff(p *pass) error {
	f := &xliffFile{xmlReader: newXMLReader(p)}
	for {
		token, err := f.next()
		if errors.Is(err, io.EOF) {
			return f.known()
		}
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			err = f.opened()
		case xml.EndElement:
			err = f.ended()
		}
		if err != nil {
			return err
		}
	}
}

// xliffFile goes through the units of a document.
type xliffFile struct {
	*xmlReader
	root    bool       // whether the root is that of XLIFF
	version string     // of the document
	stays   []bool     // whether the open elements are not to be translated
	unit    *xliffUnit // that is open, nil outside of one
}

// xliffUnit is a trans-unit of version 1.2, or a segment of version 2.
type xliffUnit struct {
	element        xmlElement
	depth          int // of its element
	source, target *xmlRange
}

// xmlRange is where an element is.
type xmlRange struct {
	element       xmlElement
	innerEnd, end int
}

func (f *xliffFile) known() error {
	if !f.root {
		return document.Refuse(nil, "the XML is no XLIFF: its root element is not xliff")
	}
	return nil
}

// opened is called for a start tag.
func (f *xliffFile) opened() error {
	e := f.element()
	stays := len(f.stays) > 0 && f.stays[len(f.stays)-1]
	switch e.attribute("translate") {
	case "no":
		stays = true
	case "yes":
		stays = false
	}
	f.stays = append(f.stays, stays)
	switch {
	case len(f.open) == 1:
		f.root, f.version = e.name == "xliff", e.attribute("version")
		if err := f.known(); err != nil {
			return err
		}
		if !strings.HasPrefix(f.version, "1.") {
			return f.setLanguage(e, "trgLang")
		}
	case e.name == "file" && strings.HasPrefix(f.version, "1."):
		return f.setLanguage(e, "target-language")
	case e.name == "trans-unit", e.name == "segment" && f.unit == nil:
		f.unit = &xliffUnit{element: e, depth: len(f.open)}
		if stays {
			f.unit.depth = -1 // no element is a child of it
		}
	}
	return nil
}

// setLanguage names the language of the targets in a start tag.
func (f *xliffFile) setLanguage(e xmlElement, attribute string) error {
	if f.options.To == "" {
		return nil
	}
	return f.replace(e.start, e.inner, setAttribute(f.text[e.start:e.inner], attribute, f.options.To))
}

// ended is called for an end tag.
func (f *xliffFile) ended() error {
	f.stays = f.stays[:len(f.stays)-1]
	if f.unit == nil {
		return nil
	}
	e := f.element()
	place := &xmlRange{e, max(f.start, e.inner), f.end}
	switch {
	case e.start == f.unit.element.start:
		u := f.unit
		f.unit = nil
		return f.fill(u)
	case len(f.open) != f.unit.depth+1:
	case e.name == "source" && f.unit.source == nil, e.name == "seg-source":
		f.unit.source = place
	case e.name == "target":
		f.unit.target = place
	}
	return nil
}

// fill translates a unit whose target is to be done.
func (f *xliffFile) fill(u *xliffUnit) error {
	if u.source == nil || !f.isOpen(u) {
		return nil
	}
	raw := f.text[u.source.element.inner:u.source.innerEnd]
	before, inner, after := trimmed(plainSections(raw))
	if !hasUnits(inner) {
		return nil
	}
	translation, err := f.translate(inner)
	if err != nil || translation == inner {
		return err
	}
	translation = before + fragment(translation) + after
	if u.target == nil {
		return f.insert(u.source, translation)
	}
	if e := u.element; e.attribute("state") != "" {
		if err := f.replace(e.start, e.inner, setAttribute(f.text[e.start:e.inner], "state", "translated")); err != nil {
			return err
		}
	}
	e := u.target.element
	tag := f.text[e.start:e.inner]
	if e.attribute("state") != "" {
		tag = setAttribute(tag, "state", "translated")
	}
	if name, ok := strings.CutSuffix(tag, "/>"); ok {
		name = strings.TrimRight(name, " \t\r\n")
		return f.replace(e.start, u.target.end, name+">"+translation+"</"+tagName(name)+">")
	}
	return f.replace(e.start, u.target.innerEnd, tag+translation)
}

// insert writes a target behind a source, indented as that is.
func (f *xliffFile) insert(source *xmlRange, translation string) error {
	start := source.element.start
	indent := f.text[len(strings.TrimRight(f.text[:start], " \t\r\n")):start]
	prefix, _, found := strings.Cut(tagName(f.text[start:source.element.inner]), ":")
	name := "target"
	if found {
		name = prefix + ":target"
	}
	return f.replace(source.end, source.end, indent+"<"+name+">"+translation+"</"+name+">")
}

// isOpen says whether a unit's target is to be done.
func (f *xliffFile) isOpen(u *xliffUnit) bool {
	if u.target == nil || strings.TrimSpace(f.text[u.target.element.inner:u.target.innerEnd]) == "" {
		return true
	}
	switch u.target.element.attribute("state") + u.element.attribute("state") {
	case "new", "needs-translation", "initial":
		return u.element.attribute("approved") != "yes"
	}
	return false
}

// tagName is the name in a start tag, with its name space.
func tagName(tag string) string {
	name := tag[1:]
	if n := strings.IndexAny(name, " \t\r\n/>"); n >= 0 {
		name = name[:n]
	}
	return name
}

// plainSections writes CDATA sections as text, unless there is nothing else.
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
