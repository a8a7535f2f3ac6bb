package textfile

import (
	"regexp"
	"strings"

	"dragoman/app/text/wrap"
)

var (
	fluentEntry   = regexp.MustCompile(`^(-?[a-zA-Z][\w-]*)[ \t]*=[ \t]*`)
	fluentPart    = regexp.MustCompile(`^[ \t]+\.[a-zA-Z][\w-]*[ \t]*=[ \t]*`)
	fluentSelect  = regexp.MustCompile(`^\{[ \t]*[^{}"]*->[ \t]*$`)
	fluentVariant = regexp.MustCompile(`^[ \t]*\*?\[[ \t]*[\w.-]+[ \t]*\][ \t]*`)
)

// fluent translates messages of Fluent, their attributes, and the variants of messages that are a selection. Names of brands stay.
func fluent(p *pass) error {
	f := fluentFile{pass: p}
	stays, depth := true, 0 // of the current entry; open braces of selections that stay
	for _, l := range p.linesOf("\r\n") {
		raw := p.in(l)
		mark := fluentPart.FindString(raw)
		if m := fluentEntry.FindStringSubmatch(raw); m != nil {
			mark, stays = m[0], strings.HasPrefix(m[1], "-") && strings.Contains(m[1], "brand")
		} else if strings.HasPrefix(raw, "#") {
			stays = true
		}
		if mark != "" || stays {
			depth, f.selects = 0, false
		}
		if depth == 0 && mark == "" && f.selects {
			mark = fluentVariant.FindString(raw)
		}
		if mark != "" {
			if err := f.flush(); err != nil {
				return err
			}
		}
		l.Start += len(mark)
		text := strings.TrimSpace(p.in(l))
		open := strings.Count(text, "{") - strings.Count(text, "}")
		switch {
		case stays:
		case fluentSelect.MatchString(text) && len(f.run) == 0 && depth == 0 && !f.selects:
			f.selects = true
		case f.selects && text == "}" && depth == 0:
			f.selects = false
		case depth == 0 && open == 0:
			f.add(l, text)
		default: // a selection in a text, or in another one
			depth += open
			f.run, f.broken = nil, true
		}
	}
	return f.flush()
}

// fluentFile goes through the lines of a file.
type fluentFile struct {
	*pass
	run     []wrap.Line // lines of a text
	selects bool        // within a selection that is all of a message
	broken  bool        // the text has a selection in it, and stays
}

// add adds a line to the text.
func (f *fluentFile) add(l wrap.Line, text string) {
	if text != "" && !f.broken {
		l.Start += strings.Index(f.in(l), text)
		l.End = l.Start + len(text)
		f.run = append(f.run, l)
	}
}

// flush translates the text. Its lines are as wide as before.
func (f *fluentFile) flush() error {
	run := f.run
	f.run, f.broken = nil, false
	if len(run) == 0 {
		return nil
	}
	w := f.of(run)
	if f.isCode(w.Text) {
		return nil
	}
	return f.paragraph(w, func(text string) string {
		if strings.Count(text, "{") != strings.Count(text, "}") {
			text = fluentBrace.ReplaceAllString(text, `{"$0"}`)
		}
		lines := f.fill(w, text, func(word string) bool { return !strings.ContainsAny(word[:1], ".[*}") })
		if strings.ContainsAny(lines[0][:min(1, len(lines[0]))], ".[*}#") {
			lines[0] = `{"` + lines[0][:1] + `"}` + lines[0][1:]
		}
		return strings.Join(lines, w.Between)
	})
}

var fluentBrace = regexp.MustCompile(`[{}]`)
