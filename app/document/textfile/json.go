package textfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/feature/plural"

	"dragoman/app/document"
)

// maxDepth is the maximum depth of values, elements and blocks in a document.
const maxDepth = 500

// jsonValues translates JSON, also several consecutive values. It translates strings, but not names of members. Members whose
// name starts with @ describe messages (ARB), and stay.
func jsonValues(p *pass) error {
	p.formatter = print
	if icuChoice.MatchString(p.text) && !strings.Contains(p.text, `"@`) { // Flutter, which has ARB, reads apostrophes as they are
		p.formatter = icu
	}
	described := describedMessages.MatchString(p.text)
	j := jsonFile{pass: p, what: "JSON", ascii: asciiEscapes(p.text), isText: func(_, text string) bool { return !p.isCode(text) }}
	j.begin = func(name string, d *jsontext.Decoder) error {
		if name == "@@locale" && d.StackDepth() == 1 {
			return localeOfARB(p, d)
		} else if strings.HasPrefix(name, "@") || described && d.StackDepth() == 2 && (name == "description" || name == "placeholders") {
			return d.SkipValue()
		}
		return nil
	}
	if p.options.To != "" && strings.Contains(p.text, "{{") {
		j.plurals = &namedForms{pass: p}
	}
	return j.run()
}

// describedMessages matches the start of messages of Chrome or FormatJS, whose descriptions are for translators.
var describedMessages = regexp.MustCompile(`^\s*\{\s*"[^"]+"\s*:\s*\{\s*(?:"description"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*)?"(?:message|defaultMessage)"\s*:`)

// namedForms writes the plural forms of i18next, whose members have the same name and end in their category: file_one, file_other.
type namedForms struct {
	*pass
	forms
	prefix string // the name without the category; "" outside of forms
	last   int    // end of the last form
	inForm bool
}

// named handles the name of a member whose value is of a kind.
func (n *namedForms) named(name string, start int, value jsontext.Kind) error {
	if n == nil {
		return nil
	}
	at := strings.LastIndexByte(name, '_') + 1
	prefix, category := name[:at], name[at:]
	isForm := at > 0 && name[0] != '@' && value == jsontext.KindString && slices.Contains(pluralNames, category) && strings.Contains(n.text, `"`+prefix+`other"`)
	if !isForm || n.prefix != prefix {
		if err := n.done(); err != nil || !isForm {
			return err
		}
		n.forms = forms{comma: ","}
		if strings.HasSuffix(prefix, "_ordinal_") {
			n.rules = plural.Ordinal
		}
		n.prefix = prefix
		if err := n.begin(n.pass, len(strings.TrimRight(n.text[:start], jsonSpace))); err != nil {
			return err
		}
	}
	n.inForm = true
	return n.starts(n.pass, category, start)
}

// ended handles the end of a value.
func (n *namedForms) ended(end int) error {
	if n == nil || !n.inForm {
		return nil
	}
	n.inForm, n.last = false, end
	return n.ends(n.pass, end)
}

// done ends the forms, if there are any.
func (n *namedForms) done() error {
	if n == nil || n.prefix == "" {
		return nil
	}
	n.prefix = ""
	return n.end(n.pass, n.last)
}

// jsonFile goes through JSON values.
type jsonFile struct {
	*pass
	what   string                                       // the format, for errors
	ascii  bool                                         // letters outside ASCII are written as escapes
	begin  func(name string, d *jsontext.Decoder) error // if not nil, called before the value of a member, which it may read
	isText func(name, text string) bool                 // reports whether a string in a member is translated

	plurals *namedForms // nil if the plural forms stay
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
			return j.plurals.done()
		}
		switch {
		case err != nil:
		case d.StackDepth() > maxDepth:
			return document.Refuse(nil, "the %s is nested deeper than %d values", j.what, maxDepth)
		case token.Kind() == jsontext.KindEndObject:
			if err := j.plurals.done(); err != nil {
				return err
			}
		case token.Kind() != jsontext.KindString:
		case kind == jsontext.KindBeginObject && length%2 == 0:
			start := stringStart(j.text, int(d.InputOffset()))
			if name = token.String(); j.begin != nil {
				err = j.begin(name, d)
			}
			if err == nil {
				if err := j.plurals.named(name, start, d.PeekKind()); err != nil {
					return err
				}
			}
		default:
			if err := j.string(name, token.String(), int(d.InputOffset())); err != nil {
				return err // an error of the caller
			}
		}
		if err != nil {
			return refuseJSON(j.pass, d, err)
		}
	}
}

// string translates the string in a member that ends at byte end.
func (j jsonFile) string(name, text string, end int) error {
	if j.isText(name, text) {
		err := j.value(stringStart(j.text, end), end, text, func(text string) string { return quoteJSON(text, j.ascii) })
		if err != nil {
			return err
		}
	}
	return j.plurals.ended(end)
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
