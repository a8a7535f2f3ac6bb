package markup

import (
	"regexp"
	"strings"

	"dragoman/app/text/char"
)

// dialect is the subtitle format that the first line of a plain text declares.
type dialect uint8

const (
	noSubtitles dialect = iota
	webVTT
	subStation // Advanced SubStation Alpha
)

// line adds a span for text that is recognized only at the start of a line: fenced code, the timing of a subtitle, a definition.
// It reports whether it did.
func (s *scanner) line() bool {
	if s.pos > 0 && s.text[s.pos-1] != '\n' {
		return false
	}
	if s.pos == 0 {
		s.findDialect()
	}
	for _, read := range [...]func(*scanner) (Kind, int){
		(*scanner).frontMatter, (*scanner).fence, (*scanner).subtitle, (*scanner).lineStart,
	} {
		if kind, n := read(s); n > 0 {
			s.add(kind, n, 0)
			return true
		}
	}
	return false
}

func (s *scanner) findDialect() {
	switch line := strings.TrimPrefix(s.text[:s.lineEnd(0)], "\uFEFF"); {
	case line == "WEBVTT" || strings.HasPrefix(line, "WEBVTT ") || strings.HasPrefix(line, "WEBVTT\t"):
		s.subtitles = webVTT
	case strings.HasPrefix(line, "[Script Info]"):
		s.subtitles = subStation
	}
}

// lineEnd returns the end of the line that contains byte i, without its line ending.
func (s *scanner) lineEnd(i int) int {
	end := len(s.text)
	if n := strings.IndexByte(s.text[i:], '\n'); n >= 0 {
		end = i + n
	}
	if end > i && s.text[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine returns the start of the line after the one that ends at i; ok is false if there is no such line.
func (s *scanner) nextLine(i int) (start int, ok bool) {
	n := strings.IndexByte(s.text[i:], '\n')
	return i + n + 1, n >= 0
}

// frontMatter returns the length of the YAML block between two --- lines at the start of a text.
func (s *scanner) frontMatter() (Kind, int) {
	if s.pos > 0 {
		return Code, 0
	}
	return Code, len(strings.TrimRight(s.text[:lengthOf(s.looks.Find(frontMatter, s.text))], "\r\n"))
}

var frontMatter = regexp.MustCompile(`^---\r?\n[\w-]+:(?s:.*?)\n---(?:\r?\n|$)`)

// fence returns the length of a fenced code block, up to its closing fence or, as in Markdown, the end of the text.
func (s *scanner) fence() (Kind, int) {
	m := s.looks.Find(fenceStart, s.text[s.pos:s.lineEnd(s.pos)])
	if m == nil {
		return Code, 0
	}
	fence := s.text[s.pos+m[2] : s.pos+m[3]]
	sign := fence[:1]
	signs := len(fence) - len(strings.TrimLeft(fence, sign))
	for at := s.lineEnd(s.pos); ; {
		next, ok := s.nextLine(at)
		if !ok {
			return Code, len(s.text) - s.pos
		}
		at = s.lineEnd(next)
		s.looks.Past(at - next)
		line := strings.TrimSpace(strings.TrimLeft(s.text[next:at], " \t>"))
		if len(line) >= signs && strings.Trim(line, sign) == "" {
			return Code, at - s.pos
		}
	}
}

// fenceStart matches an opening fence, also in a block quote or a list item. No other backquote follows a fence of backquotes on
// its line.
var fenceStart = regexp.MustCompile("^[ \\t>]*(?:[-*+] +|\\d{1,9}[.)] +)?(`{3,}[^`]*|~{3,}.*)$")

// subtitle returns the length of subtitle text that is not shown: the times of a cue, the header, notes and styles of WebVTT, the
// fields before the text of Advanced SubStation Alpha.
func (s *scanner) subtitle() (Kind, int) {
	end := s.lineEnd(s.pos)
	line := s.text[s.pos:end]
	switch {
	case strings.Contains(line, "-->") && s.looks.Match(timing, line):
		return Code, len(line)
	case strings.HasPrefix(line, "Dialogue: "), strings.HasPrefix(line, "Comment: "):
		return Code, lengthOf(s.looks.Find(fields, line))
	case s.subtitles == subStation:
		return Code, len(line)
	case s.subtitles == webVTT && s.startsBlock():
		if s.pos == 0 || hiddenBlock.MatchString(line) {
			return Code, len(strings.TrimRight(s.text[s.pos:s.pos+lengthOf(s.looks.Find(block, s.text[s.pos:]))], "\r\n"))
		}
		if next, ok := s.nextLine(end); ok && line != "" { // the name of a cue
			if times := s.lineEnd(next); s.looks.Match(timing, s.text[next:times]) {
				return Code, times - s.pos
			}
		}
	}
	return Code, 0
}

var (
	timing      = regexp.MustCompile(`^\s*[\d:.,]+\s*-->\s*\d[\d:.,]*(?:\s.*)?$`)
	fields      = regexp.MustCompile(`^(?:[^,]*,){9}`)               // before the text
	block       = regexp.MustCompile(`^(?:.*[^ \t\r\n].*(?:\n|$))*`) // lines that are not empty
	hiddenBlock = regexp.MustCompile(`^(?:NOTE|STYLE|REGION)(?:\s|$)`)
)

// startsBlock reports whether this line is the first or follows an empty one.
func (s *scanner) startsBlock() bool {
	before := strings.TrimSuffix(strings.TrimSuffix(s.text[:s.pos], "\n"), "\r")
	return before == "" || before[len(before)-1] == '\n'
}

// lineStart returns the length of a line start that is not text, or of a whole line without text.
func (s *scanner) lineStart() (Kind, int) {
	isWord, rest := char.IsASCIILetter(s.text[s.pos]), s.text[s.pos:]
	if !isWord && !char.OneOf(rest[0], `[:#" `) || isWord && s.byte(wordPart(s.text, s.pos)) == ' ' && !strings.HasPrefix(rest, "msg") {
		return Code, 0
	}
	end := s.lineEnd(s.pos)
	m := lineStarts.FindString(s.text[s.pos:min(end, s.pos+longestTemplate)])
	if strings.HasSuffix(m, `"`) {
		if tail := len(strings.TrimSuffix(s.text[s.pos+len(m):end], ";")); strings.HasSuffix(s.text[:s.pos+len(m)+tail], `"`) && tail > 0 {
			s.tail = s.pos + len(m) + tail - 1
		}
	}
	return Code, len(m)
}

// lineTail returns the length of the quote that ends a line and the rest of the line, if lineStart found a quote at the start of
// the line.
func (s *scanner) lineTail() int {
	if s.tail == 0 || s.pos != s.tail {
		return 0
	}
	return s.lineEnd(s.pos) - s.pos
}

// lineStarts matches definitions and containers of Markdown and its dialects, headers of lyrics, a shebang line, and keys of
// message files (.properties, .strings, .po).
var lineStarts = regexp.MustCompile(`^(?:` +
	` {0,3}\[\^[^\]\s]+\]:` +
	`| {0,3}\[[^\]]+\]: *(?:<[^<>]*>|\S+)(?: +["'(][^"')]*["')])? *$` +
	`|:::+[\w -]*$` +
	`|\[(?:ti|ar|al|au|lr|length|by|offset|re|tool|ve|#):[^\]]*\] *$` +
	`|#!/.*$` +
	`|[A-Za-z]\w*(?:\.\w+)+ *= *(?:\w+(?:\.\w+)+$)?` +
	`|"[^"]*" *= *"` +
	`|msg(?:id|id_plural|str|ctxt)(?:\[\d\])? "` +
	`)`)
