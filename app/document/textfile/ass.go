package textfile

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document/tagged"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// ass translates (Advanced) SubStation Alpha: the texts of Dialogue lines in section Events. Override tags in braces are tags of
// the text; drawings and comments stay.
func ass(p *pass) {
	c := &cues{pass: p, starts: ",", newLine: `\N`, source: func(text string) string { return markup.XML.Escape(strings.ReplaceAll(text, `\h`, "\u00a0")) },
		escape: func(text string) string { return assText.Replace(html.UnescapeString(text)) }}
	c.event = c.dialogue
	events, found, fields, style := false, false, 10, ""
	for l := range wrap.Lines(p.text, "\r\n") {
		key, value, _ := strings.Cut(p.in(l), ":")
		switch key = strings.TrimSpace(key); {
		case strings.HasPrefix(key, "["):
			events = strings.EqualFold(key, "[events]")
			found = found || events
		case events && key == "Format":
			names := strings.Split(value, ",")
			fields = len(names)
			if !strings.EqualFold(strings.TrimSpace(names[fields-1]), "text") {
				p.refuse(nil, "the last field of the events is not Text in line %d, which players demand", p.lineNumber(l.Start))
			}
		case events && key == "Dialogue":
			if parts := strings.SplitN(value, ",", fields); len(parts) == fields {
				l.Start = l.End - len(parts[fields-1])
				head, number := strings.Join(parts[:fields-1], ","), c.cue.number+1
				if is := clock.ReplaceAllString(head, ""); is != style { // another style or speaker starts a sentence
					style, number = is, number+1
				}
				c.cue = timesOf(head, number)
				c.read(p.assLines(l))
			}
		}
	}
	c.translateAll()
	if !found && strings.TrimSpace(p.text) != "" {
		p.refuse(nil, "the file has no section [Events], which has the subtitles of SubStation Alpha")
	}
}

// assLines returns the lines of the text of a Dialogue.
func (p *pass) assLines(l wrap.Line) []wrap.Line {
	text := p.in(l)
	return cutLines(l, slices.DeleteFunc(assMark.FindAllStringIndex(text, -1), func(m []int) bool { return text[m[0]] == '{' }))
}

// dialogue translates a speech with the tags in it.
func (c *cues) dialogue(s cuePart) {
	if c.drawn.number != s.cue.number {
		c.drawn, c.drawing = s.cue, false
	}
	t := tagged.New()
	for i, l := range s.lines {
		if i > 0 && !wrap.WithoutSpace(c.in(s.lines[i-1]), c.in(l)) {
			t.Text(tagged.Style{}, " ")
		}
		for _, part := range partsOf(c.in(l), assMark) {
			if part.sort == '{' {
				c.drawing = draws(part.raw, c.drawing)
			}
			if part.sort == '{' || c.drawing {
				t.Special(part.raw)
			} else {
				t.Text(tagged.Style{}, strings.ReplaceAll(part.raw, `\h`, "\u00a0"))
			}
		}
	}
	if text, changed := c.rewritten(t, assText.Replace); changed {
		c.replace(s.Start, s.End, strings.Join(c.balance(strings.TrimSpace(text), len(s.lines), startsNoSpeech), s.Between))
	}
}

// draws reports whether drawing mode is on after override tags: \p1 turns it on, \p0 off.
func draws(tags string, before bool) bool {
	for at := strings.LastIndex(tags, `\p`); at >= 0; at = strings.LastIndex(tags[:at], `\p`) {
		level := tags[at+len(`\p`):]
		if digits := level[:len(level)-len(strings.TrimLeft(level, "0123456789"))]; digits != "" {
			return strings.Trim(digits, "0") != ""
		}
	}
	return before
}

// assText replaces characters that a text cannot contain.
var assText = strings.NewReplacer("{", "｛", "}", "｝", `\N`, "\\\u2060N", `\n`, "\\\u2060n", `\h`, "\\\u2060h", "\u00a0", `\h`)

// assMark matches tags, or a line's end.
var assMark = regexp.MustCompile(`\{[^}]*\}|\\[Nn]`)

// rewritten translates a text with markup. It returns false if the text stays.
func (p *pass) rewritten(t *tagged.Paragraph, encode func(text string) string) (string, bool) {
	text, changed, err := t.Rewrite(func(text string) (string, error) {
		translation := p.translate(text)
		if translation != text {
			translation = oneLine(translation)
		}
		return translation, nil
	}, encode)
	p.looks.Check(p.options.Fits(err))
	if err != nil || !changed {
		return "", false
	}
	if t.Lost() && p.options.Restyled != nil {
		p.options.Restyled()
	}
	return text, true
}
