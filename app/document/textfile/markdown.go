package textfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"dragoman/app/document"
	"dragoman/app/text/char"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// markdown translates Markdown: CommonMark with tables and definition lists. Segments are the texts of paragraphs, headings,
// items and cells, with their marks.
func markdown(p *pass) {
	p.formatter = markdownText
	withAnchors(p, false)
}

// markdownBlocks translates the blocks of a text, without links to headings.
func markdownBlocks(m *markdownFile) {
	p := m.pass
	m.body = len(frontMatter.FindString(p.text))
	m.labels = p.linkLabels()
	if deepMarks.MatchString(p.text) {
		p.refuse(nil, "the Markdown has quotations and lists nested deeper than %d", maxMarks)
	}
	var blocks []ast.Node
	source := p.text
	if m.isMDX {
		source = p.withoutJSX()
	}
	source = withContainers(codeTemplate.ReplaceAllStringFunc(source, blanked))
	root := m.parser.Parse(lookingReader{text.NewReader([]byte(source[m.body:])), p.looks})
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		p.looks.Past(1)
		if entering && (isTextBlock(n) || n.Kind() == ast.KindHTMLBlock) && n.Lines().Len() > 0 {
			blocks = append(blocks, n)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	slices.SortStableFunc(blocks, func(a, b ast.Node) int { return a.Lines().At(0).Start - b.Lines().At(0).Start })
	for _, n := range blocks {
		if block, ok := n.(*ast.HTMLBlock); ok {
			m.html(block)
		} else {
			m.block(n)
		}
	}
}

// html translates a block of HTML whose lines have no marks before them. Its attributes are translated on request, like Markdown's.
func (m *markdownFile) html(n *ast.HTMLBlock) {
	start := m.body + n.Lines().At(0).Start
	var raw strings.Builder
	for i := range n.Lines().Len() {
		raw.WriteString(m.raw(n.Lines().At(i)))
	}
	if n.HasClosure() {
		raw.WriteString(m.raw(n.ClosureLine))
	}
	if !strings.HasPrefix(m.text[start:], raw.String()) {
		return
	}
	m.formatter, m.isPage = htmlText, true
	if out := m.within(raw.String(), htmlUnits); out != raw.String() {
		m.replace(start, start+raw.Len(), out)
	}
	m.formatter, m.isPage = markdownText, false
}

var (
	// codeTemplate matches code between the tags of Jekyll and Hugo.
	codeTemplate = regexp.MustCompile(`(?ms)^[ \t]*(?:\{%-? *(?:highlight\b.*?\{%-? *endhighlight|raw\b.*?\{%-? *endraw|comment\b.*?\{%-? *endcomment) *-?%\}|` +
		`\{\{[<%] *highlight\b.*?\{\{[<%] */highlight *[>%]\}\})`)
	// container matches the head of a container of Python-Markdown, whose content is indented by four spaces, or one with a title of
	// Docusaurus or VitePress, and captures its title.
	container = regexp.MustCompile(`(?m)^([ \t>]*)(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-][\w -]*(?:"([^"\r\n]*)")?|===[!+]?[ \t]+"([^"\r\n]+)"|:{3,}[ \t]*` +
		`(?:note|tip|info|warning|danger|caution|important|success|secondary|hint|error|details)(?:\[|[ \t]+)([^\s:{\[\]][^\r\n{}\[\]]*?)(?:\](?:\{[^{}\r\n]*\})?)?)[ \t]*\r?$`)
	notLineEnd = regexp.MustCompile(`[^\r\n]`)
)

// inTitle replaces the signs that would end a title.
var inTitle = strings.NewReplacer(`"`, "”", "[", "(", "]", ")", "{", "(", "}", ")")

func blanked(text string) string { return notLineEnd.ReplaceAllString(text, " ") }

// withContainers returns a text of the same length in which containers of Python-Markdown are items of a list, with their titles
// as headings, like those of other containers.
func withContainers(text string) string {
	return container.ReplaceAllStringFunc(text, func(line string) string {
		at, mark := container.FindStringSubmatchIndex(line), "-  #"
		if line[at[3]] == ':' {
			mark = "#"
		}
		start, end := len(line), len(line) // of the title
		for i := 4; i < len(at); i += 2 {
			if at[i] >= 0 {
				start, end = at[i], at[i+1]
			}
		}
		return line[:at[3]] + mark + blanked(line[at[3]+len(mark):start]) + line[start:end] + blanked(line[end:])
	})
}

// lookingReader checks the context at each line.
type lookingReader struct {
	text.Reader
	looks *char.Looks
}

// AdvanceLine implements [text.Reader].
func (r lookingReader) AdvanceLine() {
	_, s := r.Position()
	r.looks.Past(1 + s.Len())
	r.Reader.AdvanceLine()
}

// frontMatter matches YAML or TOML before the text.
var frontMatter = regexp.MustCompile(`^(?:---[ \t]*\r?\n(?s:.*?\n)??(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n(?s:.*?\n)??\+\+\+)[ \t]*(?:\r?\n|$)`)

// maxMarks is the maximum depth of blocks; deepMarks matches a line with more: the parser takes time for each of them on every
// line.
const maxMarks = 100

const lineMark = `(?:[|%]|\(@[\w-]*\))\s+`

var deepMarks = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){100}`)

// newMarkdownParser returns a parser for blocks. Inline marks are left to package markup, and lines that define link references
// stay.
func newMarkdownParser(isMDX bool) parser.Parser {
	blocks := parser.DefaultBlockParsers()
	if isMDX {
		blocks = slices.DeleteFunc(blocks, func(v util.PrioritizedValue) bool {
			return v.Priority == 500 || v.Priority == 900 // indented code and blocks of HTML, which MDX lacks
		})
		blocks[len(blocks)-1].Value = indentedText{parser.NewParagraphParser()}
	}
	return parser.NewParser(
		parser.WithBlockParsers(append(blocks,
			util.Prioritized(extension.NewDefinitionListParser(), 101),
			util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
			util.Prioritized(extension.NewFootnoteBlockParser(), 999))...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)))
}

// isTextBlock reports whether a block has text that is shown, and no inner blocks.
func isTextBlock(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading, extended.KindTableCell, extended.KindDefinitionTerm:
		return true
	}
	return false
}

// markdownFile goes through the blocks of a text.
type markdownFile struct {
	*pass
	parser   parser.Parser
	isMDX    bool
	body     int             // where the text starts, behind the front matter
	labels   map[string]bool // the defined labels of links
	headings []mdHeading     // with their translations
}

// block translates the text of a block, paragraph by paragraph.
func (m *markdownFile) block(n ast.Node) {
	var run []wrap.Line
	first, math := true, false
	flush := func() {
		if len(run) == 0 {
			return
		}
		w, encode := wrap.Of(m.looks, m.text, run), m.encoder(n.Kind(), run[0].Start, first)
		w.Text = m.withLabels(w.Text)
		head := m.text[strings.LastIndexAny(m.text[:run[0].Start], "\r\n")+1 : run[0].Start]
		isTitle := strings.HasSuffix(head, `"`) || strings.Contains(head, ":::") // of a container
		isHeading := n.Kind() == ast.KindHeading && !isTitle
		if isTitle {
			encode = func(lines []string) []string { return []string{inTitle.Replace(lines[0])} }
		} else if isHeading {
			m.headings = append(m.headings, mdHeading{w.Text, w.Text})
		}
		run, first = nil, false
		m.withImages(w, func(text string) string {
			if isHeading {
				m.headings[len(m.headings)-1].translation = text
			}
			return strings.Join(encode(w.Fill(m.looks, text, false, mayStartLine.MatchString)), w.Between)
		})
	}
	for i := range n.Lines().Len() {
		if gridBorder.MatchString(m.raw(n.Lines().At(i))) { // the rest is a table
			break
		}
		l, breaks := m.line(n.Lines().At(i))
		raw := m.in(l)
		isLine := ownLine.MatchString(m.raw(n.Lines().At(i)))
		if isLine || m.isIndented(n.Lines().At(i)) {
			flush()
		}
		formula := math || strings.HasPrefix(raw, "$$")
		if formula {
			math = math != (strings.Count(raw, "$$")%2 == 1)
		}
		stays := formula || directive.MatchString(raw)
		if !stays {
			run = append(run, l)
		}
		if stays || breaks || isLine {
			flush()
			first = false
		}
	}
	flush()
}

