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
func srt(p *pass) error {
	c := cues{pass: p, lines: p.linesOf("\r\n"), escape: func(text string) string { return strings.ReplaceAll(text, "-->", "->") }}
	return c.run(0)
}

// vtt translates WebVTT. Blocks without times are headers, notes, styles and regions.
func vtt(p *pass) error {
	c := cues{pass: p, lines: p.linesOf("\r\n"), escape: escapeCue, blocks: true}
	if len(c.lines) == 0 || !webVTT.MatchString(p.text[:c.lines[0].End]) {
		return document.Refuse(nil, "the file does not start with WEBVTT, which all WebVTT files do")
	}
	return c.run(1)
}

var webVTT = regexp.MustCompile(`^WEBVTT(?:[ \t].*)?$`)

// cues goes through the cues of subtitles.
type cues struct {
	*pass
	lines  []wrap.Line
	escape func(text string) string
	blocks bool // whether an empty line ends a cue
}

func (c *cues) line(i int) string { return c.in(c.lines[i]) }

func (c *cues) isTiming(i int) bool {
	return i < len(c.lines) && strings.Contains(c.line(i), "-->") && timing.MatchString(c.line(i))
}

// run translates the cues from a line on.
func (c *cues) run(from int) error {
	shown, found := false, false // whether a cue is open, and whether there was one
	var text []wrap.Line         // lines of the cue, up to an empty line
	for i := from; i < len(c.lines); i++ {
		switch raw := strings.TrimSpace(c.line(i)); {
		case c.isTiming(i):
			shown, found = true, true
		case raw == "":
			shown = shown && !c.blocks
		case shown && !c.isName(i):
			text = append(text, c.lines[i])
			continue
		}
		if err := c.cue(text); err != nil {
			return err
		}
		text = text[:0]
	}
	if !found && strings.TrimSpace(c.text) != "" && !c.blocks {
		return document.Refuse(nil, "the file has no line with the times of a subtitle, such as 00:00:01,000 --> 00:00:03,000")
	}
	return c.cue(text)
}

// isName reports whether a line is the number of the next cue.
func (c *cues) isName(i int) bool {
	return c.isTiming(i+1) && strings.Trim(strings.TrimSpace(c.line(i)), "0123456789") == ""
}

func (c *cues) cue(text []wrap.Line) error { return c.eachSpeech(text, c.speech) }

// eachSpeech calls each with the lines of each speech in a cue: a new one starts with another speaker, and behind an empty line.
func (p *pass) eachSpeech(text []wrap.Line, each func(lines []wrap.Line) error) error {
	isEmpty := func(l wrap.Line) bool { return strings.TrimSpace(p.in(l)) == "" }
	for len(text) > 0 {
		if isEmpty(text[0]) {
			text = text[1:]
			continue
		}
		n := 1
		for n < len(text) && !isEmpty(text[n]) && !speaker.MatchString(p.in(text[n])) {
			n++
		}
		text[0].Start += len(speechMark.FindString(p.in(text[0])))
		if err := each(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// speaker matches the start of a line that does not continue the previous one.
var speaker = regexp.MustCompile(`^\s*(?:<!\[CDATA\[|<[^>]*>|\{[^}]*\})*\s*(?:[-–—‐•♪♫#]|>>|<v[ .])|^\s*<v[ .]`)

// speechMark matches the mark at the start of a speech, which is not text.
var speechMark = regexp.MustCompile(`^\s*(?:[-–—‐]+|>>+)\s*`)

func startsNoSpeech(word string) bool { return !speaker.MatchString(word) }

// speech translates a speech, and distributes the translation over as many lines.
func (c *cues) speech(lines []wrap.Line) error {
	w := c.of(lines)
	return c.paragraph(w, func(text string) string {
		return strings.Join(c.balance(c.escape(text), len(lines), startsNoSpeech), w.Between)
	})
}

// balance distributes a text over at most n lines so that the longest is as short as possible. mayStart reports whether a word
// may start a line.
func (p *pass) balance(text string, n int, mayStart func(word string) bool) []string {
	list, err := wrap.Atoms(p.ctx, text, true)
	p.looks.Check(err)
	fill := func(width int) []string {
		lines, err := wrap.Fill(p.ctx, list, width, mayStart)
		p.looks.Check(err)
		return lines
	}
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
	var out strings.Builder
	at := 0
	escape := func(end int) {
		plain := strings.ReplaceAll(text[at:end], "<", "&lt;")
		out.WriteString(cueEntity.ReplaceAllStringFunc(plain, func(entity string) string {
			if entity == "&" {
				return "&amp;"
			}
			return entity
		}))
	}
	for _, tag := range cueTag.FindAllStringIndex(text, -1) {
		escape(tag[0])
		out.WriteString(text[tag[0]:tag[1]])
		at = tag[1]
	}
	escape(len(text))
	return out.String()
}

var (
	cueTag    = regexp.MustCompile(`</?(?:[cibuv]|ruby|rt|lang)(?:[. \t][^<>]*)?>|<[\d:.]+>`)
	cueEntity = regexp.MustCompile(`&(?:#?\w+;)?`)
)
