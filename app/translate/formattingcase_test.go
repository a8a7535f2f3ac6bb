package translate_test

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// formattingCase is a paragraph with formatting inside of its words.
type formattingCase struct {
	kind string // kind of its formatting, such as "first letter"
	lang string // a code
	// text has elements: b, i, u, c (a colour), a (a link), drop (a drop cap), sup and sub. <mark/> is the target of a
	// link, <note/> refers to a note, and <run/> is where a word processor splits text without a difference in style.
	text string
}

// splits are forms of a formatted word, which has at least six letters. 1 stands for its first letter, 9 for the last, 2 and 3
// for the halves of the rest, 0 for the whole word.
var splits = []struct{ kind, form string }{
	{"first letter", "<b>1</b>239"}, {"first letter", "<i>1</i>239"}, {"last letter", "123<b>9</b>"},
	{"middle", "1<b>2</b>39"}, {"middle", "12<i>3</i>9"},
	{"beside a link", "<a>0</a>s"}, {"beside a link", "un<a>0</a>"},
	{"colour", "<c>12</c>39"}, {"colour", "12<c>39</c>"},
	{"two styles", "<b>12</b><i>39</i>"},
	{"nested", "<b><i>1</i></b>239"}, {"nested", "<b>12<i>39</i></b>"}, {"nested in a link", "<a><b>1</b>239</a>"},
	{"over words", "<b>0 w</b>ord"}, {"over words", "wo<b>rd 0</b>"},
	{"spaces at edges", "<b>0 </b>"}, {"spaces at edges", "<i> 0</i>"}, {"spaces at edges", "<b> 12</b>39"},
	{"runs", "12<run/>39"}, {"runs", "1<run/>2<run/>39"},
	{"soft hyphen", "12\u00ad39"}, {"soft hyphen", "<b>12\u00ad</b>39"},
	{"zero-width space", "12\u200b39"}, {"zero-width space", "12\u200b<b>39</b>"},
	{"mark", "12<mark/>39"}, {"note", "0<note/>"}, {"note", "<b>1</b>239<note/>"},
}

// splitSentences mark the word to format by brackets. If a form begins or ends with a space, it includes the space beside the
// brackets.
var splitSentences = []string{
	"The old [teacher] waits at the station.",
	"We wrote a long [letter] about the garden.",
	"Nobody could find the [kitchen] last night.",
	"She said that the [weather] was very bad.",
	"My brother bought an [expensive] car yesterday.",
	"[Children] play in the street every day.",
	"Please bring me the [newspaper].",
	"They do not like the [mountain], but they love the sea.",
}

// otherFormatting has the cases that the tables do not produce.
//
//go:embed testdata/formatting.txt
var otherFormatting string

// formattingCases returns all cases. Each sentence has each form once, except italics after a space at its beginning.
func formattingCases() (list []formattingCase) {
	for i, sentence := range splitSentences {
		before, rest, _ := strings.Cut(sentence, "[")
		word, after, _ := strings.Cut(rest, "]")
		for _, split := range splits {
			form, b, a := splitWord(split.form, word), before, after
			if strings.Contains(form, "> ") {
				b = strings.TrimSuffix(b, " ")
			}
			if strings.Contains(form, " </") {
				a = strings.TrimPrefix(a, " ")
			}
			if i == 0 || !strings.HasPrefix(b+form, "<i> ") {
				list = append(list, formattingCase{split.kind, "en", b + form + a})
			}
		}
	}
	for line := range strings.Lines(otherFormatting) {
		if columns := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 3); len(columns) == 3 {
			list = append(list, formattingCase{columns[0], columns[1], columns[2]})
		}
	}
	return list
}

// splitWord writes a word in a form.
func splitWord(form, word string) string {
	n := len(word)
	if form[0] != '<' && form[0] > '9' {
		word = strings.ToLower(word)
	}
	return strings.NewReplacer("0", word, "1", word[:1], "2", word[1:n/2], "3", word[n/2:n-1], "9", word[n-1:]).Replace(form)
}

// together returns the parts of a case that must stay together, as canonical writes them.
func (c formattingCase) together() (list []string) {
	for _, m := range regexp.MustCompile(`\{(.*?)\}`).FindAllStringSubmatch(c.text, -1) {
		list = append(list, strings.NewReplacer("<sup>", "^(", "</sup>", ")", "<sub>", "_(", "</sub>", ")").Replace(m[1]))
	}
	return list
}

func (c formattingCase) String() string { return fmt.Sprintf("%s %s %q", c.lang, c.kind, c.text) }

// formatted is the text and formatting of a case in a file.
type formatted struct {
	runs   []formattedRun
	tags   []string // all tags in order; nil for formats without tags
	nested bool     // each tag closes the last one opened
}

// formattedRun is a text with the elements around it, or a point, which is an element without text.
type formattedRun struct {
	text  string
	marks []string // the outermost first
	point string
}

