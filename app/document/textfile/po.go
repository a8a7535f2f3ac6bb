package textfile

import (
	"regexp"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/wrap"
)

// po translates gettext's PO and POT: a msgid into its msgstr if that is empty.
func po(p *pass) error {
	f := &poFile{pass: p}
	for l := range wrap.Lines(p.text, "\r\n") {
		if err := f.line(l); err != nil {
			return err
		}
	}
	return f.finish()
}

// poFile goes through the entries of a catalogue.
type poFile struct {
	*pass
	entry  []poField // of the current entry
	header bool      // whether the header has been read
}

// poField is a keyword with its strings.
type poField struct {
	keyword    string
	start, end int // range of the strings, with their quotes
	texts      []string
}

func (f poField) text() string { return strings.Join(f.texts, "") }

var poLine = regexp.MustCompile(`^\s*(?:(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?)\s*)?"((?:[^"\\]|\\.)*)"\s*$`)

// line reads a line. A comment, an empty line and the first keyword of an entry end the previous one.
func (f *poFile) line(l wrap.Line) error {
	raw := f.in(l)
	if trimmed := strings.TrimSpace(raw); trimmed == "" || trimmed[0] == '#' {
		return f.finish()
	}
	m := poLine.FindStringSubmatchIndex(raw)
	if m == nil {
		return document.Refuse(nil, `line %d of the catalogue is neither a comment nor a keyword with a text in quotes, such as msgid "Hello"`, f.lineNumber(l.Start))
	}
	start, end, text := l.Start+m[4]-1, l.Start+m[5]+1, cEscape.ReplaceAllStringFunc(raw[m[4]:m[5]], readC)
	if m[2] < 0 {
		if len(f.entry) == 0 {
			return document.Refuse(nil, "the text in line %d of the catalogue has no keyword before it", f.lineNumber(l.Start))
		}
		last := &f.entry[len(f.entry)-1]
		last.end, last.texts = end, append(last.texts, text)
		return nil
	}
	keyword := raw[m[2]:m[3]]
	if keyword == "msgctxt" || keyword == "msgid" && len(f.entry) > 0 && f.entry[len(f.entry)-1].keyword != "msgctxt" {
		if err := f.finish(); err != nil {
			return err
		}
	}
	f.entry = append(f.entry, poField{keyword, start, end, []string{text}})
	return nil
}

// finish translates the current entry.
func (f *poFile) finish() error {
	entry := f.entry
	f.entry = nil
	texts := map[string]string{}
	forms := 0
	for _, field := range entry {
		texts[field.keyword] = field.text()
		if strings.HasPrefix(field.keyword, "msgstr[") {
			forms++
		}
	}
	_, inContext := texts["msgctxt"]
	if text, ok := texts["msgid"]; ok && text == "" && !inContext && !f.header && texts["msgstr"] != "" {
		f.header = true
		return f.head(entry[len(entry)-1])
	}
	for _, field := range entry {
		if !strings.HasPrefix(field.keyword, "msgstr") || texts[field.keyword] != "" {
			continue
		}
		source := texts["msgid"]
		if plural, ok := texts["msgid_plural"]; ok && (field.keyword != "msgstr[0]" || forms == 1) {
			source = plural
		}
		if err := f.value(field.start, field.end, source, f.quote); err != nil {
			return err
		}
		texts[field.keyword] = source // only once
	}
	return nil
}

var (
	poCharset  = regexp.MustCompile(`charset=([\w.:-]+)`)
	poLanguage = regexp.MustCompile(`("|\\n)Language:(?:[^"\\]|\\[^n])*\\n`)
)

// head sets the language in the header, and the encoding if a template leaves it open.
func (f *poFile) head(field poField) error {
	raw := f.text[field.start:field.end]
	charset := ""
	if m := poCharset.FindStringSubmatch(raw); m != nil {
		charset = strings.ToUpper(m[1])
	}
	switch charset {
	case "", "UTF-8", "UTF8", "ASCII", "US-ASCII", "CHARSET":
	default:
		return document.Refuse(nil, "the catalogue is in %s: convert it by msgconv --to-code=UTF-8", charset)
	}
	if f.options.To == "" {
		return nil
	}
	raw = poCharset.ReplaceAllLiteralString(raw, "charset=UTF-8")
	language := "Language: " + escapeC.Replace(f.options.To) + `\n`
	if at := poLanguage.FindStringSubmatchIndex(raw); at != nil {
		raw = raw[:at[3]] + language + raw[at[1]:]
	} else {
		raw += f.lineEnd + `"` + language + `"`
	}
	return f.replace(field.start, field.end, raw)
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
