package textfile

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"dragoman/app/text/language"
	"dragoman/app/text/wrap"
)

// yamlValues translates YAML: strings, but not keys. The parser gives the start and the value of a scalar; its end is determined
// from the text.
func yamlValues(p *pass) {
	p.formatter, p.isPiped = formatterOf(p.text), pipedCount.MatchString(p.text)
	y := &yamlFile{pass: p, lines: p.linesOf("\r\n\u0085\u2028\u2029")}
	text := symbols.ReplaceAllStringFunc(yamlVersion.ReplaceAllString(p.text, "${1}1"), func(list string) string {
		key, values, _ := strings.Cut(list, "[")
		return key + "[" + strings.ReplaceAll(values, ":", "_")
	})
	d := yaml.NewDecoder(p.looks.Reader(strings.NewReader(text)))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			p.refuse(err, "the YAML cannot be read: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		y.locale(&n)
		y.node(&n, 0, 1)
	}
}

// isReadByCode reports whether value i of a mapping of messages is for the code of Rails or Hugo, or for translators.
func isReadByCode(n *yaml.Node, i int) bool {
	key := n.Content[i-1].Value
	if key == "round_mode" || key == "order" && n.Content[i].Kind == yaml.SequenceNode {
		return true
	}
	isMessage := false
	for at := 0; at < len(n.Content) && slices.Contains(beside, key); at += 2 {
		name := n.Content[at].Value
		isForm := name == "translation" || slices.Contains(pluralNames, name)
		if isMessage = isMessage || isForm; !isForm && !slices.Contains(beside, name) {
			return false
		}
	}
	return isMessage
}

// beside are the keys beside the forms of a message of Hugo and go-i18n.
var beside = []string{"id", "description", "hash"}

// yamlVersion matches the version of YAML before its last digit: the parser reads all of YAML 1.
var yamlVersion = regexp.MustCompile(`(?m)^(%YAML[ \t]+1\.)\d+`)

// symbols matches a list of Psych's symbols, [ :year ], which other readers refuse.
var symbols = regexp.MustCompile(`(?m)^[ \t]*[\w-]+:[ \t]*\[[ \t]*:\w+[ \t]*(?:,[ \t]*:\w+[ \t]*)*\][ \t]*(?:#.*)?\r?$`)

// yamlFile goes through the nodes of a document, in order.
type yamlFile struct {
	*pass
	lines []wrap.Line

	line, column, byte int // position of the last scalar: a line is counted once, however many scalars it has
}

// locale sets the language key that encloses a whole document, as in messages of Rails.
func (y *yamlFile) locale(n *yaml.Node) {
	from, to := y.options.From, y.options.To
	if to == "" || from == "" || n.Kind != yaml.DocumentNode || n.Content[0].Kind != yaml.MappingNode || len(n.Content[0].Content) != 2 {
		return
	}
	key := n.Content[0].Content[0]
	at := y.position(key)
	switch end := y.quoted(at); {
	case !language.Same(key.Value, from):
	case end > at:
		y.replace(at+1, end-1, to)
	case strings.HasPrefix(y.text[at:], key.Value):
		y.replace(at, at+len(key.Value), plainOrQuoted(to, key.Value))
	}
}

// node translates the strings in a node. column is the column of its parent, from 1 on.
func (y *yamlFile) node(n *yaml.Node, depth, column int) {
	y.looks.Past(1)
	if depth > maxDepth {
		y.refuse(nil, "the YAML is nested deeper than %d values", maxDepth)
	}
	if n.Kind == yaml.ScalarNode {
		y.scalar(n, column)
		return
	}
	forms, first := y.forms(n)
	for i, inner := range n.Content {
		switch {
		case i >= first && i < first+2*len(forms.list):
			if i == first {
				start := len(strings.TrimRight(y.text[:forms.list[0].start], yamlSpace))
				forms.write(y.pass, start, forms.list[len(forms.list)-1].end, func(i int) { y.scalar(n.Content[first+2*i+1], n.Column) })
			}
		case n.Kind == yaml.MappingNode && (i%2 == 0 || isReadByCode(n, i)):
		default:
			y.node(inner, depth+1, max(n.Column, 1))
		}
	}
}

