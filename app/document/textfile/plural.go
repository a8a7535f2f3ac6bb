package textfile

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"

	"dragoman/app/text/language"
	"dragoman/app/text/markup"
)

// pluralNames are the names of CLDR's categories, in its order.
var pluralNames = []string{"zero", "one", "two", "few", "many", "other"}

// withoutPlural are the languages with a single category. All other languages of which CLDR knows no more than one are unknown to it.
const withoutPlural = " bm bo dz id ig ii ja jv kde kea km ko lkt lo ms my sah ses sg su th to vi wo yo yue zh "

// pluralsOf returns the categories of a language, or nil if CLDR has no rules for it. onlyOne reports whether the category one
// contains no whole number but 1. The form of whole millions is not among them, as most programs show other without it.
func pluralsOf(code string, rules *plural.Rules) (categories []string, onlyOne bool) {
	formOf := language.Plurals(code, rules)
	if formOf == nil {
		return nil, false
	}
	name := func(n int, fraction string) string {
		return pluralNames[(formOf(n, fraction)+plural.Many)%(plural.Many+1)]
	}
	seen := map[string]bool{}
	onlyOne = true
	for _, n := range pluralSamples {
		seen[name(n, "")], seen[name(n, "5")] = true, true
		onlyOne = onlyOne && (n == 1 || name(n, "") != "one")
	}
	categories = slices.DeleteFunc(slices.Clone(pluralNames), func(name string) bool { return !seen[name] })
	if len(categories) == 1 && rules == plural.Cardinal && !strings.Contains(withoutPlural, " "+language.Base(code)+" ") {
		return nil, false
	}
	return categories, onlyOne
}

// hasMillions reports whether a language has a category for whole millions alone.
func hasMillions(code string) bool {
	formOf := language.Plurals(code, plural.Cardinal)
	return formOf != nil && formOf(1_000_000, "") == plural.Many && formOf(1000, "") != plural.Many
}

// pluralSamples are the numbers by which rules are compared.
var pluralSamples = func() (list []int) {
	for n := range 201 {
		list = append(list, n)
	}
	return append(list, 1000)
}()

// forms are the plural forms of a text.
type forms struct {
	rules *plural.Rules // cardinal if nil
	comma string        // between two forms, before white space
	exact string        // the category of a form for 1 alone, or ""
	keep  bool          // forms that the target language does not have stay
	// strict: programs show another language where a form is missing, also that of whole millions
	strict bool
	isOld  bool // the two forms of i18next 3
	list   []form
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
	// placeholder matches a placeholder in a plural form, of which one may be the number.
	placeholder = regexp.MustCompile(`#|:count\b|%(?:\d+\$)?[\d.,+-]*l{0,2}[diufs@]|%\(\w+\)|%L?n\b|%L?\d|%arg\b|%count%|\{\{-?[\s.]*\w+|\{\s*[\w-]*[},]|\{[^{}]*\$[\w-]+|xliff:g`)
	otherName   = regexp.MustCompile(`^other|other["'<]`)
)

// lacksNumber reports whether a form for one lacks a placeholder of the form for other: the number.
func lacksNumber(one, other string) bool {
	for _, found := range placeholder.FindAllString(other, -1) {
		if strings.Count(one, found) < strings.Count(other, found) {
			return true
		}
	}
	return false
}

// madeForm is a form of the target language: its category, the form of which it is made, and the one in whose place it stands.
type madeForm struct {
	category string
	from, at int
}

// madeForms returns the forms that a language has, of forms with the given categories, or nil if it is not known. A missing one is
// made of other, as is one if it lacks the number and is used for more than 1: it is then only for 1, unless exact is "". Forms that the
// language does not have go, except those that may stay.
func madeForms(to string, rules *plural.Rules, categories []string, raw func(i int) string, exact string, mayStay func(category string) bool) (list []madeForm) {
	wanted, onlyOne := pluralsOf(to, cmp.Or(rules, plural.Cardinal))
	other := slices.Index(categories, "other")
	if len(wanted) == 0 || other < 0 {
		return nil
	}
	for i, category := range categories {
		from := i
		switch {
		case slices.Contains(pluralNames, category) && !slices.Contains(wanted, category) && !mayStay(category):
			continue
		case category == "one" && !onlyOne && lacksNumber(raw(i), raw(other)):
			if from = other; exact != "" && !slices.Contains(categories, exact) {
				list = append(list, madeForm{exact, i, i})
			}
		case i == other:
			for _, name := range wanted {
				if !slices.Contains(categories, name) {
					list = append(list, madeForm{name, i, i})
				}
			}
		}
		list = append(list, madeForm{category, from, i})
	}
	return list
}

