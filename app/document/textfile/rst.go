package textfile

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"dragoman/app/text/char"
	"dragoman/app/text/wrap"
)

// rst translates reStructuredText as docutils reads it, with the directives of Sphinx: paragraphs, titles, items, cells and texts
// of directives. Inline marks are tags of the segments.
func rst(p *pass) error {
	f := newRST(p)
	f.findNames()
	return f.run()
}

// newRST returns the reader of a document.
func newRST(p *pass) *rstFile {
	f := &rstFile{pass: p, lines: p.linesOf("\r\n"), termsStay: -1}
	f.columns = make([]int, len(f.lines))
	for i, l := range f.lines {
		raw := p.in(l)
		content := strings.TrimLeft(raw, " \t\v\f")
		for _, c := range raw[:len(raw)-len(content)] {
			if f.columns[i]++; c == '\t' {
				f.columns[i] = (f.columns[i] + 7) / 8 * 8
			}
		}
		f.lines[i] = wrap.Line{Start: l.Start + len(raw) - len(content), End: l.Start + len(strings.TrimRightFunc(raw, unicode.IsSpace))}
		f.lines[i].End = max(f.lines[i].End, f.lines[i].Start)
	}
	return f
}

// rstFile goes through the lines of a document. It builds no tree of blocks: the role of a line follows from its start and its
// neighbours. Lines that stay are the lines of a block that is deeper than a preceding line.
type rstFile struct {
	*pass
	lines   []wrap.Line // without white space at their ends
	columns []int       // column at which each line starts
	next    int         // the next line to read

	referenced, defined map[string]bool // names of references, and of targets
	depth               int             // depth of the current table
	termsStay           int             // the column of a glossary, whose terms are names; -1 outside one
}

// rstText is a text that starts inside a line.
type rstText struct {
	wrap.Line
	column int  // column of the text
	loose  bool // it continues in lines at any column behind that of its mark
	mark   int  // column of the mark before it
}

// run goes through the blocks.
func (f *rstFile) run() error {
	for f.next < len(f.lines) {
		if err := f.block(); err != nil {
			return err
		}
	}
	return nil
}

func (f *rstFile) isBlank(i int) bool {
	return i >= len(f.lines) || f.lines[i].Start == f.lines[i].End
}

// skip leaves the lines that are deeper than column, with blank lines between them.
func (f *rstFile) skip(column int) {
	for f.next < len(f.lines) && (f.isBlank(f.next) || f.columns[f.next] > column) {
		f.looks.Past(1)
		f.next++
	}
}

// block reads the block at the next line.
func (f *rstFile) block() error {
	i := f.next
	f.next++
	f.looks.Past(1)
	if f.isBlank(i) {
		return nil
	}
	t := rstText{Line: f.lines[i], column: f.columns[i], mark: f.columns[i]}
	if t.column <= f.termsStay {
		f.termsStay = -1
	}
	for first := true; ; first = false {
		raw := f.in(t.Line)
		switch {
		case raw == "" || isAdornment(raw) && raw != "::" && !first:
			return nil
		case explicitMark.MatchString(raw):
			return f.explicit(t)
		case strings.HasPrefix(raw, ">>>"):
			for !f.isBlank(f.next) {
				f.next++
			}
			return nil
		case strings.HasPrefix(raw, "__ "):
			f.skip(t.column)
			return nil
		case lineBlockMark.MatchString(raw):
			t.Start += len(lineBlockMark.FindString(raw))
			t.mark = t.column
			return f.paragraph(f.deeper(t))
		case first && (gridTop.MatchString(raw) || simpleTop.MatchString(raw)):
			return f.table(i)
		case first && f.isTitle(i):
			return f.title(i)
		case raw == "::":
			f.literal(t)
			return nil
		case isAdornment(raw):
			return nil
		}
		n, loose, stays := f.marker(raw, i, t)
		if stays {
			f.skip(t.column)
			return nil
		}
		if n == 0 {
			return f.prose(t)
		}
		t.Start, t.mark, t.column, t.loose = t.Start+n, t.column, t.column+rstWidth(raw[:n]), loose
	}
}

