package markup

import (
	"context"
	"iter"
	"regexp"
	"strings"
	"unicode"

	"dragoman/app/text/char"
)

// Readings are the pronunciations that ruby annotations add to words of a text (<rt>, <rtc>, <rp>). They belong to the source
// words; only the words are translated.
type Readings struct {
	plain, text string              // the text without readings, in the form of a translation, and the original
	words       map[string][]string // by word: the ruby elements with the word's readings
}

// CutReadings returns the sentence without ruby markup, and the readings.
func (s Sentence) CutReadings(ctx context.Context) (cut Sentence, r Readings, err error) {
	cut, err = s.within(ctx, len(s.Text), func(s Sentence) (cut Sentence) {
		cut, r = s.cutReadings()
		return cut
	})
	return cut, r, err
}

func (s Sentence) cutReadings() (Sentence, Readings) {
	if !strings.Contains(s.Text, "<") || !s.looks.Match(ruby, s.Text) {
		return s, Readings{}
	}
	r := Readings{text: s.Original()}
	ends := map[int]int{} // from pairs to the spans that close them
	for i, span := range s.Spans {
		if span.Pair < 0 && ends[-span.Pair] == 0 {
			ends[-span.Pair] = i
		}
	}
	var out strings.Builder
	at := 0
	for i, span := range s.Spans {
		s.looks.Past(1)
		end := ends[span.Pair]
		if end == 0 || span.Start < at || span.Kind != Tag || rubyName(s.spanText(i)) != "ruby" {
			continue
		}
		base := s.base(i, end)
		out.WriteString(s.Text[at:span.Start] + base)
		at = s.Spans[end].End
		r.Add(base, s.Slice(span.Start, at).Original())
	}
	if at == 0 {
		return s, Readings{}
	}
	s = parse(scanner{text: out.String() + s.Text[at:], form: s.format, looks: s.looks})
	r.plain = s.Original()
	return s, r
}

var ruby = regexp.MustCompile(`(?i)</?(ruby|rb|rt|rtc|rp)(?:\s[^<>]*)?>`)

// rubyName returns the name of a ruby tag, with a slash for an end tag, or "" for other tags.
func rubyName(tag string) string {
	m := ruby.FindStringSubmatch(tag)
	if m == nil || m[0] != tag {
		return ""
	}
	name := strings.ToLower(m[1])
	if strings.HasPrefix(tag, "</") {
		return "/" + name
	}
	return name
}

// base returns the text between spans start and end, which enclose a ruby element, without its readings, whose end tags may be
// missing. In scripts without spaces, line ends between the parts are removed.
func (s Sentence) base(start, end int) string {
	var parts []string
	at, reading, container := s.Spans[start].End, false, false
	for i := start + 1; i <= end; i++ {
		s.looks.Past(1)
		name := rubyName(s.spanText(i))
		if s.Spans[i].Kind != Tag || name == "" {
			continue
		}
		if !reading && !container {
			parts = append(parts, s.Text[at:s.Spans[i].Start])
		}
		at = s.Spans[i].End
		switch name {
		case "rt", "rp":
			reading = true
		case "rtc":
			reading, container = false, true
		case "rb", "/rtc":
			reading, container = false, false
		case "/rt", "/rp":
			reading = false
		}
	}
	if base := strings.Join(parts, ""); !strings.ContainsFunc(base, func(r rune) bool { return unicode.IsLetter(r) && char.IsUnspaced(r) }) {
		return base
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, "")
}

// Add records a reading: raw is the markup of the word with its reading.
func (r *Readings) Add(word, raw string) {
	if r.words == nil {
		r.words = map[string][]string{}
	}
	r.words[word] = append(r.words[word], raw)
}

// Restore puts back readings of words that the translation kept, or all of them if it is the source text.
func (r *Readings) Restore(translation string) string {
	switch {
	case r.words == nil:
		return translation
	case translation == r.plain:
		return r.text
	}
	var out strings.Builder
	for part := range r.Within(translation, map[string]int{}) {
		out.WriteString(part)
	}
	return out.String()
}

// Within cuts a translation at the words that it kept. It yields their markup with readings and true, and other text with false.
// used counts the readings used.
func (r *Readings) Within(translation string, used map[string]int) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		start, lastEnd := 0, strings.LastIndexByte(translation, '>')
		for at := 0; at < len(translation) && r.words != nil; {
			n := 0
			if translation[at] == '<' && at < lastEnd {
				n = strings.IndexByte(translation[at:], '>') + 1
			} else {
				n = char.Skip(translation[at:], 0, isWordOrMark)
			}
			if n == 0 {
				_, n = char.Decode(translation, at)
			}
			word := translation[at : at+n]
			if list := r.words[word]; used[word] < len(list) {
				used[word]++
				if at > start && !yield(translation[start:at], false) || !yield(list[used[word]-1], true) {
					return
				}
				start = at + n
			}
			at += n
		}
		if start < len(translation) {
			yield(translation[start:], false)
		}
	}
}

func isWordOrMark(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

// WithoutReadings returns a text of a format without its readings.
func WithoutReadings(ctx context.Context, text string, format Format) (string, error) {
	s, err := Sentence{}.within(ctx, len(text), func(s Sentence) Sentence {
		if !s.looks.Match(ruby, text) {
			return Sentence{Text: text}
		}
		s, _ = parse(scanner{text: text, form: format, looks: s.looks}).cutReadings()
		return s
	})
	return s.Text, err
}
