package textfile

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"

	"dragoman/app/text/wrap"
)

var (
	fluentEntry   = regexp.MustCompile(`^(-?[a-zA-Z][\w-]*)[ \t]*=[ \t]*`)
	fluentPart    = regexp.MustCompile(`^[ \t]+\.[a-zA-Z][\w-]*[ \t]*=[ \t]*`)
	fluentVariant = regexp.MustCompile(`^(\*?)\[[ \t]*([\w.-]+)[ \t]*\][ \t]*`)
	fluentCode    = regexp.MustCompile(`^\s+\.(?:style|accesskey|key|keycode|\w*commandkey)\b`)
)

// fluent translates messages of Fluent, their attributes, and the variants of selections. Names of brands stay, and attributes of terms,
// by which messages select.
func fluent(p *pass) {
	p.formatter = fluentMessage
	start, end, stays := -1, 0, true // of the current value, and whether its entry stays
	isTerm, isCode := false, false   // whether the current entry is a term, and whether the current attribute stays
	flush := func() {
		if start >= 0 && !stays && !isCode {
			p.fluentValue(start, end, 0)
		}
	}
	for _, l := range p.linesOf("\r\n") {
		raw := p.in(l)
		mark, isBrand := fluentPart.FindString(raw), stays
		m := fluentEntry.FindStringSubmatch(raw)
		if m != nil {
			isTerm = strings.HasPrefix(m[1], "-")
			mark, isBrand = m[0], isTerm && strings.Contains(m[1], "brand")
		}
		isOther := raw != "" && !strings.ContainsAny(raw[:1], " \t}") // a comment, or no Fluent
		if mark != "" || isOther {
			flush()
			start, stays, isCode = l.Start+len(mark), isBrand || m == nil && isOther, isTerm && m == nil || fluentCode.MatchString(mark)
		}
		end = l.End
	}
	flush()
}

// fluentVariants is a selection: the bytes [start, end) of a text.
type fluentVariants struct {
	start, end int
	selector   string
	list       []fluentForm
}

// fluentForm is a variant with the range of its text.
type fluentForm struct {
	key        string
	isDefault  bool
	start, end int
}

// selection returns the first selection in a text that is not in another one, or nil.
func (p *pass) selection(text string) *fluentVariants {
	var s fluentVariants
	var open []bool // braces: whether there is text within, not an expression
	starts := true  // a line
	for i := 0; i < len(text); i++ {
		top := len(open) - 1
		switch c := text[i]; {
		case top >= 0 && !open[top] && c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case c == '{':
			if open = append(open, false); top < 0 {
				s = fluentVariants{start: i}
			}
		case c == '}' && top >= 0:
			if open = open[:top]; top == 0 && len(s.list) > 0 {
				s.list[len(s.list)-1].end, s.end = i, i+1
				return &s
			}
		case top >= 0 && !open[top] && strings.HasPrefix(text[i:], "->"):
			if open[top] = true; top == 0 {
				s.selector = strings.TrimSpace(text[s.start+1 : i])
			}
		case top == 0 && open[0] && starts && (c == '[' || c == '*'):
			if m := fluentVariant.FindStringSubmatchIndex(text[i:min(len(text), i+maxFluentKey)]); m != nil {
				if n := len(s.list); n > 0 {
					s.list[n-1].end = i
				}
				s.list = append(s.list, fluentForm{text[i+m[4] : i+m[5]], m[3] > m[2], i + m[1], 0})
				i += m[1] - 1
			}
		}
		if i < len(text) && strings.IndexByte(" \t\r", text[i]) < 0 {
			starts = text[i] == '\n'
		}
	}
	return nil
}

// maxFluentKey is the maximum length of the key of a variant, maxFluentForms that of the texts that a value becomes, and
// maxDepthFluent the maximum depth of selections.
const maxFluentKey, maxFluentForms, maxDepthFluent = 200, 64, 10

