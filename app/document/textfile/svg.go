package textfile

import "encoding/xml"

// svg translates the texts, titles and descriptions of SVG. Each positioned part of a text is a text by itself.
func svg(p *pass) error {
	divided := -1 // the start of a text with positioned parts
	return eachXML(p, "svg", "is no SVG", func(x *xmlReader, token xml.Token) error {
		switch token.(type) {
		case xml.StartElement:
			e := x.element()
			e.stays = e.stays || e.name == "style" || e.name == "script" || e.name == "metadata"
			if len(x.open) > 1 && isPositioned(e) && x.open[len(x.open)-2].name == "text" {
				divided = x.open[len(x.open)-2].start
			}
		case xml.EndElement:
			e := x.element()
			isPart := isPositioned(e) && x.parent() == "text"
			if !e.stays && (e.name == "text" && divided != e.start || e.name == "title" || e.name == "desc" || isPart) {
				return x.unit(e)
			}
		}
		return nil
	})
}

// isPositioned reports whether an element is a part of a text with a place of its own, such as a line.
func isPositioned(e *xmlElement) bool {
	return e.name == "tspan" && e.attribute("x")+e.attribute("y")+e.attribute("dy") != ""
}

// unit translates the content of an element, which may have tags.
func (x *xmlReader) unit(e *xmlElement) error {
	before, inner, after := trimmed(plainSections(x.text[e.inner:e.innerEnd]))
	if e.inner < x.at || !x.hasUnits(inner) {
		return nil
	}
	translation, err := x.translate(inner)
	if err != nil || translation == inner {
		return err
	}
	return x.replace(e.inner, e.innerEnd, before+fragment(translation)+after)
}
