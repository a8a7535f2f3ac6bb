package textfile

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dragoman/app/text/language"
	"dragoman/app/text/wrap"
)

// speech is a text in a cue: what a person says, or a label.
type speech struct {
	lines []wrap.Line
	cue   cueTimes
}

// cueTimes are the times of a cue, in milliseconds.
type cueTimes struct{ number, from, to int }

var clock = regexp.MustCompile(`(?:(\d+):)?(\d+):(\d+)[.,:](\d+)`)

// timesOf reads the times of a cue.
func timesOf(line string, number int) cueTimes {
	var at [2]int
	for i, m := range clock.FindAllStringSubmatch(line, 2) {
		for j, unit := range []int{3_600_000, 60_000, 1000, 1} {
			digits := m[j+1]
			if unit == 1 {
				digits = (digits + "00")[:3]
			}
			n, _ := strconv.Atoi(digits[:min(len(digits), 4)]) // digits
			at[i] += n * unit
		}
	}
	return cueTimes{number, at[0], at[1]}
}

// read collects the speeches in lines of the current cue.
func (c *cues) read(text []wrap.Line) {
	c.eachSpeech(text, func(lines []wrap.Line) {
		c.speeches = append(c.speeches, speech{slices.Clone(lines), c.cue})
		for _, l := range lines {
			for _, r := range c.in(l) {
				if unicode.IsUpper(r) {
					c.capital++
				} else if unicode.IsLower(r) {
					c.small++
				}
			}
		}
	})
}

// mostJoined is the maximum number of cues of a sentence, and longestPause the longest time between them in milliseconds.
const mostJoined, longestPause = 6, 2000

// translateAll translates the speeches. A sentence over several cues is one text.
func (c *cues) translateAll() {
	var parts []cuePart
	for _, s := range c.speeches {
		next := c.part(s)
		if n := len(parts); n > 0 && (n == mostJoined || !c.continues(parts[n-1], next)) {
			c.sentence(parts)
			parts = parts[:0]
		}
		parts = append(parts, next)
	}
	c.sentence(parts)
	c.speeches = c.speeches[:0]
}

// The widths of a line: letters, or ideographs, which are twice as wide.
const maxLetters, maxIdeographs = 42, 16

// rows distributes a text over as many lines as a speech has: over two if one is too long, or if two are enough.
func (c *cues) rows(text string, s cuePart) string {
	most := maxLetters
	if slices.Contains([]string{"ja", "zh", "ko"}, language.Base(c.options.To)) {
		most = maxIdeographs
	}
	n := len(s.lines)
	rows := c.balance(text, n, startsNoSpeech)
	if n == 1 && width(text) > most || n > 2 && width(text) < 2*most {
		rows = c.balance(text, 2, startsNoSpeech)
	}
	return strings.Join(rows, s.Between)
}

// width returns the number of characters of a text outside tags.
func width(text string) int { return len([]rune(outerTags.ReplaceAllString(text, ""))) }

// cuePart is a speech as a part of a sentence.
type cuePart struct {
	speech
	wrap.Paragraph
	start, end  int    // byte range of the text without the tags around it
	text        string // this text as one line; "" if it has tags in it that have no end
	voice       string // the tag that names the speaker
	first, last bool   // it starts, and ends, its line
}

var (
	voice       = regexp.MustCompile(`<v[ .][^<>]*>`)
	outerTags   = regexp.MustCompile(`<[^<>]*>|\{[^{}]*\}`)
	leadingTags = regexp.MustCompile(`^(?:<[^<>/]*>|\{[^{}]*\}|\s)+`)
	endTags     = regexp.MustCompile(`(?:</[^<>]*>|\{[^{}]*\}|\s)+$`)
)

// part returns a speech with its text.
func (c *cues) part(s speech) cuePart {
	w := wrap.Of(c.looks, c.text, s.lines)
	raw := c.text[w.Start:w.End]
	head := leadingTags.FindString(raw)
	tail := endTags.FindString(raw[len(head):])
	open := openTags(raw[len(head) : len(raw)-len(tail)])
	for tail != "" && len(open) > 0 { // the first tag is that of a part
		tag, rest, _ := strings.Cut(tail, ">")
		open, tail = pair(open, strings.TrimSpace(tag)+">"), rest
	}
	p := cuePart{speech: s, Paragraph: w, start: w.Start + len(head), end: w.End - len(tail)}
	if text := w.Text; len(head)+len(tail) < len(text) && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail) {
		if text = text[len(head) : len(text)-len(tail)]; !strings.Contains(text, "{") && !strings.Contains(head, "<lang") && !draws(head, false) && len(openTags(text)) == 0 {
			p.text = text
		}
	}
	if c.newLine != "" && (len(s.lines) == 1 || len(p.Between) > wrap.MostBetween) {
		p.Between = c.newLine
	}
	p.voice = voice.FindString(head)
	before := strings.TrimRight(c.text[:w.Start], " \t")
	after := strings.TrimLeft(c.text[w.End:], " \t")
	p.first = before == "" || strings.ContainsAny(before[len(before)-1:], "\r\n"+c.starts)
	p.last = after == "" || strings.ContainsAny(after[:1], "\r\n"+c.ends)
	return p
}