// withImages is [pass.paragraph] that also translates alternative texts of images if they are requested.
func (m *markdownFile) withImages(lines wrap.Paragraph, encode func(text string) string) {
	images := m.images(lines.Text)
	before := m.at
	m.paragraph(lines, func(text string) string { return encode(images.Replace(text)) })
	if m.at != before {
		return
	}
	raw := m.text[lines.Start:lines.End]
	switch {
	case images.Replace(lines.Text) == lines.Text:
	case raw == lines.Text:
		m.replace(lines.Start, lines.End, images.Replace(raw))
	default:
		m.replace(lines.Start, lines.End, encode(images.Replace(lines.Text)))
	}
}

// images translates the alternative texts of images in a text, and returns a replacer of the images. It leaves images whose
// alternative text has Markdown signs that could end it.
func (m *markdownFile) images(text string) *strings.Replacer {
	const ends = "[]`<|\\"
	var pairs []string
	if !m.options.Also.Has(document.AlsoAlt) || !strings.Contains(text, "![") {
		return strings.NewReplacer()
	}
	for _, s := range m.parse(text).Spans {
		raw := text[s.Start:s.End]
		alt, rest, isImage := strings.Cut(strings.TrimPrefix(raw, "!["), "](")
		if s.Kind != markup.Markdown || !isImage || !strings.HasPrefix(raw, "![") || strings.ContainsAny(alt, ends) || m.isCode(alt) {
			continue
		}
		before, inner, after := trimmed(alt)
		translation := strings.NewReplacer("]", `\]`, "|", `\|`).Replace(oneLine(m.translate(inner)))
		pairs = append(pairs, raw, "!["+before+translation+after+"]("+rest)
	}
	return strings.NewReplacer(pairs...)
}

