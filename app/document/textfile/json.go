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

// maxDepth is how deep the values, elements and blocks of a document may stand in each other.
const maxDepth = 500

// jsonValues is the kind of JSON, also of several values behind each other. Strings are translated, names of
// members are not. What belongs to a member whose name starts with @ describes messages (ARB).
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

// jsonFile goes through values of JSON.
type jsonFile struct {
	*pass
	what   string                                       // it is, for errors
	ascii  bool                                         // other letters are written as escapes
	begin  func(name string, d *jsontext.Decoder) error // nil, or is called before the value of a member, which it may read
	isText func(name, text string) bool                 // whether a string is translated, which is in the member of that name
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
				return err // the caller's
			}
		}
		if err != nil {
			return refuseJSON(j.pass, d, err)
		}
	}
}

// localeOfARB sets the language that a file of messages says it is in.
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

// stringStart returns where the string starts that ends before byte end: at the quote that no odd
// number of backslashes is before.
func stringStart(text string, end int) int {
	for i := end - 2; i >= 0; i-- {
		if text[i] == '"' && (i-len(strings.TrimRight(text[:i], `\`)))%2 == 0 {
			return i
		}
	}
	return 0
}

// refuseJSON names the line of a reader's error. Others come from where the document is written to.
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

// saidOfJSON is what a reader's error says to people who know nothing of its types.
func saidOfJSON(err error) string {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return syntax.Err.Error()
	}
	if _, ok := errors.AsType[*json.SemanticError](err); ok {
		return "a value is of another type than it should be"
	}
	return err.Error()
}

// asciiEscapes says whether a document writes other letters as escapes.
func asciiEscapes(text string) bool { return isASCII(text) && strings.Contains(text, `\u`) }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// quoteJSON writes a string of JSON, with escapes for what is not ASCII if asked to.
func quoteJSON(text string, ascii bool) string {
	raw, _ := jsontext.AppendQuote(nil, text) // no error: the text is UTF-8
	if !ascii {
		return string(raw)
	}
	return escapeRunes(string(raw))
}