var (
	continuing = regexp.MustCompile(`^(?:["'“‘«(]|<[^<>]*>)*(?:\p{Ll}|I\b)`)
	comma      = regexp.MustCompile(`[,，、،]$`)
)

// continues reports whether the text of the next cue continues a sentence.
func (c *cues) continues(s, next cuePart) bool {
	pause := next.cue.from - s.cue.to
	return s.text != "" && next.text != "" && s.last && next.first && next.cue.number == s.cue.number+1 && pause <= longestPause && pause > -longestPause &&
		(next.voice == "" || next.voice == s.voice) && hasLetter(next.text) && !sentenceEnd.MatchString(s.text) &&
		(continuing.MatchString(next.text) || comma.MatchString(s.text) || c.capital > 20*c.small && inCapitals(next.text))
}

// inCapitals reports whether a text has capitals only.
func inCapitals(text string) bool {
	text = outerTags.ReplaceAllString(text, "")
	return text == strings.ToUpper(text) && text != strings.ToLower(text)
}

// openTags returns the tags of a text that have no partner in it.
func openTags(text string) (open []string) {
	for _, tag := range outerTags.FindAllString(text, -1) {
		open = pair(open, tag)
	}
	return open
}

// pair returns the open tags behind a tag, which ends the last of them or is one more.
func pair(open []string, tag string) []string {
	n := len(open)
	if name, isEnd := strings.CutPrefix(tag, "</"); isEnd && n > 0 && tagName.FindString(open[n-1]) == tagName.FindString("<"+name) {
		return open[:n-1]
	}
	return append(open, tag)
}

var tagName = regexp.MustCompile(`^<[\w:-]+`)

// sentence translates a sentence. It distributes the translation over the lines of its cue, or divides it between several cues by
// their times.
func (c *cues) sentence(parts []cuePart) {
	switch len(parts) {
	case 0:
		return
	case 1:
		if c.event != nil {
			c.event(parts[0])
			return
		}
		c.paragraph(parts[0].Paragraph, func(text string) string { return c.rows(c.escape(text), parts[0]) })
		return
	}
	text := ""
	for i, s := range parts {
		if i > 0 && !wrap.WithoutSpace(text, s.text) {
			text += " "
		}
		text += s.text
	}
	if !hasLetter(text) {
		return
	}
	if c.source != nil {
		text = c.source(text)
	}
	translation := c.translate(text)
	if translation == text {
		return
	}
	styles := ""
	for i, piece := range c.divide(c.escape(oneLine(translation)), parts) {
		if piece != "" {
			piece, styles = styles+piece, ""
		}
		for _, tag := range openTags(piece) { // the style goes on in the next cue
			if name, isTag := strings.CutPrefix(tagName.FindString(tag), "<"); isTag {
				styles += tag
				piece += "</" + name + ">"
			}
		}
		c.replace(parts[i].start, parts[i].end, c.rows(piece, parts[i]))
	}
}

// divide divides a text between cues in proportion to their times. A division behind a comma may be half a part away.
func (c *cues) divide(text string, parts []cuePart) []string {
	list := wrap.Atoms(c.looks, text, true)
	total, time := 0, 0
	for _, a := range list {
		total += a.Width + 1
	}
	bonus := total / len(parts) / 2
	for _, s := range parts {
		time += s.duration()
	}
	pieces := make([]string, len(parts))
	at, done, elapsed := 0, 0, 0 // atoms, their width, and the time that they have
	for i, s := range parts {
		elapsed += s.duration()
		end, cost, reached := at, total, done
		for j, sum := at, done; j < len(list); j++ {
			sum += list[j].Width + 1
			if j+1 < len(list) && !startsNoSpeech(list[j+1].Text) {
				continue
			}
			off := sum - total*elapsed/time
			if off < 0 {
				off = -off
			} else if off-bonus > cost {
				break
			}
			if clauseEnd.MatchString(html.UnescapeString(list[j].Text)) {
				off -= bonus
			}
			if off < cost {
				end, cost, reached = j+1, off, sum
			}
		}
		if i == len(parts)-1 {
			end = len(list)
		}
		var piece strings.Builder
		for j, a := range list[at:end] {
			if a.Space && j > 0 {
				piece.WriteByte(' ')
			}
			piece.WriteString(a.Text)
		}
		pieces[i] = piece.String()
		at, done = end, reached
	}
	return pieces
}

var clauseEnd = regexp.MustCompile(`[,;:.!?](?:</[^<>]*>)*$`)

// duration returns the time of the cue, at least a tenth of a second.
func (s cuePart) duration() int { return max(s.cue.to-s.cue.from, 100) }