// line returns a line of a block without its marks. breaks reports whether it ends in a hard line break.
func (m *markdownFile) line(s text.Segment) (l wrap.Line, breaks bool) {
	raw := m.raw(s)
	l.Start = m.body + s.Start
	l.End = l.Start + len(strings.TrimRight(raw, " \t\r\n"))
	if m.isIndented(s) {
		l.Start += len(mdxMark.FindString(raw))
	}
	l.Start += len(itemMark.FindString(m.in(l)))
	if ends := hardBreak.FindStringSubmatch(raw); ends != nil {
		l.End -= len(ends[1])
		breaks = true
	}
	return l, breaks
}

// isIndented reports whether a line has the mark of a block that MDX knows although it is far indented, in tags.
func (m *markdownFile) isIndented(s text.Segment) bool {
	return m.isMDX && strings.HasSuffix(m.text[:m.body+s.Start], "    ") && mdxMark.MatchString(m.raw(s))
}

// raw returns the text of a segment, with its line end.
func (m *markdownFile) raw(s text.Segment) string { return m.text[m.body+s.Start : m.body+s.Stop] }

var (
	// itemMark matches marks at the start of a text: a checkbox, the name of a footnote or abbreviation. ownLine matches those of pandoc's lines of
	// verse, titles and examples, and gridBorder the border of a table that is drawn, which stays.
	itemMark   = regexp.MustCompile(`^\s*(?:\[[ xX]\]\s+|\[\^[^\]\s]+\]:\s+|\*\[[^\]]+\]:\s+|` + lineMark + `)`)
	ownLine    = regexp.MustCompile(`^\s*` + lineMark)
	gridBorder = regexp.MustCompile(`^\s*\+[-=:+]+\+\s*$`)
	hardBreak  = regexp.MustCompile(`(?:  |(\\))\r?\n$`)
	// directive matches a line without text: a formula, a container, a template, the type of an alert, a link definition.
	directive = regexp.MustCompile(`^\s*(?:\$\$|:::|\{%.*%\}$|\{\{[<%].*[%>]\}\}$|\[![A-Za-z]+\][+-]?$|(?:!!!|\?\?\?)\+? |\{(?::| *[#.])[^{}]*\}$` +
		`|\[[^\]^][^\]]*\]:\s*(?:<[^<>]*>|[^\s<]\S*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?$)`)
	// mayStartLine matches a word that starts no block.
	mayStartLine = regexp.MustCompile("^(?:[\"'(]*\\pL|\\*{1,2}\\pL|\\[\\pL|`[^`]|\\d[^.)]*$|[^\\x00-\\x7F])")
)

