package textfile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/parser"
)

// mdx translates MDX: Markdown with JSX. Lines of tags, expressions, imports and exports stay.
func mdx(p *pass) {
	p.formatter = jsxText
	withAnchors(p, true)
}

var (
	fence = regexp.MustCompile("^[ \\t>]*(?:[-*+][ \\t]+)?(`{3,}|~{3,})")
	jsx   = regexp.MustCompile(`^[ \t>]*(?:</?[\pL>]|\{)`)
	// apart matches an empty line and one without indentation, where a statement that is not closed ends.
	apart  = regexp.MustCompile(`^\r?\n[ \t]*\r?\n[^\s)}\]<]`)
	module = regexp.MustCompile(`^(?:import|export)\s`)
	// jsxPart matches code, an escape, or an expression, and jsxTag also a tag without expressions.
	jsxPart = regexp.MustCompile("``(?:[^`\n]|`[^`\n])+``|`[^`\n]+`" + `|\\[{}<]|\{(?:[^{}]|\{[^{}]*\})*\}`)
	jsxTag  = regexp.MustCompile(jsxPart.String() + `|</?[\pL>][^<>]*>`)
	jsxName = regexp.MustCompile(`^\{[\w.#-]+\}$`)
	// mdxMark matches the mark of an item, heading or quotation.
	mdxMark = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+`)
)

// indentedText is a parser of paragraphs that may be indented in tags, however far.
type indentedText struct{ parser.BlockParser }

// CanAcceptIndentedLine implements [parser.BlockParser].
func (indentedText) CanAcceptIndentedLine() bool { return true }

// readJSX returns a text with names, no JavaScript, in place of the expressions in it, and the function that puts these back into a translation.
func readJSX(text string) (plain string, write func(translation string) string) {
	var names []string
	plain = jsxPart.ReplaceAllStringFunc(text, func(part string) string {
		if part[0] == '{' && !jsxName.MatchString(part) {
			names = append(names, fmt.Sprintf("{@%d}", len(names)/2+1), part)
			return names[len(names)-2]
		}
		return part
	})
	escape := markdownEscapes(plain, jsxTag.FindAllString(plain, -1), "{", `\{`, "}", `\}`, "<", `\<`)
	return plain, func(translation string) string {
		if translation = escape.Replace(translation); module.MatchString(translation) {
			translation = fmt.Sprintf("&#%d;", translation[0]) + translation[1:]
		}
		return strings.NewReplacer(names...).Replace(translation)
	}
}

// withoutJSX returns the text with spaces in place of lines that are code, also that of MDX.
func (p *pass) withoutJSX() string {
	out := []byte(p.text)
	lines := p.linesOf("\r\n")
	open, isModule := "", false // the open fence; whether the last line was of a module
	for i := 0; i < len(lines); i++ {
		raw := p.in(lines[i])
		found := fence.FindStringSubmatch(raw)
		if isFence := found != nil && (open == "" || strings.HasPrefix(found[1], open)); isFence || open != "" {
			if copy(out[lines[i].Start:], blanked(raw)); isFence && open == "" {
				open = found[1]
			} else if isFence {
				open = ""
			}
			continue
		}
		isModule = strings.TrimSpace(raw) != "" && (isModule || module.MatchString(raw))
		if !isModule && !jsx.MatchString(raw) {
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
