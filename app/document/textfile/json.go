package textfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/feature/plural"

	"dragoman/app/text/char"
	"dragoman/app/text/language"
)

// maxDepth is the maximum depth of values, elements and blocks in a document.
const maxDepth = 500

// jsonNode is a value of JSON with its place in the document.
type jsonNode struct {
	kind       jsontext.Kind
	name       string // of a member of an object
	at         int    // where the name starts
	start, end int
	inner      []jsonNode // members of an object, or values of a list
}

// member returns the last member of a name, or nil.
func (n *jsonNode) member(name string) *jsonNode {
	for i := range slices.Backward(n.members()) {
		if n.inner[i].name == name {
			return &n.inner[i]
		}
	}
	return nil
}

// members returns the members of an object.
func (n *jsonNode) members() []jsonNode {
	if n == nil || n.kind != jsontext.KindBeginObject {
		return nil
	}
	return n.inner
}

// has reports whether a member is a string.
func (p *pass) has(n *jsonNode, name, text string) bool {
	m := n.member(name)
	return m != nil && m.kind == jsontext.KindString && p.unquoted(m) == text
}

// unquoted returns the text of a string.
func (p *pass) unquoted(n *jsonNode) string {
	text, _ := jsontext.AppendUnquote(nil, p.text[n.start:n.end]) // no error: the string has been read
	return string(text)
}

// plainJSON names JSON of no other kind.
const plainJSON = "JSON"

// jsonReader reads the values of a document.
type jsonReader struct {
	*pass
	*jsontext.Decoder
	what string // the format, for errors
}

// readJSON returns the values of a document, of which several may follow each other.
func (p *pass) readJSON(what string) []jsonNode {
	r := jsonReader{p, jsontext.NewDecoder(bytes.NewBufferString(p.text), jsontext.AllowDuplicateNames(true)), what}
	return r.until(jsontext.KindInvalid, false)
}

// fail ends the pass with an error of the decoder.
func (r jsonReader) fail(err error) {
	var syntax *jsontext.SyntacticError
	at := r.InputOffset()
	if errors.As(err, &syntax) {
		at, err = syntax.ByteOffset, syntax.Err
	}
	r.refuse(err, "the %s cannot be read from line %d on: %s", r.what, r.lineNumber(min(int(at), len(r.text))), err)
}

// readObject returns the only value of a document, an object or a list.
func (p *pass) readObject(what string) *jsonNode {
	list := p.readJSON(what)
	if len(list) > 1 {
		p.refuse(nil, "the %s goes on behind its end: it is one value of JSON", what)
	}
	if len(list) == 0 {
		list = []jsonNode{{}}
	}
	p.isList(what, &list[0])
	return &list[0]
}

// isList refuses a value that is neither an object nor a list.
func (p *pass) isList(what string, n *jsonNode) {
	if n != nil && n.kind != jsontext.KindBeginObject && n.kind != jsontext.KindBeginArray {
		p.refuse(nil, "the %s has a value where an object or a list should be, in line %d", what, p.lineNumber(n.start))
	}
}

// until reads values, or members of an object, up to the end of their list, or of the document. Of plain JSON it leaves out the
// numbers and the empty values of lists.
func (r jsonReader) until(end jsontext.Kind, named bool) (list []jsonNode) {
	for {
		n := jsonNode{at: int(r.InputOffset())}
		token, err := r.ReadToken()
		if named && err == nil && token.Kind() != end {
			n.at += strings.IndexByte(r.text[n.at:], '"')
			n.name = token.String()
			n.start = int(r.InputOffset())
			token, err = r.ReadToken()
		} else {
			n.start = n.at
		}
		n.end = int(r.InputOffset())
		r.looks.Past(n.end - n.at)
		switch {
		case errors.Is(err, io.EOF), err == nil && token.Kind() == end:
			return list
		case err != nil:
			r.fail(err)
		case r.StackDepth() > maxDepth:
			r.refuse(nil, "the %s is nested deeper than %d values", r.what, maxDepth)
		}
		n.kind = token.Kind()
		n.start = n.end - len(strings.TrimLeft(r.text[n.start:n.end], jsonSpace+",:"))
		switch n.kind {
		case jsontext.KindBeginObject:
			n.inner = r.until(jsontext.KindEndObject, true)
		case jsontext.KindBeginArray:
			n.inner = r.until(jsontext.KindEndArray, false)
		}
		n.end = int(r.InputOffset())
		if named || n.inner != nil || n.kind == jsontext.KindString || r.what != plainJSON { // numbers would take most of the memory
			list = append(list, n)
		}
	}
}

const jsonSpace = " \t\r\n"

// jsonTexts translates the strings in JSON.
type jsonTexts struct {
	*pass
	ascii  bool                                              // letters outside ASCII are written as escapes
	isText func(n *jsonNode, text string) bool               // reports whether a string is translated; nil: none is
	stays  func(parent, n *jsonNode, depth int) bool         // reports whether a member stays; nil: none does
	forms  func(parent *jsonNode, list []jsonNode) (f forms) // returns the plural forms with which a list starts; nil: there are none
}

// values translates the strings in the values of an object or a list.
func (j jsonTexts) values(parent *jsonNode, depth int) {
	for list := parent.inner; len(list) > 0; {
		var plurals forms
		if j.forms != nil {
			plurals = j.forms(parent, list)
		}
		n := len(plurals.list)
		if n == 0 {
			n = 1
			j.node(parent, &list[0], depth)
		} else {
			start := len(strings.TrimRight(j.text[:list[0].at], jsonSpace))
			plurals.write(j.pass, start, list[n-1].end, func(i int) { j.node(parent, &list[i], depth) })
		}
		list = list[n:]
	}
}