// encoder returns a function that writes a translation so that it remains the text of the same block. kind is the block's kind,
// start the byte at which the text starts, and first reports whether it is the first text of the block.
func (m *markdownFile) encoder(kind ast.NodeKind, start int, first bool) func(lines []string) []string {
	ahead := strings.TrimRight(m.text[:start], " \t")
	before := ""
	switch {
	case kind == extended.KindTableCell:
		return func(lines []string) []string {
			cell := escapeBars(lines[0])
			asBefore := cell != "" && strings.HasPrefix(m.text[start:], cell[:1]) && strings.Contains(`<!\`, cell[:1]) // a tag, a picture, an escape
			if strings.HasSuffix(ahead, "|") || asBefore || mayStartLine.MatchString(cell) {
				return []string{cell}
			}
			return []string{markdownSign.ReplaceAllString(cell, `$1\$2`)}
		}
	case kind == ast.KindHeading && strings.HasSuffix(ahead, "#"):
		before = "# "
	case !first:
		before = "x\n"
	}
	return func(lines []string) []string {
		one := strings.Join(lines, " ")
		for _, try := range [][]string{lines, {one}, {markdownSign.ReplaceAllString(one, `$1\$2`)}} {
			if !slices.ContainsFunc(try, directive.MatchString) && m.isText(before, strings.Join(try, "\n")) {
				return try
			}
		}
		return []string{anySign.ReplaceAllString(one, `\$0`)}
	}
}

var (
	// markdownSign matches signs that would start another block, or end a heading.
	markdownSign = regexp.MustCompile(`^(\d*)([!-/:-@\[-` + "`" + `{-~])`)
	anySign      = regexp.MustCompile(`[!-/:-@\[-` + "`" + `{-~]`)
)

// markdownEscapes returns a replacer for translations of a text, which escapes signs that the text has not, but none in the given parts.
func markdownEscapes(text string, parts []string, pairs ...string) *strings.Replacer {
	for _, sign := range []string{"`", "*", "_", "<", "[", "~", "&lt;", "&gt;", "&amp;", "&quot;", "&nbsp;", "&#"} {
		if !strings.Contains(text, sign) {
			pairs = append(pairs, sign, `\`+sign)
		}
	}
	return except(append(parts, markdownEscape.FindAllString(text, -1)...), append(pairs, `\`, `\\`)...)
}

var markdownEscape = regexp.MustCompile(`\\(?s:.)`)

// isText reports whether raw, behind before, is entirely the text of one block.
func (m *markdownFile) isText(before, raw string) bool {
	if raw == "" {
		return true
	}
	root := m.parser.Parse(text.NewReader([]byte(before + raw)))
	n := root.FirstChild()
	if n == nil || n.NextSibling() != nil || (n.Kind() != ast.KindParagraph && n.Kind() != ast.KindHeading) ||
		(n.Kind() == ast.KindHeading) != (before == "# ") || n.Lines().Len() == 0 {
		return false
	}
	last := n.Lines().At(n.Lines().Len() - 1)
	return n.Lines().Len() == strings.Count(strings.TrimPrefix(before, "# ")+raw, "\n")+1 && last.Stop == len(before)+len(raw)
}

// escapeBars escapes bars, which would end a table cell, unless a backslash precedes them directly, however many there are.
func escapeBars(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if text[i] == '|' && (i == 0 || text[i-1] != '\\') {
			out.WriteByte('\\')
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
