package textfile

import (
	"cmp"
	"encoding/base64"
	"html"
	"io"
	"mime"
	"mime/quotedprintable"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	xencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"dragoman/app/text/char"
	"dragoman/app/text/excerpt"
	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
)

// eml translates the texts of a mail: its parts that are plain text or HTML, and no attachments. Headers stay, except those that
// say how a translated part is encoded, and in which language it is.
func eml(p *pass) {
	if !mailStart.MatchString(p.text) {
		p.refuse(nil, "the file is no mail, which starts with a header such as From: or Subject:")
	}
	p.mailPart(0, len(p.text), 0)
}

var (
	mailStart = regexp.MustCompile(`^(?:From .*\r?\n)?[!-9;-~]+[ \t]*:`)
	mailHead  = regexp.MustCompile(`^((?:.*[^\r\n].*(?:\r?\n|$))*)(?:\r?\n)?`)
	mailQuote = regexp.MustCompile(`^(?:> ?)*`)
)

// maxMailDepth is the maximum depth of parts in each other, maxMailLine that of the bytes of a line, and the longest line of a
// text that a program has wrapped has minMailWidth to maxMailWidth characters.
const maxMailDepth, maxMailLine, minMailWidth, maxMailWidth = 20, 998, 60, 100

// mailFields capture the values of the fields of a head, with the lines on which they go on.
var mailFields = func() map[string]*regexp.Regexp {
	fields := map[string]*regexp.Regexp{}
	for _, name := range []string{"Content-Type", "Content-Disposition", "Content-Transfer-Encoding", "Content-Language", "MIME-Version"} {
		fields[name] = regexp.MustCompile(`(?im)^` + name + `[ \t]*:[ \t]*((?:.*[^\r\n])?(?:\r?\n[ \t].*[^\r\n])*)`)
	}
	return fields
}()

// mailBody is a part of a mail.
type mailBody struct {
	*pass
	start      int
	head       string
	media      string // its type; "" if it cannot be read
	parameters map[string]string
	transfer   string // its Content-Transfer-Encoding
}

// mailPart translates a part: the bytes [start, end).
func (p *pass) mailPart(start, end, depth int) {
	if depth > maxMailDepth {
		p.refuse(nil, "the mail has more than %d parts in each other", maxMailDepth)
	}
	found := mailHead.FindStringSubmatch(p.text[start:end])
	m := mailBody{pass: p, start: start, head: found[1]}
	old := m.head
	m.media, m.parameters, _ = mime.ParseMediaType(cmp.Or(m.field("Content-Type"), "text/plain"))
	disposition, _, _ := mime.ParseMediaType(m.field("Content-Disposition"))
	m.transfer = strings.ToLower(strings.TrimSpace(m.field("Content-Transfer-Encoding")))
	if p.options.To != "" && m.field("Content-Language") != "" {
		m.set("Content-Language", p.options.To)
	}
	body := start + len(found[0])
	text := p.text[body:end]
	if disposition != "attachment" && (m.media == "text/plain" || m.media == "text/html") {
		text = m.translated(text)
	}
	if m.head != old {
		p.replace(start, start+len(old), m.head)
	}
	if strings.HasPrefix(m.media, "multipart/") && m.parameters["boundary"] != "" {
		p.mailParts(body, end, "--"+m.parameters["boundary"], depth)
	} else if text != p.text[body:end] {
		p.replace(body, end, text)
	}
}

// mailParts translates the parts between the lines of a boundary.
func (p *pass) mailParts(start, end int, boundary string, depth int) {
	part := -1
	for l := range wrap.Lines(p.text[start:end], "\n") {
		p.looks.Past(1 + l.End - l.Start)
		line, isBoundary := strings.CutPrefix(strings.TrimRight(p.text[start+l.Start:start+l.End], " \t\r"), boundary)
		if !isBoundary || line != "" && line != "--" {
			continue
		}
		if part >= 0 {
			last := start + l.Start - len(lastLineEnd.FindString(p.text[part:start+l.Start]))
			p.mailPart(part, max(part, last), depth+1)
		}
		part = min(start+l.End+len(lineEnd(p.text[start+l.End:end])), end)
		if line == "--" {
			return
		}
	}
	if part >= 0 {
		p.mailPart(part, end, depth+1)
	}
}

var lastLineEnd = regexp.MustCompile(`\r?\n$`)

