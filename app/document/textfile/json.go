package textfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dragoman/app/document"
)

// maxDepth is the maximum depth of values, elements and blocks in a document.
const maxDepth = 500

// jsonValues translates JSON, also several consecutive values. It translates strings, but not names of members. Members whose
// name starts with @ describe messages (ARB), and stay.
func jsonValues(p *pass) error {
	j := jsonFile{pass: p, what: "JSON", ascii: asciiEscapes(p.text), isText: func(_, text string) bool { return !p.isCode(text) }}
	j.begin = func(name string, d *jsontext.Decoder) error {
		if name == "@@locale" && d.StackDepth() == 1 {
			return localeOfARB(p, d)
		} else if strings.HasPrefix(name, "@") {
			return d.SkipValue()
		}
		return nil
	}
	return j.run()
}

// jsonFile goes through JSON values.
type jsonFile struct {
	*pass
	what   string                                       // the format, for errors
	ascii  bool                                         // letters outside ASCII are written as escapes
	begin  func(name string, d *jsontext.Decoder) error // if not nil, called before the value of a member, which it may read
	isText func(name, text string) bool                 // reports whether a string in a member is translated
}

// run translates the strings.
func (j jsonFile) run() error {
	d := jsontext.NewDecoder(bytes.NewBufferString(j.text), jsontext.AllowDuplicateNames(true))
	name := ""
	for {
		kind, length := d.StackIndex(d.StackDepth())
		before := d.InputOffset()
		token, err := d.ReadToken()
		j.looks.Past(int(d.InputOffset() - before))
		if errors.Is(err, io.EOF) {
			return nil
		}
		switch {
		case err != nil:
		case d.StackDepth() > maxDepth:
			return document.Refuse(nil, "the %s is nested deeper than %d values", j.what, maxDepth)
		case token.Kind() != jsontext.KindString:
		case kind == jsontext.KindBeginObject && length%2 == 0:
			if name = token.String(); j.begin != nil {
				err = j.begin(name, d)
			}
		case j.isText(name, token.String()):
			end := int(d.InputOffset())
			err := j.value(stringStart(j.text, end), end, token.String(), func(text string) string { return quoteJSON(text, j.ascii) })
			if err != nil {
				return err // an error of the caller
			}
		}
		if err != nil {
			return refuseJSON(j.pass, d, err)
		}
	}
}

// localeOfARB sets the declared language of a message file.
func localeOfARB(p *pass, d *jsontext.Decoder) error {
	if p.options.To == "" || d.PeekKind() != jsontext.KindString {
		return nil
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	end := int(d.InputOffset())
	return p.replace(stringStart(p.text, end), end, quoteJSON(p.options.To, false))
}

// stringStart returns the start of the string that ends before byte end: a quote not preceded by an odd number of backslashes.
func stringStart(text string, end int) int {
	for i := end - 2; i >= 0; i-- {
		if text[i] == '"' && (i-len(strings.TrimRight(text[:i], `\`)))%2 == 0 {
			return i
		}
	}
	return 0
}

// refuseJSON adds the line to a reader's error. Other errors are errors of the output.
func refuseJSON(p *pass, d *jsontext.Decoder, err error) error {
	at := min(int(d.InputOffset()), len(p.text))
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		at = min(int(syntax.ByteOffset), len(p.text))
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return document.Refuse(err, "the JSON cannot be read from line %d on: %s", p.lineNumber(at), saidOfJSON(err))
}

// saidOfJSON returns a reader's error in words that do not mention Go types.
func saidOfJSON(err error) string {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntax.Err.Error()
	}
	if _, ok := errors.AsType[*json.SemanticError](err); ok {
		return "a value is of another type than it should be"
	}
	return err.Error()
}

// asciiEscapes reports whether a document escapes letters outside ASCII.
func asciiEscapes(text string) bool { return isASCII(text) && strings.Contains(text, `\u`) }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// quoteJSON writes a JSON string, escaping characters outside ASCII if ascii is set.
func quoteJSON(text string, ascii bool) string {
	raw, _ := jsontext.AppendQuote(nil, text) // no error: the text is UTF-8
	if !ascii {
		return string(raw)
	}
	return escapeRunes(string(raw))
}
