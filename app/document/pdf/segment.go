package pdf

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/document/tagged"
)

// piece is a part of a translation: text in a style, or adjacent kept texts.
type piece struct {
	text  string
	style style
	kept  []*span
}

// translated translates a block. It returns nil if nothing changes, and reports whether a style is lost.
func (b *block) translated(translate func(text string) (string, error)) (pieces []piece, isRestyled bool, err error) {
	s := segment{p: tagged.New(), numbers: map[style]int{}}
	for i, l := range b.lines {
		if i > 0 {
			s.nextLine(b.lines[i-1].text, l.text)
		}
		s.cut = i+1 < len(b.lines) && isHyphenated(l.text, b.lines[i+1].text)
		s.line(l)
	}
	out, changed, err := s.p.Rewrite(translate, noMarks.Replace)
	if err != nil || !changed {
		return nil, false, err
	}
	pieces, err = s.pieces(out)
	return pieces, s.p.Lost(), err
}

// pieces returns a block unchanged.
func (b *block) pieces() (pieces []piece) {
	var before *line
	for _, l := range b.lines {
		for i, s := range l.spans {
			isSpaced := i > 0 && spaceBetween(l.spans[i-1], s) || i == 0 && before != nil && !strings.HasSuffix(before.text, " ")
			switch {
			case i == 0 && before != nil && b.isCode():
				pieces = append(pieces, piece{text: "\n", style: s.font})
			case isSpaced:
				pieces = append(pieces, piece{text: " ", style: s.font})
			}
			pieces = append(pieces, piece{text: s.text, style: s.font})
		}
		before = l
	}
	return pieces
}

// segment is a block as a paragraph. Styles and kept texts are written as marks, between signs that no text has.
type segment struct {
	p       *tagged.Paragraph
	numbers map[style]int
	styles  []style
	kept    [][]*span
	last    style
	cut     bool // the hyphen at the end of the line is removed
}

const markSign = "\x00"

var (
	noMarks = strings.NewReplacer(markSign, "")
	mark    = regexp.MustCompile(markSign + `([sk])(\d+)` + markSign)
)

func (s *segment) line(l *line) {
	for i := 0; i < len(l.spans); i++ {
		at := l.spans[i]
		isSpaced := i > 0 && spaceBetween(l.spans[i-1], at)
		text := at.text
		if isSpaced {
			s.p.Text(s.style(s.last), " ")
		} else if i > 0 && strings.HasSuffix(l.spans[i-1].text, " ") {
			text = strings.TrimLeft(text, " ")
		}
		if s.cut && i == len(l.spans)-1 {
			text = strings.TrimRight(text, " ")
			_, size := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-size]
		}
		if !l.keeps(at) {
			s.last = at.font
			s.p.Text(s.style(at.font), text)
			continue
		}
		from := i
		for i+1 < len(l.spans) && l.keeps(l.spans[i+1]) && !spaceBetween(l.spans[i], l.spans[i+1]) {
			i++
		}
		s.keep(l, l.spans[from:i+1])
	}
}

// nextLine adds the text between two lines: a space, unless a word continues or the script has no spaces.
func (s *segment) nextLine(before, after string) {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	isJoined := endsInHyphen.MatchString(before) && (unicode.IsLower(next) || unicode.IsDigit(next)) || withoutSpaces(last) && withoutSpaces(next)
	if !isJoined && !strings.HasSuffix(before, " ") {
		s.p.Text(s.style(s.last), " ")
	}
}

// endsInHyphen matches a line that ends in a hyphen, and divided a line whose final hyphen is due to the line break: a word with
// other hyphens is likely to keep that one.
var (
	endsInHyphen = regexp.MustCompile(`[\pL\pN][-\x{ad}‐]\s*$`)
	divided      = regexp.MustCompile(`(?:^|[^\pL\pN\-‐])\pL+[-\x{ad}‐]\s*$`)
)

// isHyphenated reports whether a hyphenated word continues in the next line.
func isHyphenated(before, after string) bool {
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	return unicode.IsLower(next) && divided.MatchString(before)
}

// withoutSpaces reports whether a letter's script has no spaces between words.
func withoutSpaces(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= '\u3000' && r <= '\u303f' || r >= '\uff00' && r <= '\uffef'
}

// keeps reports whether a text of a line moves with it unchanged: code, formulas, signs, raised note numbers.
func (l *line) keeps(s *span) bool {
	isRaised := s.size < 0.8*l.size && s.y > l.y+0.15*l.size
	return s.kept || s.font.mono || s.font.math || isRaised && !word.MatchString(s.text)
}

// style returns a style in the form of package tagged.
func (s *segment) style(of style) tagged.Style {
	n, known := s.numbers[of]
	if !known {
		n = len(s.styles)
		s.numbers[of], s.styles = n, append(s.styles, of)
	}
	key := strconv.Itoa(n)
	return tagged.Style{Key: key, Open: markSign + "s" + key + markSign}
}

// keep adds kept texts.
func (s *segment) keep(l *line, spans []*span) {
	raw := fmt.Sprintf("%sk%d%s", markSign, len(s.kept), markSign)
	s.kept = append(s.kept, spans)
	if first := spans[0]; first.y > l.y+0.15*l.size && first.size < 0.8*l.size {
		s.p.Point(raw)
	} else {
		s.p.Special(raw)
	}
	if strings.HasSuffix(spans[len(spans)-1].text, " ") {
		s.p.Text(s.style(s.last), " ")
	}
}

// pieces parses a rewritten paragraph.
func (s *segment) pieces(out string) (pieces []piece, err error) {
	var now style
	add := func(text string) {
		if text != "" {
			pieces = append(pieces, piece{text: text, style: now})
		}
	}
	at := 0
	for _, m := range mark.FindAllStringSubmatchIndex(out, -1) {
		add(out[at:m[0]])
		at = m[1]
		n, err := strconv.Atoi(out[m[4]:m[5]])
		switch isStyle := out[m[2]:m[3]] == "s"; {
		case err != nil:
			return nil, err
		case isStyle:
			now = s.styles[n]
		default:
			pieces = append(pieces, piece{kept: s.kept[n], style: now})
		}
	}
	add(out[at:])
	return pieces, nil
}
