package textfile

import (
	"cmp"
	stdhtml "html"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"dragoman/app/document"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// attribute is an HTML attribute that is translated, or set.
type attribute struct {
	tag        [2]int // range of the tag
	start, end int    // range of the value, with its quotes
	quote      string // "" if the value has none
	name       string // in lower case
	text       string // the unescaped value
	value      string // the value to set; "" if text is translated
	isHidden   bool   // it is no attribute, but the contents of an element that no unit has, and that readers may see
}

// shown maps attributes that are shown to readers to their elements; "" means all.
var shown = map[string]string{
	"title": "", "alt": "", "placeholder": "", "aria-label": "", "aria-description": "", "aria-roledescription": "",
	"aria-placeholder": "", "aria-valuetext": "", "label": "option optgroup track", "summary": "table",
	"content": "meta", "value": "input", "srcdoc": "iframe",
}

// described matches the properties of a page that are texts.
var described = regexp.MustCompile(`(?i)^(?:description|keywords|(?:og|twitter):(?:title|description|image:alt))$`)

// pressed matches the input types whose value is a label.
var pressed = regexp.MustCompile(`(?i)^(?:submit|button|reset)$`)

// shownAttributes returns the attributes of a document to translate, its hidden contents, and its language attributes, which are set
// to to unless it is "". In elements in another language only language attributes count.
func (p *pass) shownAttributes(tokens []markup.Token, l languages, to string) (list []attribute) {
	text := p.text
	code, drawing := 0, 0 // the last tokens of the last code and drawing
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		p.looks.Past(t.End - t.Start)
		if t.Kind != html.StartTagToken && t.Kind != html.SelfClosingTagToken {
			continue
		}
		raw := readAttributes(text, t.Start, t.End)
		if keepsOut(raw) {
			switch {
			case t.Kind == html.SelfClosingTagToken || t.IsVoid():
			case t.Partner == 0: // open until the end
				return list
			default:
				i = t.Partner
			}
			continue
		}
		switch t.Name {
		case "pre", "code", "kbd", "samp":
			code = max(code, t.Partner)
		case "svg":
			drawing = max(drawing, t.Partner)
		}
		if t.Name == "html" && to != "" {
			list = append(list, missingOf(t, raw, to)...)
			to = ""
		}
		around := l.to(t.Start)
		isForeign := l.to(t.Start + 1)
		if stays := t.Name == "pre" || isForeign && !around && i >= drawing; stays && p.keepsDirection(raw) {
			list = append(list, added(t, ` dir="ltr"`))
		}
		for _, a := range raw {
			a.value = p.setValue(t.Name, a, raw, isForeign)
			if a.value != "" || !isForeign && isShown(t.Name, a, raw) && (!p.isPage || p.options.Also.Has(document.AlsoAlt)) {
				list = append(list, a)
			}
		}
		if t.Partner > i && i > code && p.nested < mostNested && isHidden(t.Name, i < drawing) {
			if !isForeign {
				list = p.hidden(list, tokens, i, &l)
			}
			i = t.Partner
		}
	}
	return list
}

// mostNested is the maximum number of hidden contents in each other that are translated.
const mostNested = 8

// isHidden reports whether an element has contents that no unit has, but that readers may see.
func isHidden(name string, inDrawing bool) bool {
	switch name {
	case "noscript", "template", "object", "canvas":
		return true
	case "foreignobject", "title", "desc", "text", "flowpara": // the last one of Inkscape
		return inDrawing
	}
	return false
}

// hidden adds the contents of element i. Those of a drawing's text are divided at the tags of parts that have a place of their own, and of
// elements with such parts.
func (p *pass) hidden(list []attribute, tokens []markup.Token, i int, l *languages) []attribute {
	at, last, ends := tokens[i].End, tokens[i].Partner, map[int]bool{}
	add := func(end int) {
		if end > at && !l.to(at) {
			list = append(list, attribute{start: at, end: end, isHidden: true})
		}
		at = end
	}
	place := last // the last part with a place
	for k := last - 1; k > i && tokens[i].Name == "text"; k-- {
		p.looks.Past(1)
		if t := tokens[k]; t.Partner > k {
			isPlaced := positioned.MatchString(p.text[t.Start:t.End])
			if ends[t.Partner] = isPlaced || place < t.Partner; isPlaced {
				place = k
			}
		}
	}
	for k := i + 1; k < last; k++ {
		if t := tokens[k]; ends[max(k, t.Partner)] {
			add(t.Start)
			add(t.End) // a tag has attributes
		}
	}
	add(tokens[last].Start)
	return list
}

// positioned matches the start of a part of a text with a place of its own, such as a line.
var positioned = regexp.MustCompile(`^<tspan\s[^<>]*\b[xy]\s*=`)

// tokens cuts HTML into tokens.
func (p *pass) tokens(text string) []markup.Token {
	tokens, err := markup.Tokens(p.ctx, text)
	p.looks.Check(err)
	return tokens
}

