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
			isSpaced := i > 0 && s.isSpaced || i == 0 && before != nil && !strings.HasSuffix(before.text, " ")
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
		if i > 0 && at.isSpaced {
			s.p.Text(s.style(s.last), " ")
		}
		text := at.text
		if s.cut && i == len(l.spans)-1 {
			_, size := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-size]
		}
		isNote := l.isNote(i)
		if !isNote && !l.keeps(at) {
			s.last = at.font
			s.p.Text(s.style(at.font), text)
			continue
		}
		from := i
		for i+1 < len(l.spans) && l.keeps(l.spans[i+1]) && (!l.spans[i+1].isSpaced || at.font.mono && l.spans[i+1].font == at.font) {
			i++
		}
		s.keep(l.spans[from:i+1], isNote || l.raises(at))
	}
}

// noteMark matches the mark of a note.
var noteMark = regexp.MustCompile(`^[\d*†‡§¶]{1,3}$`)

// isNote reports whether a word of a line is the mark of a note behind another word, by its link: its letters may be small by
// themselves.
func (l *line) isNote(i int) bool {
	return i > 0 && !l.spans[i].isSpaced && l.spans[i].font.link > 0 && l.spans[i].font.link != l.spans[i-1].font.link && noteMark.MatchString(l.spans[i].text)
}

// nextLine adds the text between two lines: a space, unless a word continues or the script has no spaces.
func (s *segment) nextLine(before, after string) {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, " "))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, " "))
	isJoined := isOneAddress(before, after) || endsInHyphen.MatchString(before) && (unicode.IsLower(next) || unicode.IsDigit(next)) || withoutSpaces(last) && withoutSpaces(next)
	if !isJoined && !strings.HasSuffix(before, " ") {
		s.p.Text(s.style(s.last), " ")
	}
}

// isOneAddress reports whether an address continues in the next line.
func isOneAddress(before, after string) bool {
	words, next := strings.Fields(before), strings.Fields(after)
	if len(words) == 0 || len(next) == 0 || !addressStart.MatchString(words[len(words)-1]) {
		return false
	}
	return addressEnd.MatchString(words[len(words)-1]) && addressPart.MatchString(next[0]) || addressSign.MatchString(next[0])
}

// addressStart matches a word that begins an address, addressEnd one after whose end lines are broken in addresses, addressPart a
// word that may be a part of an address, and addressSign one that begins with a sign that only addresses have.
var (
	addressStart = regexp.MustCompile(`^[(<\["'“„«]?(?:\w+://|www\.)`)
	addressEnd   = regexp.MustCompile(`(?:[/?&=#_%~+\-]|\w[.:])$`)
	addressPart  = regexp.MustCompile(`[/?&=#_%~\d]|\w\.\w|://`)
	addressSign  = regexp.MustCompile(`^[/?&=#_%~]\w|^\.\w`)
)

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
	return s.kept || s.font.mono || s.font.math || l.raises(s) && !word.MatchString(s.text)
}

// style returns a style in the form of package tagged.
func (s *segment) style(of style) tagged.Style {
	n, known := s.numbers[of]
	if !known {
		n = len(s.styles)
		s.numbers[of], s.styles = n, append(s.styles, of)
	}
	key := strconv.Itoa(n)
	return tagged.Style{Key: key, Open: markSign + "s" + key + markSign, Spaceless: true}
}

// keep adds kept words, which belong behind a word if they are the mark of a note.
func (s *segment) keep(spans []*span, isNote bool) {
	raw := fmt.Sprintf("%sk%d%s", markSign, len(s.kept), markSign)
	if s.kept = append(s.kept, spans); isNote {
		s.p.Point(raw)
	} else {
		s.p.Special(raw)
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