var (
	explicitMark  = regexp.MustCompile(`^\.\.(?:\s|$)`)
	lineBlockMark = regexp.MustCompile(`^\|(?:\s+|$)`)
	bulletMark    = regexp.MustCompile(`^[-*+•‣⁃](?:\s+|$)`)
	numberMark    = regexp.MustCompile(`^(?:\(?(?:\d+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+|#)\)|(?:\d+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+|#)\.)(?:\s+|$)`)
	fieldMark     = regexp.MustCompile("^:([^:\\s](?:[^:\\\\]|\\\\.|:[^`\\s])*?):(?:\\s+|$)")
	optionMark    = regexp.MustCompile(`^(?:[-+]\w|(?:--|/)\w[\w-]*)(?:[ =]?(?:[A-Za-z][\w-]*|<[^<>]+>))?(?:, (?:[-+]\w|(?:--|/)\w[\w-]*)(?:[ =]?(?:[A-Za-z][\w-]*|<[^<>]+>))?)*(?:\s{2,}|$)`)
	// dataField matches names of fields whose value is not text.
	dataField = regexp.MustCompile(`(?i)^(?:type(?: .*)?|rtype|vartype|author|authors|contact|organization|address|version|status|date|copyright|revision|tocdepth|orphan|nocomments|nosearch|keywords|github_url|width|height|name|class|target|align|id|license|url)$`)
)

// marker returns the length in bytes of the mark of an item, a field or an option before a text. loose tells how the text
// continues; stays reports that it is data.
func (f *rstFile) marker(raw string, i int, t rstText) (n int, loose, stays bool) {
	if n = len(bulletMark.FindString(raw)); n > 0 {
		return n, false, false
	}
	if n = len(numberMark.FindString(raw)); n > 0 && (f.isBlank(i+1) || f.columns[i+1] > t.column || f.columns[i+1] == t.column && numberMark.MatchString(f.in(f.lines[i+1]))) {
		return n, false, false
	}
	if m := fieldMark.FindStringSubmatch(raw); m != nil {
		return len(m[0]), true, dataField.MatchString(m[1])
	}
	if n = len(optionMark.FindString(raw)); n > 0 && (n < len(raw) || !f.isBlank(i+1) && f.columns[i+1] > t.column) {
		return n, true, false
	}
	return 0, false, false
}

// prose translates a text, which continues in the following lines.
func (f *rstFile) prose(t rstText) error {
	lines := f.gather(t)
	raw := f.in(lines[len(lines)-1])
	deeper := !t.loose && !f.isBlank(f.next) && f.columns[f.next] > t.column
	switch {
	case deeper && f.termsStay >= 0: // terms of a glossary, several of which may share a definition
		return nil
	case deeper && len(lines) == 1: // a term with its definition
		if at := strings.Index(f.in(lines[0]), " : "); at > 0 {
			lines[0].End = lines[0].Start + at
		}
	}
	if err := f.paragraph(lines); err != nil {
		return err
	}
	if strings.HasSuffix(raw, "::") && !strings.HasSuffix(raw, `\::`) {
		f.literal(t)
	}
	return nil
}

// gather reads the lines in which a text continues.
func (f *rstFile) gather(t rstText) []wrap.Line {
	lines, column := []wrap.Line{t.Line}, t.column
	for ; !f.isBlank(f.next); f.next++ {
		if t.loose && len(lines) == 1 {
			column = max(f.columns[f.next], t.mark+1)
		}
		if f.columns[f.next] != column || t.loose && optionLine.MatchString(f.in(f.lines[f.next])) {
			break
		}
		lines = append(lines, f.lines[f.next])
	}
	return lines
}

// deeper reads the lines of a text that are deeper than its mark.
func (f *rstFile) deeper(t rstText) []wrap.Line {
	lines := []wrap.Line{t.Line}
	for ; !f.isBlank(f.next) && f.columns[f.next] > t.mark && !optionLine.MatchString(f.in(f.lines[f.next])); f.next++ {
		lines = append(lines, f.lines[f.next])
	}
	return lines
}

// literal skips the block behind a text that ends with two colons: deeper lines, or lines that start with the same sign.
func (f *rstFile) literal(t rstText) {
	for f.next < len(f.lines) && f.isBlank(f.next) {
		f.next++
	}
	if f.next == len(f.lines) {
		return
	}
	switch c := f.in(f.lines[f.next])[0]; {
	case t.loose && f.columns[f.next] > t.mark:
		f.skip(f.columns[f.next] - 1)
	case f.columns[f.next] > t.column:
		f.skip(t.column)
	case f.columns[f.next] == t.column && isASCIISign(c):
		for !f.isBlank(f.next) && f.in(f.lines[f.next])[0] == c {
			f.next++
		}
	}
}

