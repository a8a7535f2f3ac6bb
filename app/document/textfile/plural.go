package textfile

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"dragoman/app/text/markup"
)

// pluralNames are the names of CLDR's categories, in its order.
var pluralNames = []string{"zero", "one", "two", "few", "many", "other"}

// withoutPlural are the languages with a single category. All other languages of which CLDR knows no more than one are unknown to it.
const withoutPlural = " bm bo dz id ig ii ja jv kde kea km ko lkt lo ms my sah ses sg su th to vi wo yo yue zh "

// pluralsOf returns the categories of a language, or nil if CLDR has no rules for it. onlyOne reports whether the category one
// contains no whole number but 1.
func pluralsOf(code string, rules *plural.Rules) (categories []string, onlyOne bool) {
	tag, err := language.Parse(code)
	if err != nil {
		return nil, false
	}
	name := func(n, digits, decimals int) string {
		return pluralNames[(rules.MatchPlural(tag, n, digits, digits, decimals, decimals)+plural.Many)%(plural.Many+1)]
	}
	seen := map[string]bool{}
	onlyOne = true
	for _, n := range pluralSamples {
		seen[name(n, 0, 0)], seen[name(n, 1, 5)] = true, true // also n.5
		onlyOne = onlyOne && (n == 1 || name(n, 0, 0) != "one")
	}
	categories = slices.DeleteFunc(slices.Clone(pluralNames), func(name string) bool { return !seen[name] })
	if base, _ := tag.Base(); len(categories) == 1 && rules == plural.Cardinal && !strings.Contains(withoutPlural, " "+base.String()+" ") {
		return nil, false
	}
	return categories, onlyOne
}

// pluralSamples are the numbers by which rules are compared.
var pluralSamples = func() (list []int) {
	for n := range 201 {
		list = append(list, n)
	}
	return append(list, 1000, 1_000_000)
}()

// forms are the plural forms of a text.
type forms struct {
	rules *plural.Rules // cardinal if nil
	comma string        // between two forms, before white space
	exact bool          // =1 is a form, too
	keep  bool          // forms that the target language does not have stay
	list  []form
}

// form is a plural form with its category, and its range in the document, or in what is written.
type form struct {
	category   string
	start, end int
}

// write writes bytes [start, end) of the document with the forms that the target language has. translate translates form i. Nothing
// changes without forms, or behind start.
func (f *forms) write(p *pass, start, end int, translate func(i int)) {
	if len(f.list) == 0 || start < p.at {
		return
	}
	p.copy(start)
	var made strings.Builder
	out := p.out
	p.out = &made
	defer func() { p.out = out }()
	for i := range f.list {
		form := &f.list[i]
		p.copy(form.start)
		form.start = made.Len()
		translate(i)
		p.copy(form.end)
		form.end = made.Len()
	}
	p.copy(end)
	_, err := io.WriteString(out, f.in(p.options.To, made.String()))
	p.looks.Check(err)
}

var (
	// pluralNumber matches a number in a plural form.
	pluralNumber = regexp.MustCompile(`#|%(?:\d+\$)?[\d.,+-]*l{0,2}[diufs@]|%\(\w+\)|%L?n\b|%L?\d|\{\{|\{\w*[},]|xliff:g`)
	otherName    = regexp.MustCompile(`^other|other["'<]`)
)

// in returns the forms in text for a language: missing ones are made of the category other, as is the category one if it lacks the
// number and is used for more than 1. Forms that the language does not have go, except zero, which some programs use for 0.
func (f *forms) in(language, text string) string {
	rules := f.rules
	if rules == nil {
		rules = plural.Cardinal
	}
	wanted, onlyOne := pluralsOf(language, rules)
	k := slices.IndexFunc(f.list, func(f form) bool { return f.category == "other" })
	if len(wanted) == 0 || k < 0 {
		return text
	}
	other := text[f.list[k].start:f.list[k].end]
	at := otherName.FindStringIndex(other)
	if at == nil { // written with escapes
		return text
	}
	named := func(category string) string { return other[:at[0]] + category + other[at[0]+len("other"):] }
	head, last := text[:f.list[0].start], f.list[len(f.list)-1].end
	between := f.comma + head[len(strings.TrimRight(head, " \t\r\n")):]
	var out strings.Builder
	out.WriteString(head)
	before := ""
	add := func(separator, raw string) {
		out.WriteString(before + raw)
		before = separator
	}
	for i, each := range f.list {
		raw := text[each.start:each.end]
		if !f.keep && each.category != "zero" && slices.Contains(pluralNames, each.category) && !slices.Contains(wanted, each.category) {
			continue
		}
		if i > 0 && out.Len() > len(head) {
			before = text[f.list[i-1].end:each.start]
		}
		switch {
		case each.category == "one" && !onlyOne && pluralNumber.MatchString(other) && !pluralNumber.MatchString(raw):
			if f.exact && !slices.ContainsFunc(f.list, func(f form) bool { return f.category == "=1" }) {
				add(between, "=1"+strings.TrimPrefix(raw, "one"))
			}
			raw = named("one")
		case i == k:
			for _, name := range wanted {
				if !slices.ContainsFunc(f.list, func(f form) bool { return f.category == name }) {
					add(between, named(name))
				}
			}
		}
		add(between, raw)
	}
	return out.String() + text[last:]
}

// maxMessages is the maximum depth of messages in messages whose forms are made.
const maxMessages = 4

// icuPlurals returns a translation with the categories of the target language in its ICU messages.
func (p *pass) icuPlurals(text string, depth int) string {
	if depth == maxMessages || !strings.Contains(text, "{") || !icuPlural.MatchString(text) {
		return text
	}
	format := markup.Text
	if strings.Contains(text, "<") {
		format = markup.XML
	}
	s, err := markup.Parse(p.ctx, text, format)
	p.looks.Check(err)
	var out strings.Builder
	at := 0
	for _, m := range s.Messages() {
		if text[m.Branches[0][0]-1] != '{' { // ranges
			continue
		}
		f, made := forms{}, strings.Builder{}
		sort := icuPlural.FindStringSubmatch(text[m.Start:m.Branches[0][0]])
		if sort != nil && sort[1] == "selectordinal" {
			f.rules = plural.Ordinal
		}
		f.exact = f.rules == nil && !strings.Contains(text[m.Start:m.Branches[0][0]], "offset:")
		out.WriteString(text[at:m.Start])
		at = m.Start
		for i, b := range m.Branches {
			before := strings.TrimRight(text[at:b[0]-1], " \t\r\n")
			name := at + strings.LastIndexAny(before, ", \t\r\n") + 1
			made.WriteString(text[at:name])
			f.list = append(f.list, form{category: strings.TrimSpace(text[name : b[0]-1]), start: made.Len()})
			made.WriteString(text[name:b[0]] + p.icuPlurals(text[b[0]:b[1]], depth+1) + "}")
			f.list[i].end, at = made.Len(), b[1]+1
		}
		made.WriteString(text[at:m.End])
		if at = m.End; sort != nil {
			out.WriteString(f.in(p.options.To, made.String()))
		} else {
			out.WriteString(made.String())
		}
	}
	return out.String() + text[at:]
}

// icuPlural matches the keyword of an ICU message.
var icuPlural = regexp.MustCompile(`,\s*(plural|selectordinal)\s*,`)