// in returns the forms in text for a language; see [madeForms]. The form zero stays, which some programs use for 0.
func (f *forms) in(to, text string) string {
	if f.isOld {
		return f.numbered(to, text)
	}
	categories := make([]string, len(f.list))
	for i, form := range f.list {
		categories[i] = form.category
	}
	raw := func(i int) string { return text[f.list[i].start:f.list[i].end] }
	hasMillions := f.strict && f.rules == nil && hasMillions(to)
	list := madeForms(to, f.rules, categories, raw, f.exact,
		func(category string) bool { return f.keep || category == "zero" || hasMillions && category == "many" })
	other := slices.Index(categories, "other")
	if list == nil || !otherName.MatchString(raw(other)) { // written with escapes
		return text
	}
	if hasMillions && !slices.Contains(categories, "many") {
		at := slices.IndexFunc(list, func(m madeForm) bool { return m.category == "other" })
		list = slices.Insert(list, at, madeForm{"many", other, other})
	}
	head := text[:f.list[0].start]
	between := f.comma + head[len(strings.TrimRight(head, " \t\r\n")):]
	var out strings.Builder
	out.WriteString(head)
	for i, made := range list {
		form := raw(made.from)
		if was := categories[made.from]; was != made.category {
			at := otherName.FindStringIndex(form)
			if was == "one" {
				at = []int{0}
			}
			form = form[:at[0]] + made.category + form[at[0]+len(was):]
		}
		switch {
		case i == 0:
		case list[i-1].at < made.at:
			out.WriteString(text[f.list[made.at-1].end:f.list[made.at].start])
		default:
			out.WriteString(between)
		}
		out.WriteString(form)
	}
	return out.String() + text[f.list[len(f.list)-1].end:]
}

// numbered returns the forms key and key_plural of i18next 3 for a language: with other than two forms, key_0, key_1 and so on beside
// the key.
func (f *forms) numbered(to, text string) string {
	rule := ruleFor("i18next", to)
	if rule == nil {
		return text
	}
	out, other := text[:f.list[0].end], text[f.list[1].start:f.list[1].end]
	name := strings.Index(other, `_plural"`)
	singular, plural := out[f.list[0].start+name:], other[name+len("_plural"):]
	form := func(i int) string {
		if rule.ofSingular(i, singular, plural) {
			return singular
		}
		return plural
	}
	if rule.forms == 2 {
		return out[:f.list[0].start+name] + form(0) + text[f.list[0].end:]
	}
	for i := range rule.forms {
		out += fmt.Sprintf("%s%s_%d%s", text[f.list[0].end:f.list[1].start], other[:name], i, form(i))
	}
	return out + text[f.list[1].end:]
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
		if f.rules == nil && !strings.Contains(text[m.Start:m.Branches[0][0]], "offset:") {
			f.exact = "=1"
		}
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

// alternatives translates the plural forms of Laravel, Symfony and vue-i18n in a text, one|other, each by itself. Laravel shows the first of
// two forms where a language has more, unless each has its numbers: {0} none|[1,*] some. With spaces beside the sign, texts without a number
// are no forms: Home | Our house.
func (p *pass) alternatives(text string) string {
	var list []string
	at, isFixed := 0, false // whether the number of forms stays
	for _, m := range alternative.FindAllStringIndex(text, -1) {
		if text[m[0]:m[1]] == "|" {
			list = append(list, text[at:m[0]])
			at = m[1]
		}
	}
	if list = append(list, text[at:]); len(list) == 1 {
		return p.segment(text)
	}
	for i, raw := range list {
		head := laravelNumbers.FindString(raw)
		before, inner, after := trimmed(raw[len(head):])
		isFixed = isFixed || head != "" || before+after != "" && !strings.Contains(text, ":count") && !strings.Contains(text, "%count%")
		if hasLetter(inner) {
			inner = p.segment(inner)
		}
		if p.isPiped {
			inner = strings.ReplaceAll(inner, "|", "｜")
		}
		list[i] = head + before + inner + after
	}
	if rule := ruleFor("Laravel", p.options.To); p.isPiped && len(list) == 2 && !isFixed && rule != nil {
		singular, plural := list[0], list[1]
		list = slices.Repeat([]string{plural}, max(rule.forms, 2))
		if rule.one >= 0 && rule.ofSingular(rule.one, singular, plural) {
			list[rule.one] = singular
		}
	}
	return strings.Join(list, "|")
}

// alternative matches the sign between two forms, or what contains such a sign.
var alternative = regexp.MustCompile("\\{[^{}]*\\}|`[^`]*`|\\|+")

// pipedCount matches a sign between two forms of which one has the number of Laravel or Symfony.
var pipedCount = regexp.MustCompile(`(?::count\b|%count%)[^"'\n|]*\||\|[^"'\n|]*(?::count\b|%count%)`)

// laravelNumbers matches the numbers of a form.
var laravelNumbers = regexp.MustCompile(`^\s*(?:\{\d+\}|[\[\]](?:-?\d+|\*|-Inf),(?:-?\d+|\*|Inf)[\[\]])\s*`)