func isASCIISign(c byte) bool {
	return c > ' ' && c < 0x7f && !char.IsASCIILetter(c) && !char.IsASCIIDigit(c)
}

// isAdornment reports whether a line repeats one sign: above or below a title, or between paragraphs.
func isAdornment(raw string) bool {
	return raw != "" && isASCIISign(raw[0]) && strings.Trim(raw, raw[:1]) == ""
}

// isTitle reports whether a title starts at line i, with or without a line above it.
func (f *rstFile) isTitle(i int) bool {
	raw := f.in(f.lines[i])
	if isAdornment(raw) {
		return len(raw) > 1 && !f.isBlank(i+1) && !f.isBlank(i+2) && f.in(f.lines[i+2]) == raw && !isAdornment(f.in(f.lines[i+1]))
	}
	if f.isBlank(i+1) || f.columns[i+1] != f.columns[i] {
		return false
	}
	below := f.in(f.lines[i+1])
	return isAdornment(below) && (len(below) >= leastRule || len(below) >= rstWidth(raw)) && !bulletMark.MatchString(raw)
}

// title translates a title, and extends the lines above and below it as needed.
func (f *rstFile) title(i int) error {
	above := isAdornment(f.in(f.lines[i]))
	line, end := i, i+1
	if above {
		line, end = i+1, i+2
	}
	f.next = end + 1
	raw := f.in(f.lines[line])
	title, changed, err := f.inline(raw)
	if err != nil || !changed {
		return err
	}
	title = strings.ReplaceAll(escapeStart(title), "\uFDD4", " ")
	was, rule := rstWidth(raw), f.in(f.lines[end])
	inset := f.columns[line] - f.columns[end]
	long := max(len(rule)+rstWidth(title)-was, rstWidth(title)+max(0, inset))
	if name := rstName(raw); f.referenced[name] && !f.defined[name] { // references use the title's old name
		f.defined[name] = true
		start := f.lines[i].Start
		if err := f.replace(start, start, ".. _`"+strings.NewReplacer("`", "", `\`, "").Replace(raw)+"`:"+strings.Repeat(f.lineEnd, 2)+strings.Repeat(" ", f.columns[i])); err != nil {
			return err
		}
	}
	rule = strings.Repeat(rule[:1], max(long, leastRule))
	if above {
		if err := f.replace(f.lines[i].Start, f.lines[i].End, rule); err != nil {
			return err
		}
	}
	if err := f.replace(f.lines[line].Start, f.lines[line].End, title); err != nil {
		return err
	}
	return f.replace(f.lines[end].Start, f.lines[end].End, rule)
}

// leastRule is the minimum length of an adornment that suits any title.
const leastRule = 4

// rstWidth returns the width of a text in columns; ideographs take two.
func rstWidth(text string) (n int) {
	for _, r := range text {
		switch k := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// findNames collects the names of references and targets.
func (f *rstFile) findNames() {
	f.referenced, f.defined = map[string]bool{}, map[string]bool{}
	for _, m := range f.looks.FindAll(referenceName, f.text) {
		f.referenced[rstName(group(f.text, m, 1)+group(f.text, m, 2)+group(f.text, m, 3))] = true
	}
	for _, m := range targetName.FindAllStringSubmatch(f.text, -1) {
		f.defined[rstName(m[1])] = true
	}
}

// group returns the match of a group of a regular expression.
func group(text string, found []int, number int) string {
	if found[2*number] < 0 {
		return ""
	}
	return text[found[2*number]:found[2*number+1]]
}

var (
	referenceName = regexp.MustCompile("`([^`<>]+)`_|<([^`<>]+)_>`|([\\pL\\pN]+(?:[-.+][\\pL\\pN]+)*)_\\b")
	targetName    = regexp.MustCompile("(?m)^[ \t]*\\.\\. _`?([^`:_\r\n][^`:\r\n]*)`?:")
)

// rstName returns the normalized name by which references find a text.
func rstName(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