// fluentValue translates the value in bytes [start, end). A selection with text around it becomes one of whole texts.
func (p *pass) fluentValue(start, end, depth int) {
	text := p.text[start:end]
	s := p.selection(text)
	switch {
	case s == nil:
		p.fluentText(start, end)
		return
	case depth == maxDepthFluent:
		p.refuse(nil, "line %d has more than %d selections in each other", p.lineNumber(start), maxDepthFluent)
	}
	isWhole := strings.TrimSpace(text[:s.start]+text[s.end:]) == ""
	if forms := p.fluentForms(s, text); isWhole && slices.Equal(forms, s.list) {
		for _, form := range s.list {
			p.fluentValue(start+form.start, start+form.end, depth+1)
		}
		return
	}
	left := maxFluentForms
	if made, isChanged := p.fluentMade(text, &left); isChanged {
		from := strings.TrimLeft(text, " \t\r\n")
		p.replace(end-len(from), end, made+from[len(strings.TrimRight(from, " \t\r\n")):])
	}
}

// fluentForms returns the variants of a selection that the target language has.
func (p *pass) fluentForms(s *fluentVariants, text string) []fluentForm {
	rules := plural.Cardinal
	if strings.Contains(s.selector, "ordinal") {
		rules = plural.Ordinal
	}
	var keys []string
	isPlural := false
	for _, f := range s.list {
		isCategory := slices.Contains(pluralNames, f.key)
		isPlural = isPlural || isCategory && f.key != "other"
		if keys = append(keys, f.key); !isCategory && strings.Trim(f.key, "0123456789.") != "" {
			return s.list
		}
	}
	made := madeForms(p.options.To, rules, keys, func(i int) string { return text[s.list[i].start:s.list[i].end] }, "1",
		func(string) bool { return false })
	if made == nil || !isPlural {
		return s.list
	}
	var forms []fluentForm
	for _, m := range made {
		from := s.list[m.from]
		forms = append(forms, fluentForm{m.category, s.list[m.at].isDefault && m.category == keys[m.at], from.start, from.end})
	}
	return forms
}

// fluentMade returns the translation of a text with selections: one selection of whole texts. The text stays if it becomes more
// than left texts.
func (p *pass) fluentMade(text string, left *int) (made string, isChanged bool) {
	if *left--; *left < 0 {
		return text, false
	}
	s := p.selection(text)
	if s == nil {
		text = oneLine(strings.TrimSpace(text))
		if p.isCode(text) {
			return text, false
		}
		translation := p.translate(text)
		return oneLine(translation), translation != text
	}
	var out strings.Builder
	forms := p.fluentForms(s, text)
	isChanged = !slices.Equal(forms, s.list)
	out.WriteString("{ " + s.selector + " ->")
	for _, f := range forms {
		form, changed := p.fluentMade(text[:s.start]+strings.TrimSpace(text[f.start:f.end])+text[s.end:], left)
		if *left < 0 {
			return text, false
		}
		mark := "\n    ["
		if f.isDefault {
			mark = "\n   *["
		}
		out.WriteString(mark + f.key + "] " + strings.ReplaceAll(form, "\n", "\n    "))
		isChanged = isChanged || changed
	}
	indent := strings.Trim(text[len(strings.TrimRight(text[:s.end-1], " \t\r\n")):s.end-1], "\r\n")
	return out.String() + "\n" + indent + "}", isChanged
}

// fluentText translates the paragraphs and items of lists in bytes [start, end). An item may begin with a sign in braces: {"*"}.
func (p *pass) fluentText(start, end int) {
	var lines []wrap.Line
	for l := range wrap.Lines(p.text[start:end], "\r\n") {
		l.Start, l.End = l.Start+start, l.End+start
		text := strings.TrimSpace(p.in(l))
		if text == "" || wrap.StartsItem(text) || strings.HasPrefix(text, `{"`) {
			p.fluentLines(lines)
			lines = nil
		}
		if text != "" {
			l.Start += strings.Index(p.in(l), text)
			lines = append(lines, wrap.Line{Start: l.Start, End: l.Start + len(text)})
		}
	}
	p.fluentLines(lines)
}

// fluentLines translates a paragraph, whose lines are as wide as before.
func (p *pass) fluentLines(lines []wrap.Line) {
	if len(lines) == 0 {
		return
	}
	w := wrap.Of(p.looks, p.text, lines)
	if p.isCode(w.Text) {
		return
	}
	p.paragraph(w, func(text string) string {
		lines := w.Fill(p.looks, text, false, func(word string) bool { return !strings.ContainsAny(word[:1], ".[*}") })
		if first := lines[0]; strings.ContainsAny(first[:min(1, len(first))], ".[*}#") {
			lines[0] = `{"` + first[:1] + `"}` + first[1:]
		}
		return strings.Join(lines, w.Between)
	})
}
