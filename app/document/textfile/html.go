package textfile

import (
	"html"
	"strings"

	"dragoman/app/text/markup"
)

// htmlUnits translates HTML: the units of package markup, and the attributes that are shown.
func htmlUnits(p *pass) error {
	h := &htmlFile{pass: p, attributes: p.shownAttributes(p.options.To)}
	at := 0
	pieces, err := markup.SplitHTML(p.ctx, p.text)
	if err != nil {
		return err
	}
	for _, piece := range pieces {
		p.looks.Past(len(piece.Raw))
		end := at + len(piece.Raw)
		within := h.upTo(end)
		if err := h.piece(at, piece, within); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// htmlFile goes through the pieces of a document.
type htmlFile struct {
	*pass
	attributes []attribute // the remaining ones, in order
}

// upTo takes the attributes before byte end.
func (h *htmlFile) upTo(end int) []attribute {
	n := 0
	for n < len(h.attributes) && h.attributes[n].start < end {
		n++
	}
	taken := h.attributes[:n]
	h.attributes = h.attributes[n:]
	return taken
}

// piece translates a piece that starts at byte at, and the attributes in it.
func (h *htmlFile) piece(at int, piece markup.HTMLPiece, within []attribute) error {
	if !piece.Unit {
		for _, a := range within {
			text, err := h.attribute(a)
			if err == nil {
				err = h.replace(a.start, a.end, text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	text := piece.Raw
	parsed, err := piece.Parse(h.ctx)
	if err != nil {
		return err
	}
	if hasLanguage(parsed) {
		if text, err = h.translate(piece.Raw); err != nil {
			return err
		}
	}
	tags := map[string]string{} // tags of the unit, with their attributes translated
	for i := 0; i < len(within); {
		tag := h.text[within[i].tag[0]:within[i].tag[1]]
		var out strings.Builder
		written := within[i].tag[0]
		for last := within[i].tag; i < len(within) && within[i].tag == last; i++ {
			translation, err := h.attribute(within[i])
			if err != nil {
				return err
			}
			out.WriteString(h.text[written:within[i].start] + translation)
			written = within[i].end
		}
		out.WriteString(h.text[written:within[i-1].tag[1]])
		tags[tag] = out.String()
	}
	return h.replace(at, at+len(piece.Raw), h.replaceTags(text, tags))
}

// replaceTags replaces the tags of a translation, in which they may be in another order.
func (p *pass) replaceTags(text string, tags map[string]string) string {
	if len(tags) == 0 {
		return text
	}
	var out strings.Builder
	for _, t := range p.tokens(text) {
		raw := text[t.Start:t.End]
		if other, ok := tags[raw]; ok {
			raw = other
		}
		out.WriteString(raw)
	}
	return out.String()
}

// attribute returns the text to write for the value of an attribute.
func (h *htmlFile) attribute(a attribute) (string, error) {
	raw := h.text[a.start:a.end]
	if a.value != "" {
		return a.value, nil
	}
	before, inner, after := trimmed(a.text)
	if !hasLetter(inner) || h.isCode(inner) {
		return raw, nil
	}
	segment := markup.HTML.Escape(inner)
	translation, err := h.translate(segment)
	if err != nil || translation == segment {
		return raw, err
	}
	text := before + html.UnescapeString(translation) + after
	text = strings.ReplaceAll(strings.ReplaceAll(text, "&", "&amp;"), "<", "&lt;")
	if a.quote == "'" {
		return "'" + strings.ReplaceAll(text, "'", "&#39;") + "'", nil
	}
	return `"` + strings.ReplaceAll(text, `"`, "&quot;") + `"`, nil
}