// forms returns the plural forms of Rails, Hugo or go-i18n in a mapping, one, other and the like, and the place of the first.
func (y *yamlFile) forms(n *yaml.Node) (f forms, first int) {
	if n.Kind != yaml.MappingNode || y.options.To == "" {
		return f, 0
	}
	f.keep = true // Rails without rules of plurals has one and other in all languages
	if n.Style&yaml.FlowStyle != 0 {
		f.comma = ","
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if slices.Contains(beside, key.Value) {
			if len(f.list) == 0 {
				first = i + 2
			}
			continue
		}
		if !slices.Contains(pluralNames, key.Value) || i != first+2*len(f.list) || value.Kind != yaml.ScalarNode || value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return forms{}, 0
		}
		at := y.position(value)
		end := y.quoted(at)
		if end == at {
			end = plainEnd(y.text, at, value.Value)
		}
		f.list = append(f.list, form{key.Value, y.position(key), end})
	}
	if len(f.list) < 2 {
		return forms{}, 0
	}
	return f, first
}

// scalar translates a string.
func (y *yamlFile) scalar(n *yaml.Node, column int) {
	if n.ShortTag() != "!!str" || n.Style == 0 && ambiguous.MatchString(n.Value) || !hasLetter(n.Value) || y.isCode(n.Value) {
		return
	}
	at := y.position(n)
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		y.block(n, at, column)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		y.flow(n, at, y.quoted(at), quoteYAML)
	case n.Style&yaml.SingleQuotedStyle != 0:
		y.flow(n, at, y.quoted(at), func(text string) string {
			if strings.ContainsAny(text, "\r\n") || !isPrintable(text) {
				return quoteYAML(text)
			}
			return "'" + strings.ReplaceAll(text, "'", "''") + "'"
		})
	default:
		y.flow(n, at, plainEnd(y.text, at, n.Value), func(text string) string { return plainOrQuoted(text, n.Value) })
	}
}

// flow translates the scalar in bytes [start, end), and writes it with encode.
func (y *yamlFile) flow(n *yaml.Node, start, end int, encode func(string) string) {
	var again yaml.Node
	err := yaml.Unmarshal([]byte(y.text[start:max(start, end)]), &again)
	if err != nil || len(again.Content) != 1 || again.Content[0].Value != n.Value {
		y.unclear(n, err)
	}
	y.value(start, end, n.Value, encode)
}

// quoted returns the end of a quoted scalar.
func (y *yamlFile) quoted(at int) int {
	if found := y.looks.Find(quotedScalar, y.text[at:]); found != nil {
		return at + found[1]
	}
	return at
}

func (y *yamlFile) unclear(n *yaml.Node, err error) {
	y.refuse(err, "the text in line %d of the YAML is written in a way that cannot be changed in place: put it in double quotes on one line", n.Line)
}

// position returns the start of a scalar, behind its tag and anchor.
func (y *yamlFile) position(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(y.lines) {
		y.unclear(n, fmt.Errorf("line %d of %d", n.Line, len(y.lines)))
	}
	l := y.lines[n.Line-1]
	if y.line != n.Line || y.column > n.Column {
		y.line, y.column, y.byte = n.Line, 1, l.Start
	}
	for ; y.column < n.Column && y.byte < l.End; y.column++ {
		_, size := utf8.DecodeRuneInString(y.text[y.byte:])
		y.byte += size
	}
	at := y.byte
	for strings.HasPrefix(y.text[at:], "!") || strings.HasPrefix(y.text[at:], "&") {
		property := y.text[at:]
		if n := strings.IndexAny(property, yamlSpace); n >= 0 {
			property = property[:n]
		}
		at += len(property)
		at += len(y.text[at:]) - len(strings.TrimLeft(y.text[at:], yamlSpace))
	}
	return at
}

const yamlSpace = " \t\r\n"
