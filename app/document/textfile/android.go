package textfile

import (
	"regexp"
	"strconv"
	"strings"

	"dragoman/app/document/xmlpart"
)

// android translates Android resources: strings, and the items of arrays and plurals.
func android(p *pass) {
	p.formatter = print
	var items []xmlElement // of the current plural
	var plurals forms
	xmlFormat{"resources", "has no resources of Android", func(x *xmlReader, e *xmlElement) {
		if e.name == "resources" && e.attribute("locale") != "" && x.options.To != "" {
			x.replace(e.start, e.inner, xmlpart.SetAttribute(x.text[e.start:e.inner], "tools:locale", x.options.To))
		}
		e.stays = e.stays || e.attribute("translatable") == "false" || e.attribute("translate") == "false"
	}, func(x *xmlReader, e *xmlElement) {
		switch parent := x.parent(); {
		case e.stays:
		case parent == "resources" && (e.name == "string" || e.name == "item" && e.attribute("type") == "string"), parent == "string-array" && e.name == "item":
			resource(x, e)
		case parent == "plurals" && e.name == "item":
			items, plurals.list = append(items, *e), append(plurals.list, form{e.attribute("quantity"), e.start, e.end})
		case e.name == "plurals":
			plurals.write(p, e.inner, e.innerEnd, func(i int) { resource(x, &items[i]) })
			items, plurals.list = nil, nil
		}
	}}.read(p)
}

// resource translates the text of an element.
func resource(x *xmlReader, e *xmlElement) {
	start, end := e.inner, e.innerEnd
	before, raw, after := trimmed(x.text[start:end])
	if resourceName.MatchString(raw) {
		return
	}
	quoted := len(raw) > 1 && quotedResource.MatchString(raw)
	if quoted {
		before, raw, after = before+`"`, raw[1:len(raw)-1], `"`+after
		outside, inner, behind := trimmed(raw)
		before, raw, after = before+outside, inner, behind+after
	}
	text := readResource(raw)
	if !x.hasUnits(text) {
		return
	}
	if translation := x.translate(text); translation != text {
		w := resourceWriter{apostrophes: quoted, quotes: hasBareQuote(raw)}
		x.replace(start, end, before+w.write(oneLine(fragment(translation)))+after)
	}
}

var (
	resourceName   = regexp.MustCompile(`^[@?](?:\+?[\w.]+:)?\w+/[\w.]+$`)
	quotedResource = regexp.MustCompile(`^"(?:[^"\\<]|\\(?s:.))*"$`)
)

// readResource converts the text of a resource to XML, without the backslashes of quotes and numeric character escapes.
// Backslashes of literal characters, line ends and tabs stay.
func readResource(raw string) string {
	var out strings.Builder
	parts := xmlParts(raw)
	for _, part := range parts {
		switch part.sort {
		case 't':
			out.WriteString(resourceEscape.ReplaceAllStringFunc(part.raw, func(escape string) string { return xmlText.Replace(readEscape(escape)) }))
		case 'c':
			text := resourceEscape.ReplaceAllStringFunc(part.raw, readEscape)
			if len(parts) == 1 && !strings.Contains(text, "]]>") {
				out.WriteString("<![CDATA[" + text + "]]>")
			} else {
				out.WriteString(xmlText.Replace(text))
			}
		default:
			out.WriteString(part.raw)
		}
	}
	return out.String()
}

// hasBareQuote reports whether the text of a resource has a quote without a backslash.
func hasBareQuote(raw string) bool {
	for _, part := range xmlParts(raw) {
		if part.sort != '<' && strings.Contains(resourceEscape.ReplaceAllString(part.raw, ""), `"`) {
			return true
		}
	}
	return false
}

// resourceEscape matches a backslash with the escaped character.
var resourceEscape = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|(?s:.))`)

func readEscape(escape string) string {
	switch escape[1] {
	case '\'', '"', '@', '?':
		return escape[1:]
	case 'u':
		n, err := strconv.ParseUint(escape[2:], 16, 16)
		if err == nil && n > ' ' && n != '\\' && (n < 0x7F || n > 0x9F) && (n < 0xD800 || n > 0xDFFF) && n < 0xFEFF {
			return string(rune(n))
		}
	}
	return escape
}

// resourceWriter is the inverse of readResource.
type resourceWriter struct {
	apostrophes, quotes bool // written without a backslash: in quotes, and if the source has bare quotes
}

func (w resourceWriter) write(text string) string {
	var out strings.Builder
	for i, part := range xmlParts(text) {
		switch part.sort {
		case 't':
			out.WriteString(w.escape(xmlQuotes.Replace(part.raw), i == 0))
		case 'c':
			out.WriteString("<![CDATA[" + w.escape(part.raw, i == 0) + "]]>")
		default:
			out.WriteString(part.raw)
		}
	}
	return out.String()
}

// xmlQuotes replaces the entities of quotes, which must not escape the later escaping.
var xmlQuotes = strings.NewReplacer("&apos;", "'", "&#39;", "'", "&quot;", `"`, "&#34;", `"`)

func (w resourceWriter) escape(text string, first bool) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`ntru\'"@?#`, text[i+1]) >= 0:
			out.WriteString(text[i : i+2])
			i++
			continue
		case c == '\\', c == '"' && !w.quotes, c == '\'' && !w.apostrophes, i == 0 && first && (c == '@' || c == '?'):
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