// node translates a string, or the strings in a value.
func (j jsonTexts) node(parent, n *jsonNode, depth int) {
	if j.stays != nil && j.stays(parent, n, depth) {
		return
	}
	if n.kind != jsontext.KindString {
		j.values(n, depth+1)
	} else if text := j.unquoted(n); j.isText != nil && j.isText(n, text) {
		j.value(n.start, n.end, text, func(text string) string { return quoteJSON(text, j.ascii) })
	}
}

// jsonValues translates JSON, also several consecutive values. It translates strings, but not names of members. Members whose
// name starts with @ describe messages (ARB), and stay, as do comments of Visual Studio Code.
func jsonValues(p *pass) {
	p.formatter, p.isPiped = formatterOf(p.text), pipedCount.MatchString(p.text)
	list := p.readJSON(plainJSON)
	described := describedMessages.MatchString(p.text)
	j := jsonTexts{pass: p, ascii: asciiEscapes(p.text), isText: func(_ *jsonNode, text string) bool { return !p.isCode(text) }}
	j.stays = func(parent, n *jsonNode, depth int) bool {
		isLocale := n.name == "@@locale" || n.name == "locale" && strings.Contains(p.text, `"translations"`) // of ARB, of Angular
		if isLocale && depth == 1 && n.kind == jsontext.KindString && p.options.To != "" {
			p.replace(n.start, n.end, quoteJSON(p.options.To, false))
			return true
		}
		isComment := n.name == "comment" && n.kind == jsontext.KindBeginArray && len(parent.inner) <= mostParts && parent.member("message") != nil
		return isComment || strings.HasPrefix(n.name, "@") || n.name == "description" && (described && depth == 2 || parent.isMessage()) ||
			n.name == "placeholders" && described && depth == 2
	}
	if p.options.To != "" {
		isNamed := strings.Contains(p.text, "{{")
		j.forms = func(parent *jsonNode, list []jsonNode) forms { return namedForms(parent, list, isNamed) }
	}
	if len(list) == 1 && len(list[0].members()) == 1 && p.options.To != "" && p.options.From != "" {
		if n := list[0].inner[0]; n.kind == jsontext.KindBeginObject && language.Same(n.name, p.options.From) && strings.HasPrefix(p.text[n.at+1:], n.name) {
			p.replace(n.at+1, n.at+1+len(n.name), p.options.To) // the key of i18n-js
		}
	}
	j.values(&jsonNode{inner: list}, 0)
}

// isMessage reports whether an object is a message of go-i18n.
func (n *jsonNode) isMessage() bool {
	return len(n.inner) <= mostParts && n.member("other") != nil && !slices.ContainsFunc(n.inner, func(n jsonNode) bool {
		return !slices.Contains(beside, n.name) && !slices.Contains(pluralNames, n.name)
	})
}

// mostParts is the maximum number of members of a message.
const mostParts = 12

// describedMessages matches the start of messages of Chrome or FormatJS, whose descriptions are for translators.
var describedMessages = regexp.MustCompile(`^\s*\{\s*"[^"]+"\s*:\s*\{\s*(?:"description"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*)?"(?:message|defaultMessage)"\s*:`)

// namedForms returns the plural forms of i18next, whose members have the same name and end in their category (file_one, file_other; in
// version 3 file, file_plural), or those of a message of go-i18n and i18n-js, which have no name.
func namedForms(parent *jsonNode, list []jsonNode, isNamed bool) (f forms) {
	if isNamed && len(list) > 1 && list[1].name == list[0].name+"_plural" && list[0].kind == jsontext.KindString && list[1].kind == jsontext.KindString {
		return forms{isOld: true, list: []form{{"one", list[0].at, list[0].end}, {"other", list[1].at, list[1].end}}}
	}
	prefix := list[0].name[:strings.LastIndexByte(list[0].name, '_')+1]
	isOther := func(n jsonNode) bool { return n.name == prefix+"other" }
	f.comma, f.keep, f.strict = ",", prefix == "", true
	if !slices.ContainsFunc(list[:min(len(list), mostParts)], isOther) || f.keep && !parent.isMessage() || !f.keep && (!isNamed || prefix[0] == '@') {
		return f
	}
	for _, n := range list {
		category, ok := strings.CutPrefix(n.name, prefix)
		if !ok || n.kind != jsontext.KindString || !slices.Contains(pluralNames, category) {
			break
		}
		f.list = append(f.list, form{category, n.at, n.end})
	}
	if f.keep && len(f.list) < 2 {
		f.list = nil
	}
	if strings.HasSuffix(prefix, "_ordinal_") {
		f.rules = plural.Ordinal
	}
	return f
}

// asciiEscapes reports whether a document escapes letters outside ASCII.
func asciiEscapes(text string) bool { return char.IsASCII(text) && strings.Contains(text, `\u`) }

// quoteJSON writes a JSON string, escaping characters outside ASCII if ascii is set.
func quoteJSON(text string, ascii bool) string {
	raw, _ := jsontext.AppendQuote(nil, text) // no error: the text is UTF-8
	if !ascii {
		return string(raw)
	}
	return escapeRunes(string(raw))
}