// add adds a text.
func (p *formatted) add(text string, marks []string) {
	if n := len(p.runs) - 1; n >= 0 && p.runs[n].point == "" && slices.Equal(p.runs[n].marks, marks) {
		p.runs[n].text += text
	} else if text != "" {
		p.runs = append(p.runs, formattedRun{text: text, marks: slices.Clone(marks)})
	}
}

func (p formatted) text() (text string) {
	for _, r := range p.runs {
		text += r.text
	}
	return text
}

// canonical returns the text, with raised text as ^(…) and lowered text as _(…).
func (p formatted) canonical() string {
	var out strings.Builder
	before := ""
	for _, r := range append(p.texts(), formattedRun{}) {
		if sign := r.raised(); sign != before {
			if before != "" {
				out.WriteString(")")
			}
			if sign != "" {
				out.WriteString(sign + "(")
			}
			before = sign
		}
		out.WriteString(r.text)
	}
	return out.String()
}

// texts returns the runs with text.
func (p formatted) texts() []formattedRun {
	return slices.DeleteFunc(slices.Clone(p.runs), func(r formattedRun) bool { return r.text == "" })
}

// raised returns ^ for raised text, _ for lowered text, and "" otherwise.
func (r formattedRun) raised() string {
	for _, m := range r.marks {
		if sign := map[string]string{"sup": "^", "sub": "_"}[strings.Trim(m, "<>")]; sign != "" {
			return sign
		}
	}
	return ""
}

// marks returns the sorted elements around words.
func (p formatted) marks() (list []string) {
	for _, r := range p.runs {
		if strings.ContainsFunc(r.text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			list = append(list, r.marks...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p formatted) points() (list []string) {
	for _, r := range p.runs {
		if r.point != "" {
			list = append(list, r.point)
		}
	}
	slices.Sort(list)
	return list
}

// doubledSpace matches two spaces, and a space before a sign that has none in any language.
var doubledSpace = regexp.MustCompile(`[ \x{00A0}\x{202F}]{2}|[\pL\pN] [,.)]|\( `)

// damage describes the faults of a translated case, given the source in the same format. It does not know the words: it compares
// tags, styles, spaces, ends of words and the parts that must stay together.
func (c formattingCase) damage(source, result formatted) (damage []string) {
	text, before := result.text(), source.text()
	note := func(wrong bool, format string, args ...any) {
		if wrong {
			damage = append(damage, fmt.Sprintf(format, args...))
		}
	}
	note(source.nested && !result.nested, "not nested: %q", result.tags)
	if source.tags == nil {
		lost := without(source.marks(), result.marks())
		note(len(lost) > 0, "nothing is in %q any more", lost)
	} else {
		note(!slices.Equal(slices.Sorted(slices.Values(source.tags)), slices.Sorted(slices.Values(result.tags))), "tags: %q, not %q", result.tags, source.tags)
	}
	fresh := without(result.marks(), source.marks())
	note(len(fresh) > 0, "something is in %q", fresh)
	note(!slices.Equal(source.points(), result.points()), "points: %q, not %q", result.points(), source.points())
	note(len(result.torn()) > 0, "words are torn: %q", result.torn())
	note(doubledSpace.MatchString(text) && !doubledSpace.MatchString(before), "a space too many")
	note(text != strings.TrimSpace(text) && before == strings.TrimSpace(before), "spaces at an end")
	for _, sign := range []string{"*", "]("} {
		note(strings.Count(text, sign) != strings.Count(before, sign), "marks in the text")
	}
	for _, kept := range c.together() {
		note(strings.Count(source.canonical(), kept) != strings.Count(result.canonical(), kept), "%s is not whole", kept)
	}
	return damage
}

// without returns the items of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool { return slices.Contains(b, x) })
}

// torn returns the places inside of words where a tag stands or a style ends. It allows a letter in a frame of its own, raised
// and lowered text, a capital after a small letter, and adjacent links.
func (p formatted) torn() (list []string) {
	for texts := p.texts(); len(texts) > 1; texts = texts[1:] {
		a, b := texts[0], texts[1]
		x, _ := utf8.DecodeLastRuneInString(a.text)
		y, _ := utf8.DecodeRuneInString(b.text)
		exempt := slices.Contains(a.marks, "frame") || a.raised() != "" || b.raised() != "" || unicode.IsLower(x) && unicode.IsUpper(y) ||
			len(b.links()) > 0 && len(without(a.links(), b.links())) > 0
		if unicode.In(x, unicode.Latin) && unicode.In(y, unicode.Latin) && !exempt {
			list = append(list, a.text+"|"+b.text)
		}
	}
	return list
}

func (r formattedRun) links() []string {
	return slices.DeleteFunc(slices.Clone(r.marks), func(m string) bool { return !strings.HasPrefix(strings.TrimPrefix(m, "<"), "a ") })
}
