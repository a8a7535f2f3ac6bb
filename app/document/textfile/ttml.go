package textfile

import (
	"regexp"
	"strings"

	"dragoman/app/text/wrap"
)

// ttml translates TTML, also in the variants of iTunes (ITT) and old programs (DFXP): the text of each p, in as many lines.
func ttml(p *pass) {
	within := 0 // number of open p elements
	xmlFormat{"tt", "is no TTML", func(x *xmlReader, e *xmlElement) {
		if len(x.open) == 1 {
			x.setLanguage(e, "xml:lang")
			return
		}
		if e.name == "p" {
			within++
		}
		if lang := e.attribute("lang"); lang != "" && p.options.From != "" && !isLanguage(lang, p.options.From) {
			e.stays = true
		} else if lang != "" && (within == 0 || within == 1 && e.name == "p") {
			x.setLanguage(e, "xml:lang")
		}
	}, func(x *xmlReader, e *xmlElement) {
		if e.name == "p" {
			within--
		}
		if e.name == "p" && within == 0 && !e.stays {
			p.captions(p.unwrapped(wrap.Line{Start: e.inner, End: e.innerEnd}), e.preserve)
		}
	}}.read(p)
}

// wrapping matches the start of an element.
var wrapping = regexp.MustCompile(`^\s*<([\w:.-]+)(?:\s(?:[^"'<>]|"[^"]*"|'[^']*')*)?>`)

// unwrapped returns the content of the elements that enclose all of a caption: empty lines in it separate its lines.
func (p *pass) unwrapped(l wrap.Line) wrap.Line {
	for range 4 {
		raw := p.in(l)
		m := wrapping.FindStringSubmatch(raw)
		if m == nil || strings.HasSuffix(m[0], "/>") {
			break
		}
		inner, ok := strings.CutSuffix(strings.TrimRight(raw[len(m[0]):], " \t\r\n"), "</"+m[1]+">")
		if !ok || fragment(inner) != inner {
			break
		}
		l.Start += len(m[0])
		l.End = l.Start + len(inner)
	}
	return l
}

// captionBreak matches a line break of a caption as its first group, a line end as the second one, or a comment or section.
var captionBreak = regexp.MustCompile(`(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|(<(?:\w+:)?br(?:\s[^<>]*)?(?:/>|></(?:\w+:)?br\s*>))|(\r?\n[ \t]*)`)

// captions translates the content of a p, speech by speech. If an element spans several speeches, all are one text. If the document
// preserves white space, line ends are line breaks.
func (p *pass) captions(inner wrap.Line, preserve bool) {
	var ends [][]int
	for _, m := range captionBreak.FindAllStringSubmatchIndex(p.in(inner), -1) {
		if m[2] >= 0 || m[4] >= 0 && preserve {
			ends = append(ends, m)
		}
	}
	lines := cutLines(inner, ends)
	whole := true
	p.eachSpeech(append([]wrap.Line(nil), lines...), func(lines []wrap.Line) {
		raw := p.text[lines[0].Start:lines[len(lines)-1].End]
		whole = whole && fragment(raw) == raw
	})
	if whole {
		p.eachSpeech(lines, p.caption)
	} else {
		p.caption(lines)
	}
}

// caption translates a speech, and distributes the translation over as many lines.
func (p *pass) caption(lines []wrap.Line) {
	w := p.of(lines)
	text := oneLine(plainSections(w.Text))
	if !p.hasUnits(text) {
		return
	}
	translation := p.translate(text)
	if translation == text {
		return
	}
	n := len(lines)
	if len(w.Between) > wrap.MostBetween {
		n = 1
	}
	p.replace(w.Start, w.End, strings.Join(p.balance(oneLine(fragment(translation)), n, startsNoSpeech), w.Between))
}

// cutLines cuts a line at the given ends.
func cutLines(l wrap.Line, ends [][]int) (lines []wrap.Line) {
	start := l.Start
	for _, end := range ends {
		lines = append(lines, wrap.Line{Start: start, End: l.Start + end[0]})
		start = l.Start + end[1]
	}
	return append(lines, wrap.Line{Start: start, End: l.End})
}
