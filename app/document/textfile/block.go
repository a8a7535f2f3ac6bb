package textfile

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"dragoman/app/text/wrap"
)

// block translates a block scalar, which starts with | or >: a literal one line by line, a folded one paragraph by paragraph,
// and a message of several lines as a whole, which gets quotes. Lines of code stay.
// column is the column of its parent.
func (y *yamlFile) block(n *yaml.Node, at, column int) {
	header := blockHeader.FindStringSubmatch(y.text[at:])
	if header == nil {
		y.unclear(n, nil)
	}
	indent := -1
	if header[1] != "" {
		indent = column - 1 + int(header[1][0]-'0')
	}
	isMessage := icuChoice.MatchString(n.Value) || y.formatter == mf2 && mf2Complex.MatchString(n.Value)
	var run []wrap.Line
	s, offset, end := y.parse(n.Value), 0, at // the next line of a literal in its value, and the end of the last line
	for _, l := range y.lines[n.Line:] {
		raw := y.in(l)
		spaces := len(raw) - len(strings.TrimLeft(raw, " "))
		blank := spaces == len(raw)
		if l.Start < at {
			continue
		}
		if !blank && indent < 0 {
			indent = spaces
		}
		if !blank && spaces < indent {
			break
		}
		content := raw[max(0, min(indent, len(raw))):]
		start := offset
		offset += len(content) + 1
		if !blank {
			end = l.End
		}
		if isMessage || n.Style&yaml.LiteralStyle != 0 && s.HasLines(start, start+len(content)) { // code
			continue
		}
		more := spaces > indent || strings.HasPrefix(raw[min(spaces, len(raw)):], "\t")
		if n.Style&yaml.FoldedStyle != 0 && !blank && !more {
			run = append(run, wrap.Line{Start: l.Start + spaces, End: l.End})
			continue
		}
		y.wrapped(run)
		run = run[:0]
		if !blank {
			y.value(l.Start+spaces, l.End, raw[spaces:], oneLine)
		}
	}
	y.wrapped(run)
	if isMessage {
		y.value(at, end, strings.TrimSpace(n.Value), quoteYAML)
	}
}

// blockHeader captures the indentation of the lines, if it is given.
var blockHeader = regexp.MustCompile(`^[|>][+-]?([1-9]?)[+-]?[ \t]*(?:#|[\r\n]|$)`)
