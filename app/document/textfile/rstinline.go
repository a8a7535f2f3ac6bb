package textfile

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/document/tagged"
	"dragoman/app/text/char"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// Inline marks are passed as markup between characters that texts never have: \uFDD0 and \uFDD1 enclose a mark with its content,
// \uFDD2 and \uFDD3 the text in it, and \uFDD4 is a space at which no line ends.
const markSigns = "\uFDD0\uFDD1\uFDD2\uFDD3\uFDD4"

// paragraph translates a paragraph, and wraps the translation like it.
func (f *rstFile) paragraph(lines []wrap.Line) error {
	w := f.of(lines)
	text, colons := w.Text, ""
	if body, ok := strings.CutSuffix(text, "::"); ok && !strings.HasSuffix(body, `\`) {
		text, colons = strings.TrimRight(body, " "), " ::"
		if text == body {
			text, colons = body+":", ":"
		}
	}
	translation, changed, err := f.inline(text)
	if err != nil || !changed {
		return err
	}
	switch {
	case colons == "" && strings.HasSuffix(translation, "::"):
		translation = translation[:len(translation)-2] + `\::`
	case colons == ":" && strings.HasSuffix(translation, "："):
		translation += " ::"
	case colons == ":" && !strings.HasSuffix(translation, ":"):
		translation += "::"
	default:
		translation += colons
	}
	filled := f.fill(w, escapeStart(translation), hasLetterOrDigit)
	return f.replace(w.Start, w.End, strings.ReplaceAll(strings.Join(filled, w.Between), "\uFDD4", " "))
}

func hasLetterOrDigit(word string) bool { return strings.ContainsFunc(word, char.IsLetterOrDigit) }

// escapeStart prevents a text from being read as the start of another block.
func escapeStart(text string) string {
	if rstStart.MatchString(text) || fieldMark.MatchString(text) {
		return `\` + text
	}
	return text
}

var rstStart = regexp.MustCompile(`^(?:[-*+•‣⁃](?:\s|$)|\(?(?:\d+|[A-Za-z]|[ivxlcdmIVXLCDM]+|#)[.)](?:\s|$)|\.\.(?:\s|$)|__(?:\s|$)|\|(?:\s|$)|>>>|--?\w|/\w|\+-|=+(?:\s|$))`)

// inline translates a text with marks. The result has \uFDD4 for spaces in marks.
func (f *rstFile) inline(text string) (string, bool, error) {
	t := tagged.New()
	s := rstScanner{looks: f.looks, text: strings.Map(withoutSigns, text), t: t, anonymous: strings.Count(text, "`__"), referenced: f.referenced}
	s.run()
	translation, changed, err := f.rewritten(t, escapeRST)
	if err != nil || !changed {
		return "", false, err
	}
	translation, ok := joinMarks(strings.TrimSpace(translation))
	if !ok {
		return "", false, f.options.Fits(fmt.Errorf("%w: a mark is in another one, or has nothing in it", markup.ErrLost))
	}
	return translation, true, nil
}

func withoutSigns(r rune) rune {
	if strings.ContainsRune(markSigns, r) {
		return ' '
	}
	return r
}

// rstScanner finds the marks in a text.
type rstScanner struct {
	looks     *char.Looks
	text      string
	t         *tagged.Paragraph
	at, plain int // the position, and the end of the text already added
	anonymous int // number of anonymous references

	referenced map[string]bool // names of references
	unclosed   map[string]bool
}

func (s *rstScanner) run() {
	s.unclosed = map[string]bool{}
	for s.at < len(s.text) {
		before, _ := utf8.DecodeLastRuneInString(s.text[:s.at])
		c := s.text[s.at]
		s.looks.Past(1)
		switch n := 0; {
		case c == '\\':
			_, size := utf8.DecodeRuneInString(s.text[s.at+1:])
			s.at += 1 + size
			continue
		case s.at == s.plain || mayStand(before, startsMark): // a mark may directly follow another one
			if strings.IndexByte("*`|[_:", c) >= 0 {
				n = s.mark()
			} else if name := len(simpleName.FindString(s.text[s.at:])); name > 0 {
				n = s.reference(name)
			}
			if s.at += n; n > 0 {
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += size
	}
	s.add(0, nil)
}

// reference adds the reference whose name of the given length is here, if it is one, and returns the number of bytes read.
func (s *rstScanner) reference(name int) int {
	rest := s.text[s.at+name:]
	n := name + min(2, len(rest)-len(strings.TrimLeft(rest, "_")))
	if n == name || s.ended(n) == 0 {
		return name
	}
	s.add(n, func(raw string) { s.t.Special(special(raw)) })
	return n
}

// add adds the text before the mark of n bytes here, and the mark.
func (s *rstScanner) add(n int, mark func(raw string)) {
	if n == 0 && s.at < len(s.text) {
		return
	}
	s.t.Text(tagged.Style{}, unescapeRST(s.text[s.plain:s.at]))
	if n > 0 {
		mark(s.text[s.at : s.at+n])
	}
	s.plain = s.at + n
}

var (
	simpleName    = regexp.MustCompile(`^[\pL\pN]+(?:[-._+:][\pL\pN]+)*`)
	noteReference = regexp.MustCompile(`^\[(?:\d+|#[\w.-]*|\*|\w[\w.+:-]*)\]_`)
	roleStart     = regexp.MustCompile("^:[\\w.+-]+(?::[\\w.+-]+)*:`")
	// linked matches a text in backquotes with its target.
	linked    = regexp.MustCompile(`^(\S(?s:.*\S)?)\s+<[^<>]+>$`)
	rstEscape = regexp.MustCompile(`\\(\s|(?s:.))?`)
)

// mostRole is the maximum length in bytes of a role's name.
const mostRole = 100

// mark adds the mark that starts here, and returns its length in bytes, or 0.
func (s *rstScanner) mark() int {
	rest := s.text[s.at:]
	simple := func(sign string) int {
		n := s.end(len(sign), sign)
		s.add(n, func(raw string) {
			s.group(sign, raw[len(sign):len(raw)-len(sign)], sign)
		})
		return n
	}
	hidden := func(n int) int {
		s.add(n, func(raw string) { s.t.Special(special(raw)) })
		return n
	}
	switch {
	case strings.HasPrefix(rest, "``"):
		return hidden(s.end(2, "``"))
	case strings.HasPrefix(rest, "**"):
		return simple("**")
	case rest[0] == '*':
		return simple("*")
	case rest[0] == '|':
		if n := s.end(1, "|"); n > 0 {
			return hidden(n)
		}
		if n := s.end(1, "|_"); n > 0 {
			return hidden(n)
		}
	case rest[0] == '[':
		n := s.ended(len(noteReference.FindString(rest)))
		s.add(n, func(raw string) { s.t.Point(special(raw)) })
		return n
	case strings.HasPrefix(rest, "_`"):
		return hidden(s.end(2, "`"))
	case rest[0] == ':':
		if role := len(roleStart.FindString(rest[:min(len(rest), mostRole)])); role > 0 {
			return s.quoted(role)
		}
	case rest[0] == '`':
		return s.quoted(1)
	}
	return 0
}

// quoted adds the text in backquotes that starts start bytes ahead: a role or a reference.
func (s *rstScanner) quoted(start int) int {
	suffix := ""
	n := s.close(start, "`", func(end int) bool {
		for _, suffix = range []string{referenceEnd.FindString(s.text[s.at+end:]), ""} {
			if s.ended(end+len(suffix)) > 0 {
				return true
			}
		}
		return false
	})
	if n == 0 {
		return 0
	}
	inner := s.text[s.at+start : s.at+n-1]
	n += len(suffix)
	m := linked.FindStringSubmatch(inner)
	s.add(n, func(raw string) {
		isReference := suffix == "_" || suffix == "__"
		switch {
		case m != nil && suffix == "_" && s.referenced[rstName(m[1])]: // other references use its text
			s.t.Special(special(raw))
		case m != nil && (isReference || start > 1):
			s.group(raw[:start], m[1], inner[len(m[1]):]+raw[start+len(inner):])
		case suffix == "_" && !strings.ContainsAny(inner, "<>\\`") && !address.MatchString(inner):
			s.group("`", inner, " <"+inner+"_>`__")
		case suffix == "__" && start == 1 && s.anonymous == 1 && !strings.HasPrefix(inner, "<"):
			s.group("`", inner, "`__")
		default:
			s.t.Ordered(special(raw))
		}
	})
	return n
}

// address matches the start of a name that would be read as an address.
var address = regexp.MustCompile(`^(?:[A-Za-z][\w.+-]*:\S|\S+@)`)

var (
	roleEnd      = regexp.MustCompile(`^:[\w.+-]+(?::[\w.+-]+)*:`)
	referenceEnd = regexp.MustCompile(`^(?:__?|` + roleEnd.String()[1:] + `)`)
)

// group adds a mark with text.
func (s *rstScanner) group(open, text, end string) {
	s.t.Open("\uFDD0" + open + "\uFDD2")
	s.t.Text(tagged.Style{}, unescapeRST(text))
	s.t.Close("\uFDD3" + strings.ReplaceAll(end, " ", "\uFDD4") + "\uFDD1")
}

// special returns a mark without text in the form in which it is passed.
func special(raw string) string { return "\uFDD0" + strings.ReplaceAll(raw, " ", "\uFDD4") + "\uFDD1" }

// end returns the length up to the end of the mark here, with its opening of start bytes and the closing sign, or 0.
func (s *rstScanner) end(start int, sign string) int {
	return s.close(start, sign, func(end int) bool { return s.ended(end) > 0 })
}

// close finds the sign that ends the mark here: not behind white space, and accepted by isEnd.
func (s *rstScanner) close(start int, sign string, isEnd func(end int) bool) int {
	key := s.text[s.at:s.at+1] + sign
	first, _ := utf8.DecodeRuneInString(s.text[min(len(s.text), s.at+start):])
	if s.unclosed[key] || unicode.IsSpace(first) || s.at+start >= len(s.text) || isQuoted(s.text[s.plain:s.at], first) {
		return 0
	}
	for at := s.at + start + utf8.RuneLen(first); ; {
		n := strings.Index(s.text[min(at, len(s.text)):], sign)
		if n < 0 {
			s.unclosed[key] = true
			return 0
		}
		at += n
		before := s.text[s.at:at]
		last, _ := utf8.DecodeLastRuneInString(before)
		isEscaped := sign != "``" && (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
		if !unicode.IsSpace(last) && !isEscaped && isEnd(at+len(sign)-s.at) {
			return at + len(sign) - s.at
		}
		at++
	}
}

// ended returns n if a mark of n bytes may end here, or 0.
func (s *rstScanner) ended(n int) int {
	if next, size := utf8.DecodeRuneInString(s.text[s.at+n:]); n > 0 && (size == 0 || mayStand(next, endsMark)) {
		return n
	}
	return 0
}

// Signs allowed before and behind a mark, besides white space, brackets and dashes.
const (
	startsMark = "'\"/:<、。！，．：；？·¿"
	endsMark   = "'\"/:>\\.,;!?、。！，．：；？·¿"
)

// mayStand reports whether r may stand beside a mark, on the side to which signs belongs.
func mayStand(r rune, signs string) bool {
	if unicode.IsSpace(r) || strings.ContainsRune(signs, r) || unicode.In(r, unicode.Pd, unicode.Pi, unicode.Pf) {
		return true
	}
	return unicode.Is(unicode.Ps, r) && signs == startsMark || unicode.Is(unicode.Pe, r) && signs == endsMark
}

func unescapeRST(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return rstEscape.ReplaceAllStringFunc(text, func(escape string) string {
		return strings.TrimLeftFunc(escape[1:], unicode.IsSpace)
	})
}

// escapeRST escapes the signs of a text that could be marks.
func escapeRST(text string) string {
	var out strings.Builder
	last := 'x'
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		isApart := unicode.IsSpace(last) && unicode.IsSpace(next)
		switch last = r; {
		case strings.ContainsRune(markSigns, r):
			r = ' '
		case r == '\\', r == '`', (r == '*' || r == '|') && !isApart, r == '_' && !char.IsLetterOrDigit(next):
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// isQuoted reports whether the sign behind a text is enclosed by quotes or brackets: "*" is not a mark.
func isQuoted(before string, sign rune) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return before != "" && strings.Contains(`''""()[]{}<>`, string([]rune{last, sign}))
}

// joins reports whether a mark would merge with, or be invalidated by, the allowed sign before it.
func joins(last rune, mark string) bool {
	first, _ := utf8.DecodeRuneInString(mark)
	inner, _ := utf8.DecodeRuneInString(strings.TrimLeft(mark, "*`|_"))
	switch {
	case char.IsLetterOrDigit(first): // a name may contain such signs
		return strings.ContainsRune("-._+:", last)
	case first == '`' && !strings.HasPrefix(mark, "``"):
		return last == ':' || isQuoted(string(last), inner)
	}
	return isQuoted(string(last), inner)
}

// joinMarks writes marks without the enclosing characters, and separates them from neighbours that they may not touch. It returns
// false if a mark is nested or empty.
func joinMarks(text string) (string, bool) {
	var out strings.Builder
	last := ' ' // the last character before the position
	for text != "" {
		plain, rest, found := strings.Cut(text, "\uFDD0")
		out.WriteString(plain)
		if plain != "" {
			last, _ = utf8.DecodeLastRuneInString(plain)
		}
		if !found {
			return out.String(), true
		}
		mark, behind, _ := strings.Cut(rest, "\uFDD1")
		open, inner, isGroup := strings.Cut(mark, "\uFDD2")
		if isGroup {
			inner, end, _ := strings.Cut(inner, "\uFDD3")
			before, bare, after := trimmed(inner)
			if bare == "" || strings.Contains(inner, "\uFDD0") {
				return "", false
			}
			if out.WriteString(before); before != "" {
				last = ' '
			}
			if name := strings.TrimSuffix(strings.TrimPrefix(end, "\uFDD4<"), "_>`__"); name == bare {
				end = "`_"
			}
			mark, behind = open+bare+end, after+behind
		}
		if !mayStand(last, startsMark) || joins(last, mark) {
			out.WriteString(`\ `)
		}
		out.WriteString(mark)
		last, _ = utf8.DecodeLastRuneInString(mark)
		isRole := last == '`' && !strings.HasSuffix(mark, "``") && roleEnd.MatchString(behind)
		if next, size := utf8.DecodeRuneInString(behind); size > 0 && next != '\uFDD0' && (isRole || !mayStand(next, endsMark)) {
			out.WriteString(`\ `)
			last = ' '
		}
		text = behind
	}
	return out.String(), true
}
