package textfile

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document/xmlpart"
	"dragoman/app/text/wrap"
)

// ttml translates TTML, also in the variants of iTunes (ITT) and old programs (DFXP): the text of each p.
func ttml(p *pass) {
	c := cues{pass: p, source: oneLine, escape: fragment, starts: ">", ends: "<"}
	c.event = c.caption
	f := ttmlFile{cues: &c}
	xmlFormat{"tt", "is no TTML", f.opened, f.ended}.read(p)
	c.translateAll()
}

// ttmlFile goes through the captions of a document.
type ttmlFile struct {
	*cues
	within        int     // number of open p elements
	frames, ticks float64 // in a second
	place         string  // the region, the speaker and the style of the last caption
}

// opened handles a start tag.
func (f *ttmlFile) opened(x *xmlReader, e *xmlElement) {
	if len(x.open) == 1 {
		x.setLanguage(e, "xml:lang")
		f.frames, _ = strconv.ParseFloat(cmp.Or(e.attribute("frameRate"), "30"), 64)
		f.ticks, _ = strconv.ParseFloat(cmp.Or(e.attribute("tickRate"), e.attribute("frameRate"), "1"), 64)
		f.newLine = "<" + xmlpart.PrefixOf(x.text[e.start:e.inner]) + "br/>"
		return
	}
	if e.name == "p" {
		f.within++
	}
	if lang := e.attribute("lang"); x.isForeign(lang) {
		e.stays = true
	} else if lang != "" && (f.within == 0 || f.within == 1 && e.name == "p") {
		f.translateAll() // replacements are in order
		x.setLanguage(e, "xml:lang")
	}
}

// ended handles an end tag.
func (f *ttmlFile) ended(_ *xmlReader, e *xmlElement) {
	if e.name != "p" {
		return
	}
	if f.within--; f.within > 0 {
		return
	}
	next := cueTimes{number: f.cue.number + 1}
	from, isFrom := f.milliseconds(e.attribute("begin"))
	to, isTo := f.milliseconds(cmp.Or(e.attribute("end"), e.attribute("dur")))
	if next.from, next.to = from, to; e.attribute("end") == "" {
		next.to += from
	}
	place := e.attribute("region") + " " + e.attribute("agent") + " " + e.attribute("style")
	if !isFrom || !isTo || e.stays || place != f.place { // a sentence starts here
		next.number++
	}
	if f.cue, f.place = next, place; !e.stays {
		f.captions(f.unwrapped(wrap.Line{Start: e.inner, End: e.innerEnd}), e.preserve)
	}
}

// timeExpression matches a time of TTML: hours, minutes, seconds and frames, or a number with its unit.
var timeExpression = regexp.MustCompile(`^(?:(\d{1,6}):(\d{1,6}):)?(\d{1,12}(?:\.\d{1,12})?)(?::(\d{1,6})(?:\.\d+)?)?(h|ms?|s|f|t)?$`)

// milliseconds returns a time of the document, unless it has none.
func (f *ttmlFile) milliseconds(time string) (n int, ok bool) {
	m := timeExpression.FindStringSubmatch(strings.TrimSpace(time))
	if m == nil || f.frames <= 0 || f.ticks <= 0 {
		return 0, false
	}
	const hour, minute, second = 3_600_000, 60_000, 1000
	units := map[string]float64{"h": hour, "m": minute, "s": second, "": second, "ms": 1, "f": second / f.frames, "t": second / f.ticks}
	sum := 0.0
	for i, unit := range []float64{hour, minute, units[m[5]], units["f"]} {
		value, _ := strconv.ParseFloat(m[i+1], 64) // digits or nothing
		sum += value * unit
	}
	return int(sum), true
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
		if !ok || fragment(inner) != inner || strings.Contains(m[0], "lang=") {
			break
		}
		l.Start += len(m[0])
		l.End = l.Start + len(inner)
	}
	return l
}

// captionBreak matches a line break of a caption as its first group, a line end as the second one, or a comment or section.
var captionBreak = regexp.MustCompile(`(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|(<(?:\w+:)?br(?:\s[^<>]*)?(?:/>|></(?:\w+:)?br\s*>))|(\r?\n[ \t]*)`)

// captions collects the speeches in the content of a p. If an element spans several speeches, all are one. If the document preserves
// white space, line ends are line breaks.
func (f *ttmlFile) captions(inner wrap.Line, preserve bool) {
	var ends [][]int
	for _, m := range captionBreak.FindAllStringSubmatchIndex(f.in(inner), -1) {
		if m[2] >= 0 || m[4] >= 0 && preserve {
			ends = append(ends, m)
		}
	}
	lines := cutLines(inner, ends)
	whole := true
	f.eachSpeech(slices.Clone(lines), func(lines []wrap.Line) {
		raw := f.text[lines[0].Start:lines[len(lines)-1].End]
		whole = whole && fragment(raw) == raw
	})
	if whole {
		f.read(lines)
	} else {
		f.speeches = append(f.speeches, speech{lines, f.cue})
	}
}

// caption translates a speech, and distributes the translation over its lines.
func (c *cues) caption(s cuePart) {
	text := oneLine(plainSections(s.Text))
	if !c.hasUnits(text) {
		return
	}
	if translation := c.translate(text); translation != text {
		c.replace(s.Start, s.End, c.rows(oneLine(fragment(translation)), s))
	}
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
