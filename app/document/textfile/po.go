package textfile

import (
	"fmt"
	"regexp"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/language"
	"dragoman/app/text/wrap"
)

// po translates gettext's PO and POT: a msgid into its msgstr if that is empty.
func po(p *pass) {
	f := &poFile{pass: p, usual: formatterOf(p.text)}
	for l := range wrap.Lines(p.text, "\r\n") {
		f.line(l)
	}
	f.finish()
}

// poFile goes through the entries of a catalogue.
type poFile struct {
	*pass
	entry  []poField    // of the current entry
	header bool         // whether the header has been read
	flags  string       // of the next entry
	marks  wrap.Line    // the last line of flags
	usual  formatter    // of entries without a flag for it
	rule   *gettextRule // of the plural forms of the target; nil if it is not known
}

// poField is a keyword with its strings.
type poField struct {
	keyword    string
	start, end int // range of the strings, with their quotes
	texts      []string
}

func (f poField) text() string { return strings.Join(f.texts, "") }

var (
	poLine = regexp.MustCompile(`^\s*(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?)\s*)?"((?:[^"\\]|\\.|"\s*")*)"\s*$`)
	// poJoint matches the quotes between two strings on a line, or captures an escape.
	poJoint       = regexp.MustCompile(`(\\.)|"\s*"`)
	bracedFormat  = regexp.MustCompile(`[ ,](?:python-brace|csharp|rust)-format\b`)
	withoutFormat = regexp.MustCompile(`\bno-\w+-format\b`)
	poCredits     = regexp.MustCompile(`^translator[-_]credits$`)
)

// line reads a line. A comment, an empty line and the first keyword of an entry end the previous one.
func (f *poFile) line(l wrap.Line) {
	raw := f.in(l)
	if trimmed := strings.TrimSpace(raw); trimmed == "" || trimmed[0] == '#' {
		f.finish()
		switch {
		case trimmed == "":
			f.flags = ""
		case strings.HasPrefix(trimmed, "#,"):
			f.flags += trimmed
			f.marks = l
		}
		return
	}
	m := poLine.FindStringSubmatchIndex(raw)
	if m == nil {
		f.refuse(nil, `line %d of the catalogue is neither a comment nor a keyword with a text in quotes, such as msgid "Hello"`, f.lineNumber(l.Start))
	}
	joined := poJoint.ReplaceAllString(raw[m[4]:m[5]], "$1")
	start, end, text := l.Start+m[4]-1, l.Start+m[5]+1, cEscape.ReplaceAllStringFunc(joined, readC)
	if m[2] < 0 {
		if len(f.entry) == 0 {
			f.refuse(nil, "the text in line %d of the catalogue has no keyword before it", f.lineNumber(l.Start))
		}
		last := &f.entry[len(f.entry)-1]
		last.end, last.texts = end, append(last.texts, text)
		return
	}
	keyword := raw[m[2]:m[3]]
	if keyword == "msgctxt" || keyword == "msgid" && len(f.entry) > 0 && f.entry[len(f.entry)-1].keyword != "msgctxt" {
		f.finish()
	}
	f.entry = append(f.entry, poField{keyword, start, end, []string{text}})
}

// finish translates the current entry.
func (f *poFile) finish() {
	entry := f.entry
	f.entry = nil
	texts := map[string]string{}
	forms := 0
	isNew := true // no form has a translation
	f.formatter = f.usual
	switch {
	case strings.Contains(f.flags, " java-format"):
		f.formatter = java
	case bracedFormat.MatchString(f.flags):
		f.formatter = braced
	case strings.Contains(f.flags, " ruby-format"):
		f.formatter = ruby
	case withoutFormat.MatchString(f.flags):
		f.formatter = none
	}
	isFuzzy := !f.options.Also.Has(document.AlsoFuzzy) || strings.Contains(f.flags, "fuzzy") // or need not become so
	if len(entry) > 0 {
		f.flags = ""
	}
	for _, field := range entry {
		texts[field.keyword] = field.text()
		if strings.HasPrefix(field.keyword, "msgstr[") {
			forms++
			isNew = isNew && texts[field.keyword] == ""
		}
	}
	context, inContext := texts["msgctxt"]
	if poCredits.MatchString(texts["msgid"]) || strings.HasSuffix(context, " OF TRANSLATORS") {
		return // GNOME and KDE show the names of the translators in place of it
	}
	if text, ok := texts["msgid"]; ok && text == "" && !inContext && !f.header && texts["msgstr"] != "" {
		f.header = true
		f.head(entry[len(entry)-1])
		return
	}
	for _, field := range entry {
		if strings.HasPrefix(field.keyword, "msgstr") && field.text() != "" {
			f.translated(f.other)
		}
	}
	plural, hasPlural := texts["msgid_plural"]
	if f.options.Also.Has(document.AlsoSource) && len(entry) > 0 {
		plural, isNew = f.asSource(entry, texts), true
	}
	isNew = isNew && hasPlural && f.rule != nil && forms > 0
	if isNew {
		last := entry[len(entry)-1]
		for n := formNumber(last.keyword) + 1; n < f.rule.forms; n++ {
			entry = append(entry, poField{keyword: fmt.Sprintf("msgstr[%d]", n), start: last.end, end: last.end})
		}
	}
	for i, field := range entry {
		if !strings.HasPrefix(field.keyword, "msgstr") || texts[field.keyword] != "" {
			continue
		}
		source, n, keyword := texts["msgid"], formNumber(field.keyword), ""
		switch {
		case isNew && n >= f.rule.forms && i > 0:
			f.replace(entry[i-1].end, entry[len(entry)-1].end, "")
			return
		case !hasPlural:
		case f.rule == nil && (n > 0 || forms == 1), f.rule != nil && !f.rule.ofSingular(n, source, plural):
			source = plural
		}
		if field.texts == nil {
			keyword = f.lineEnd + field.keyword + " "
		}
		f.value(field.start, field.end, source, func(text string) string {
			if start := strings.LastIndexAny(f.text[:entry[0].start], "\r\n") + 1; !isFuzzy {
				f.replace(start, start, "#, fuzzy"+f.lineEnd)
			}
			isFuzzy = true
			return keyword + f.quote(text)
		})
		texts[field.keyword] = source // only once
	}
}

