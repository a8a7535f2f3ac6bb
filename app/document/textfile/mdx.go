package textfile

import (
	"regexp"
	"strings"
)

// mdx translates MDX: Markdown with JSX. Lines of tags, expressions, imports and exports stay.
func mdx(p *pass) { withAnchors(p, true) }

var (
	fence = regexp.MustCompile("^[ \\t>]*(?:[-*+][ \\t]+)?(`{3,}|~{3,})")
	jsx   = regexp.MustCompile(`^[ \t>]*(?:</?[\pL>]|\{)`)
	// apart matches an empty line and one without indentation, where a statement that is not closed ends.
	apart  = regexp.MustCompile(`^\r?\n[ \t]*\r?\n[^\s)}\]<]`)
	module = regexp.MustCompile(`^(?:import|export)\s`)
)

// withoutJSX returns the text with spaces in place of lines that are code of MDX.
func (p *pass) withoutJSX() string {
	out := []byte(p.text)
	lines := p.linesOf("\r\n")
	open, isModule := "", false // the open fence; whether the last line was of a module
	for i := 0; i < len(lines); i++ {
		raw := p.in(lines[i])
		if found := fence.FindStringSubmatch(raw); found != nil && (open == "" || strings.HasPrefix(found[1], open)) {
			if open == "" {
				open = found[1]
			} else {
				open = ""
			}
			continue
		}
		isModule = strings.TrimSpace(raw) != "" && (isModule || module.MatchString(raw))
		if open != "" || !isModule && !jsx.MatchString(raw) {
			continue
		}
		last := p.endOfJSX(lines[i].Start, isModule)
		from := i
		for i+1 < len(lines) && lines[i+1].Start < last {
			i++
		}
		if end := p.text[min(last, lines[i].End):lines[i].End]; strings.TrimSpace(end) != "" && !isModule && from == i {
			continue // a tag or an expression in a text
		}
		copy(out[lines[from].Start:], blanked(p.text[lines[from].Start:lines[i].End]))
	}
	return string(out)
}

// endOfJSX returns the end of the tags and expressions that start at byte start, or of a statement of a module.
func (p *pass) endOfJSX(start int, isModule bool) int {
	depth, quote, isTag := 0, byte(0), false
	for i := start; i < len(p.text); i++ {
		p.looks.Past(1)
		c := p.text[i]
		isCode := depth > 0 || isModule
		switch {
		case (c == '\r' || c == '\n') && apart.MatchString(p.text[i:]):
			return i
		case quote != 0:
			if c == '\\' && !isTag {
				i++
			} else if c == quote || c == '\n' && quote != '`' && !isTag {
				quote = 0
			}
		case isCode && strings.HasPrefix(p.text[i:], "/*"):
			comment, _, _ := strings.Cut(p.text[i:], "*/")
			i += len(comment)
		case isCode && strings.HasPrefix(p.text[i:], "//"):
			comment, _, _ := strings.Cut(p.text[i:], "\n")
			i += len(comment) - 1
		case (isTag || isCode) && strings.IndexByte("\"'`", c) >= 0:
			quote = c
		case c == '{' || isModule && (c == '(' || c == '['):
			depth++
		case c == '}' || isModule && (c == ')' || c == ']'):
			depth--
		case depth > 0:
		case c == '<' && !isModule:
			isTag = true
		case c == '>':
			isTag = false
		case isTag:
		case c == '\n', !isModule && c != ' ' && c != '\t' && c != '\r':
			return i
		}
	}
	return len(p.text)
}
