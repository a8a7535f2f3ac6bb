package textfile

import (
	"regexp"
	"sort"
	"strings"

	"dragoman/app/document"
	"dragoman/app/text/wrap"
)

// timing matches the line with the times of a cue.
var timing = regexp.MustCompile(`^\s*(?:\d+:)?\d+:\d+[.,:]\d+\s*-->\s*(?:\d+:)?\d+:\d+[.,:]\d+(?:\s.*)?$`)

// srt translates SubRip. Text behind an empty line belongs to the previous cue.
func srt(p *pass) {
	c := cues{pass: p, timing: timing, lines: p.linesOf("\r\n"), escape: func(text string) string { return strings.ReplaceAll(text, "-->", "->") }}
	c.run(0)
}

// sbv translates YouTube's subtitles, whose lines may be divided by [br].
func sbv(p *pass) {
	c := cues{pass: p, timing: sbvTiming, escape: func(text string) string { return text }, starts: "]", ends: "["}
	for _, l := range p.linesOf("\r\n") {
		for part := range strings.SplitSeq(p.in(l), sbvBreak) {
			c.lines = append(c.lines, wrap.Line{Start: l.Start, End: l.Start + len(part)})
			l.Start += len(part) + len(sbvBreak)
		}
	}
	c.run(0)
}

const sbvBreak = "[br]"

var sbvTiming = regexp.MustCompile(`^(?:\d+:)?\d+:\d+\.\d+,(?:\d+:)?\d+:\d+\.\d+\s*$`)

// lrc translates lyrics: the text behind the times of each line.
func lrc(p *pass) {
	for _, l := range p.linesOf("\r\n") {
		if mark := lrcTimes.FindString(p.in(l)); mark != "" {
			l.Start += len(mark)
			raw := strings.TrimLeft(p.in(l), "[<")
			p.value(l.End-len(raw), l.End, raw, oneLine)
		}
	}
}

var lrcTimes = regexp.MustCompile(`^\s*(?:\[\d+:\d+(?:[.:]\d+)?\]\s*)+(?:<\d+:\d+(?:[.:]\d+)?>\s*)?`)

// vtt translates WebVTT. Blocks without times are headers, notes, styles and regions.
func vtt(p *pass) {
	c := cues{pass: p, timing: timing, lines: p.linesOf("\r\n"), escape: escapeCue, blocks: true}
	if len(c.lines) == 0 || !webVTT.MatchString(p.text[:c.lines[0].End]) {
		p.refuse(nil, "the file does not start with WEBVTT, which all WebVTT files do")
	}
	for i := 1; i < len(c.lines) && p.options.To != "" && c.line(i) != ""; i++ {
		if m := vttLanguage.FindStringSubmatchIndex(c.line(i)); m != nil {
			p.replace(c.lines[i].Start+m[2], c.lines[i].Start+m[3], p.options.To)
		}
	}
	p.translator = p.holdLanguages(p.translator)
	c.run(1)
}

var (
	cueLanguage = regexp.MustCompile(`<lang((?:\.[\w.-]+)?[ \t]+)([\w-]+)>(.*?)</lang>`)
	heldCue     = regexp.MustCompile(`<code lang="([^"]*)">(.*?)</code>`)
)

// holdLanguages returns a translator that keeps elements of WebVTT in another language than the source.
func (p *pass) holdLanguages(t document.Translate) document.Translate {
	if p.options.From == "" || p.options.To == "" {
		return t
	}
	return func(text string) (string, error) {
		translation, err := t(cueLanguage.ReplaceAllStringFunc(text, func(element string) string {
			if m := cueLanguage.FindStringSubmatch(element); p.isForeign(m[2]) {
				return `<code lang="` + m[1] + m[2] + `">` + m[3] + "</code>"
			}
			return element
		}))
		translation = cueLanguage.ReplaceAllString(translation, "<lang${1}"+p.options.To+">$3</lang>")
		return heldCue.ReplaceAllString(translation, "<lang$1>$2</lang>"), err
	}
}

var vttLanguage = regexp.MustCompile(`^Language:\s*([\w-]+)\s*$`)

var webVTT = regexp.MustCompile(`^WEBVTT(?:[ \t].*)?$`)

// cues goes through the cues of subtitles.
type cues struct {
	*pass
	timing         *regexp.Regexp
	lines          []wrap.Line
	escape         func(text string) string
	blocks         bool     // whether an empty line ends a cue
	cue            cueTimes // the current one
	speeches       []speech
	small, capital int // numbers of letters

	event        func(s cuePart)          // translates a speech in a form of its own; nil: as plain text
	source       func(text string) string // returns the form in which a sentence of several speeches is translated
	starts, ends string                   // characters in front of a speech that starts its cue, and behind one that ends it
	newLine      string                   // divides a speech of one line; "": as lines are divided
	drawn        cueTimes                 // the last event of SubStation Alpha
	drawing      bool                     // whether it draws
}

func (c *cues) line(i int) string { return c.in(c.lines[i]) }

func (c *cues) isTiming(i int) bool {
	return i < len(c.lines) && strings.ContainsAny(c.line(i), ">,") && c.timing.MatchString(c.line(i))
}