// field returns the value of a field in one line, or "".
func (m *mailBody) field(name string) string {
	at := mailFields[name].FindStringSubmatchIndex(m.head)
	if at == nil {
		return ""
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(m.head[at[2]:at[3]])
}

// set changes the value of a field, or adds the field.
func (m *mailBody) set(name, value string) {
	if at := mailFields[name].FindStringSubmatchIndex(m.head); at != nil {
		m.head = m.head[:at[2]] + value + m.head[at[3]:]
		return
	}
	m.head += name + ": " + value + m.lineEnd
}

// translated returns the translation of a body.
func (m *mailBody) translated(body string) string {
	text, form := m.decode(body)
	rewrite, memory := m.lines, each(100, "\n")(text)
	if m.media == "text/html" {
		rewrite, memory = htmlUnits, each(500, "<=")(text)
	}
	release := m.hold(memory + 4*int64(len(text)))
	defer release()
	translation := m.within(text, rewrite)
	if translation == text {
		return body
	}
	encoded, err := form.NewEncoder().String(translation)
	if err != nil || form == xencoding.Nop && !char.IsASCII(translation) && !strings.EqualFold(m.parameters["charset"], "utf-8") {
		encoded = translation
		if m.parameters == nil { // they cannot be read
			m.parameters = map[string]string{}
		}
		m.parameters["charset"] = "utf-8"
		if m.start == 0 {
			m.set("MIME-Version", "1.0")
		}
		m.set("Content-Type", mime.FormatMediaType(m.media, m.parameters))
	}
	return m.encode(encoded)
}

// decode returns the text of a body, and its encoding.
func (m *mailBody) decode(body string) (string, xencoding.Encoding) {
	var raw []byte
	var err error
	switch m.transfer {
	case "base64":
		raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(body), ""), "="))
	case "quoted-printable":
		raw, err = io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
	default:
		raw = []byte(body)
	}
	if err != nil {
		m.refuse(err, "is not valid %s", m.transfer)
	}
	name := m.parameters["charset"]
	form, err := htmlindex.Get(name)
	if name == "" || strings.EqualFold(name, "us-ascii") || strings.EqualFold(name, "utf-8") {
		form, err = xencoding.Nop, nil
		if !utf8.Valid(raw) {
			form = codePage(m.options.From).form
		}
	}
	if err != nil {
		m.refuse(err, "has the encoding %q, which is not known", name)
	}
	text, err := form.NewDecoder().String(string(raw))
	if err != nil || !utf8.ValidString(text) || strings.Contains(text, "\uFFFD") && !strings.Contains(string(raw), "\uFFFD") {
		m.refuse(err, "is not valid in its encoding %q", name)
	}
	return text, form
}

func (m *mailBody) refuse(err error, what, value string) {
	m.pass.refuse(err, "the part of the mail that starts in line %d "+what, m.lineNumber(m.start), excerpt.Of(value))
}

// encode returns a body as it is transferred: as before, or quoted-printable if that does not do.
func (m *mailBody) encode(text string) string {
	var out strings.Builder
	isLong := slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool { return len(line) > maxMailLine })
	switch {
	case m.transfer == "base64":
		for all := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString([]byte(text))), 76) {
			out.WriteString(string(all) + m.lineEnd)
		}
		return out.String()
	case m.transfer != "quoted-printable" && !isLong && (char.IsASCII(text) || m.transfer == "8bit" || m.transfer == "binary"):
		return text
	}
	m.set("Content-Transfer-Encoding", "quoted-printable")
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write([]byte(text)) // to memory
	_ = w.Close()
	return strings.ReplaceAll(out.String(), "\r\n", m.lineEnd)
}

// lines translates a plain text. Lines that a program has wrapped are a paragraph: those that end in a space if the format is
// flowed, otherwise those behind which the next word has no room.
func (m *mailBody) lines(p *pass) {
	inner := p.translator
	p.translator = func(text string) (string, error) { // segments of mails are HTML
		translation, err := inner(markup.HTML.Escape(text))
		return html.UnescapeString(translation), err
	}
	isFlowed, width := strings.EqualFold(m.parameters["format"], "flowed"), 0
	isDeleted := isFlowed && strings.EqualFold(m.parameters["delsp"], "yes") // the space at the end of a line: lines are not wrapped again
	lines := p.linesOf("\n")
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(strings.TrimRight(p.in(l), " \r")))
	}
	var run []wrap.Line
	for i, l := range lines {
		quote := mailQuote.FindString(p.in(l))
		raw, next := strings.TrimSuffix(p.in(l)[len(quote):], "\r"), ""
		text := strings.TrimRight(raw, " \t")
		run = append(run, wrap.Line{Start: l.Start + len(quote), End: l.Start + len(quote) + len(text)})
		if i+1 < len(lines) && mailQuote.FindString(p.in(lines[i+1])) == quote {
			next, _, _ = strings.Cut(p.in(lines[i+1])[len(quote):], " ")
		}
		goesOn := isFlowed && strings.HasSuffix(raw, " ") && raw != "-- "
		if !isFlowed {
			goesOn = width >= minMailWidth && width <= maxMailWidth && utf8.RuneCountInString(quote+text+" "+next) > width
		}
		if goesOn && text != "" && next != "" {
			continue
		}
		if isDeleted {
			p.paragraph(wrap.Of(p.looks, p.text, run), func(text string) string { return text })
		} else {
			p.wrapped(run)
		}
		run = run[:0]
	}
}