// readAttributes reads the attributes with values of the tag [start, end). Of repeated names the first counts.
func readAttributes(text string, start, end int) (list []attribute) {
	if strings.IndexByte(text[start:end], '=') < 0 { // most tags
		return nil
	}
	seen := map[string]bool{}
	for _, m := range attributeValue.FindAllStringSubmatchIndex(text[start:end], -1) {
		a := attribute{tag: [2]int{start, end}, name: strings.ToLower(text[start+m[2] : start+m[3]])}
		if seen[a.name] {
			continue
		}
		seen[a.name] = true
		a.start, a.end = start+m[4], start+m[5]
		a.text = text[a.start:a.end]
		if q := a.text[:1]; q == `"` || q == "'" {
			a.quote = q
			a.text = a.text[1 : len(a.text)-1]
		}
		a.text = stdhtml.UnescapeString(a.text)
		list = append(list, a)
	}
	return list
}

var attributeValue = regexp.MustCompile(`[\s/"']([^\s"'<>/=]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)

// isShown reports whether attribute a of an element is translated, given all its attributes.
func isShown(element string, a attribute, others []attribute) bool {
	elements, ok := shown[a.name]
	if !ok || elements != "" && !strings.Contains(" "+elements+" ", " "+element+" ") {
		return false
	}
	switch a.name {
	case "content":
		return described.MatchString(find(others, "name")) || described.MatchString(find(others, "property"))
	case "value":
		return pressed.MatchString(find(others, "type"))
	}
	return true
}

func find(list []attribute, name string) string {
	for _, a := range list {
		if a.name == name {
			return a.text
		}
	}
	return ""
}

// keepsOut reports whether attributes exclude their element from translation.
func keepsOut(list []attribute) bool {
	return strings.EqualFold(find(list, "translate"), "no") || strings.Contains(" "+find(list, "class")+" ", " notranslate ")
}

// setValue returns the value to set for an attribute that declares the language or the direction, or "". Elements that are in the
// language of the source get those of the target.
func (p *pass) setValue(element string, a attribute, others []attribute, isForeign bool) string {
	to, from, value := p.options.To, p.options.From, ""
	isRoot := element == "html" || element == "body" && a.name == "dir" && a.text != "auto"
	was, is := language.Direction(from), language.Direction(to)
	isTurned := from != "" && was != is && !isForeign && !strings.Contains(sameDirection, " "+element+" ")
	switch {
	case to == "":
	case a.name == "content" && p.isPage:
	case a.name == "content" && strings.EqualFold(find(others, "property"), "og:locale"):
		if l := language.LocaleOf(to); l.Language != "" {
			value = l.Language + "_" + l.Region
		}
	case a.name == "content" && strings.EqualFold(find(others, "http-equiv"), "content-language"):
		value = to
	case a.name == "lang" || a.name == "xml:lang":
		if isRoot || from != "" && a.text != "" && language.Same(a.text, from) {
			value = to
		}
	case a.name == "dir" && (isRoot || isTurned && strings.EqualFold(a.text, was)):
		value = is
	case a.name == "style" && isTurned && direction.MatchString(a.text):
		value = direction.ReplaceAllString(a.text, "${1}"+is)
	}
	if value == "" {
		return ""
	}
	return `"` + stdhtml.EscapeString(value) + `"`
}

// sameDirection are the elements whose contents have a direction in all languages.
const sameDirection = " bdo code kbd pre samp input textarea "

// direction matches a property of CSS.
var direction = regexp.MustCompile(`(?i)(\bdirection\s*:\s*)(?:ltr|rtl)\b`)

// missingOf returns the language and the direction that the html element lacks.
func missingOf(t markup.Token, attributes []attribute, to string) (list []attribute) {
	missing := ""
	if find(attributes, "lang")+find(attributes, "xml:lang") == "" {
		missing = ` lang="` + stdhtml.EscapeString(to) + `"`
	}
	if find(attributes, "dir") == "" && language.RightToLeft(to) {
		missing += ` dir="rtl"`
	}
	if missing != "" {
		list = []attribute{added(t, missing)}
	}
	return list
}

// added returns attributes that a tag gets, with the space in front of them.
func added(t markup.Token, attributes string) attribute {
	at := t.Start + len("<") + len(t.Name)
	return attribute{tag: [2]int{t.Start, t.End}, start: at, end: at, value: attributes}
}

// keepsDirection reports whether an element that stays is written from left to right in a document that no longer is.
func (p *pass) keepsDirection(attributes []attribute) bool {
	lang := cmp.Or(find(attributes, "lang"), find(attributes, "xml:lang"))
	isTurned := p.options.From != "" && !language.RightToLeft(p.options.From) && language.RightToLeft(p.options.To)
	return isTurned && !language.RightToLeft(lang) && find(attributes, "dir") == ""
}