// run translates the cues from a line on.
func (c *cues) run(from int) {
	shown, found := false, false // whether a cue is open, and whether there was one
	starts := -1                 // the line of the times of the next cue
	var text []wrap.Line         // lines of the cue, up to an empty line
	for i := from; i < len(c.lines); i++ {
		switch raw := strings.TrimSpace(c.line(i)); {
		case c.isTiming(i):
			shown, found, starts = true, true, i
		case raw == "":
			shown = shown && !c.blocks
		case shown && !c.isName(i):
			text = append(text, c.lines[i])
			continue
		}
		c.read(text)
		if text = text[:0]; starts >= 0 {
			c.cue, starts = timesOf(c.line(starts), c.cue.number+1), -1
		}
	}
	if !found && strings.TrimSpace(c.text) != "" && !c.blocks {
		c.refuse(nil, "the file has no line with the times of a subtitle, such as 00:00:01,000 --> 00:00:03,000")
	}
	c.read(text)
	c.translateAll()
}

// isName reports whether a line is the number of the next cue.
func (c *cues) isName(i int) bool {
	return c.isTiming(i+1) && strings.Trim(strings.TrimSpace(c.line(i)), "0123456789") == ""
}

// eachSpeech calls each with the lines of each speech in a cue: a new one starts with another speaker, and behind an empty line.
// The name of a speaker and the description of a sound are speeches.
func (p *pass) eachSpeech(text []wrap.Line, each func(lines []wrap.Line)) {
	isEmpty := func(l wrap.Line) bool { return strings.TrimSpace(p.in(l)) == "" }
	for len(text) > 0 {
		if isEmpty(text[0]) {
			text = text[1:]
			continue
		}
		if at, end := labelOf(p.in(text[0])); end > 0 {
			start := text[0].Start
			text[0].Start += end
			each([]wrap.Line{{Start: start + at[0], End: start + at[1]}})
			continue
		}
		n := 1
		for n < len(text) && !isEmpty(text[n]) && !speaker.MatchString(p.in(text[n])) && !p.startsLabel(text[n-1], text[n]) {
			n++
		}
		mark := speechMark.FindString(p.in(text[0]))
		if text[0].Start += len(mark); strings.ContainsAny(mark, "♪♫#") {
			text[n-1].End -= len(songEnd.FindString(p.in(text[n-1])))
		}
		each(text[:n])
		text = text[n:]
	}
}

// speaker matches the start of a line that does not continue the previous one.
var speaker = regexp.MustCompile(`^\s*(?:<!\[CDATA\[|<[^>]*>|\{[^}]*\})*\s*(?:[-–—‐•♪♫#]|>>|<v[ .])|^\s*<v[ .]`)

var (
	// speechMark matches the marks at the start of a speech, which are not text, and songEnd those at the end of a song.
	speechMark = regexp.MustCompile(`^\s*(?:(?:[-–—‐]+|>>+|[♪♫]+|#+\s)\s*)+`)
	songEnd    = regexp.MustCompile(`\s*(?:[♪♫]+|\s#+)\s*$`)
	// label matches a description in brackets, one in parentheses before a sentence or a line's end, or the name of a speaker in
	// capitals.
	label = regexp.MustCompile(`^\s*(?:(?:[-–—‐]+|>>+)\s*)?(?:<[^>]*>|\{[^}]*\})*(?:\[([^\[\]]+)\]|[(（]([^()（）]+)[)）](?:(?:<[^>]*>|\{[^}]*\})*\s*$|()\s+["'“‘«¿¡]*[\p{Lu}.…])|` +
		`(\p{Lu}[\p{Lu}\d .'’&#-]{1,30}(?: [\[(][^\[\]()]+[\])])?):(?:\s|$))`)
	// sentenceEnd matches the end of a text that the next line does not continue.
	sentenceEnd = regexp.MustCompile(`[.!?…:;。！？：；♪♫\])）][\s"'»”’]*(?:<[^>]*>|\{[^}]*\})*\s*$`)
)

// labelOf returns the range of the text of a label at the start of a line, and the end of the label; 0 if there is none.
func labelOf(line string) (at [2]int, end int) {
	m := label.FindStringSubmatchIndex(line)
	switch {
	case m == nil:
		return at, 0
	case m[2] >= 0:
		return [2]int{m[2], m[3]}, m[1]
	case m[6] >= 0: // in front of a sentence
		return [2]int{m[4], m[5]}, m[6]
	case m[4] >= 0:
		return [2]int{m[4], m[5]}, m[1]
	}
	return [2]int{m[8], m[9]}, m[1]
}

// startsLabel reports whether a line starts with a label. Parentheses within a sentence are none.
func (p *pass) startsLabel(before, l wrap.Line) bool {
	m := label.FindStringSubmatchIndex(p.in(l))
	return m != nil && (m[4] < 0 || sentenceEnd.MatchString(p.in(before)))
}

func startsNoSpeech(word string) bool {
	return !speaker.MatchString(word) && !strings.ContainsAny(word[:1], "[(") && !strings.HasSuffix(word, ":")
}

// balance distributes a text over at most n lines so that the longest is as short as possible. mayStart reports whether a word
// may start a line.
func (p *pass) balance(text string, n int, mayStart func(word string) bool) []string {
	list := wrap.Atoms(p.looks, text, true)
	fill := func(width int) []string { return wrap.Fill(p.looks, list, width, mayStart) }
	most := 0
	for _, a := range list {
		most += a.Width + 1
	}
	width := 1 + sort.Search(most, func(less int) bool { return len(fill(less+1)) <= n })
	return fill(width)
}

// escapeCue escapes signs that would start a tag or an entity of WebVTT and are not part of one.
func escapeCue(text string) string {
	text = strings.ReplaceAll(text, "-->", "--&gt;")
	return except(cueMark.FindAllString(text, -1), "<", "&lt;", "&", "&amp;").Replace(text)
}

// cueMark matches a tag or an entity.
var cueMark = regexp.MustCompile(`</?(?:[cibuv]|ruby|rt|lang)(?:[. \t][^<>]*)?>|<[\d:.]+>|&#?\w+;`)