// asSource makes the translations of an entry its texts, and returns the one for the plural.
func (f *poFile) asSource(entry []poField, texts map[string]string) (plural string) {
	texts["msgid"] = texts["msgstr"] + texts["msgstr[0]"]
	for _, field := range entry {
		if strings.HasPrefix(field.keyword, "msgstr") {
			if field.text() != "" {
				plural = field.text()
			}
			texts[field.keyword] = ""
		}
	}
	return plural
}

// formNumber returns the number in msgstr[0].
func formNumber(keyword string) int {
	if n := strings.IndexByte(keyword, '['); n >= 0 {
		return int(keyword[n+1] - '0')
	}
	return 0
}

var (
	poCharset = regexp.MustCompile(`charset=([\w.:-]+)`)
	poFuzzy   = regexp.MustCompile(`, *fuzzy\b`)
)

// head sets the language in the header, and the encoding if a template leaves it open.
func (f *poFile) head(field poField) {
	raw := f.text[field.start:field.end]
	charset := ""
	if m := poCharset.FindStringSubmatch(raw); m != nil {
		charset = strings.ToUpper(m[1])
	}
	switch charset {
	case "", "UTF-8", "UTF8", "ASCII", "US-ASCII", "CHARSET":
	default:
		f.refuse(nil, "the catalogue is in %s: convert it by msgconv --to-code=UTF-8", charset)
	}
	if f.options.To == "" {
		return
	}
	raw = poCharset.ReplaceAllLiteralString(raw, "charset=UTF-8")
	was, _ := f.field(raw, "Language", "")
	to, other := f.languageOf(was)
	f.other = other
	_, set := f.field(raw, "Language", posix(to))
	rule, _ := f.field(raw, "Plural-Forms", "")
	f.rule = readRule(rule, f.options.To)
	usual := ruleOf(f.options.To)
	if strings.Contains(f.text, "msgid_plural") && usual != "" && (f.rule == nil || language.LocaleOf(was) != language.LocaleOf(f.options.To)) {
		f.rule = readRule(usual, f.options.To)
		_, set = f.field(set, "Plural-Forms", usual)
	}
	date, _ := f.field(raw, "POT-Creation-Date", "")
	isOther := was != "" && language.Base(was) != language.Base(to)
	for _, i := range [...][3]string{{"PO-Revision-Date", "YEAR-MO-DA ", date}, {"Last-Translator", "FULL NAME <", "Automatically generated"}, {"Language-Team", "LANGUAGE <", "none"}} {
		if is, filled := f.field(set, i[0], i[2]); i[2] != "" && (strings.HasPrefix(is, i[1]) || is != "" && isOther && i[2] == "none") {
			set = filled
		}
	}
	if marks := f.text[f.marks.Start:f.marks.End]; f.marks.End > f.marks.Start && f.marks.End <= field.start && poFuzzy.MatchString(marks) {
		if marks = poFuzzy.ReplaceAllString(marks, ""); marks == "#" { // the line goes
			marks, f.marks.End = "", f.marks.End+len(lineEnd(f.text[f.marks.End:]))
		}
		f.replace(f.marks.Start, f.marks.End, marks)
	}
	f.replace(field.start, field.end, set)
}

// field returns a field of the header, and the header with another value for it.
func (f *poFile) field(header, name, value string) (was, set string) {
	pattern := regexp.MustCompile(`("|\\n)` + name + `:((?:[^"\\]|"\s+"|\\[^n])*)\\n`)
	at := pattern.FindStringSubmatchIndex(header)
	if at == nil {
		return "", header + f.lineEnd + `"` + name + ": " + value + `\n"`
	}
	return strings.TrimSpace(header[at[4]:at[5]]), header[:at[3]] + name + ": " + value + `\n` + header[at[1]:]
}

// quote writes a text on one line, or behind an empty string with one string for each of its lines.
func (f *poFile) quote(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	if len(lines) > 1 {
		lines = append([]string{""}, lines...)
	}
	for i := range lines {
		lines[i] = `"` + escapeC.Replace(lines[i]) + `"`
	}
	if len(lines) == 0 {
		return `""`
	}
	return strings.Join(lines, f.lineEnd)
}
