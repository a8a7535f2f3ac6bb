// Package corpustest has texts with parts that a translation must preserve, in the formats that are commonly translated: messages
// of programs, Markdown, HTML, XML, subtitles, code, addresses. It serves tests and measurements. The texts themselves mark the
// parts, and damage is judged without package markup, so that faults of that package are found.
package corpustest

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed corpus.tsv
var file string

// tokens has words held by their shape. unseen has texts with much prose, written without knowledge of the code.
//
//go:embed tokens.tsv
var tokens string

//go:embed unseen.tsv
var unseen string

// Line is a text of the corpus.
type Line struct {
	Kind   string   // source format, such as "printf"; "prose" for text that only resembles a format
	Format string   // format of the request: text, html or xml
	Lang   string   // a language code
	Text   string   // the text as sent
	Parts  [][2]int // byte ranges that must be preserved, in order
}

// Read returns all lines. It fails if the files are not in the form that their heads describe.
func Read() ([]Line, error) {
	var lines []Line
	for i, row := range strings.Split(strings.TrimSuffix(file+tokens+unseen, "\n"), "\n") {
		if strings.HasPrefix(row, "#") {
			continue
		}
		columns := strings.Split(row, "\t")
		if len(columns) != 4 {
			return nil, fmt.Errorf("corpus.tsv:%d: %d columns, not 4", i+1, len(columns))
		}
		l := Line{Kind: columns[0], Format: columns[1], Lang: columns[2]}
		if err := l.read(columns[3]); err != nil {
			return nil, fmt.Errorf("corpus.tsv:%d: %w", i+1, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// read parses a text whose parts are between ⟦ and ⟧.
func (l *Line) read(marked string) error {
	var text strings.Builder
	start := -1
	for _, r := range strings.NewReplacer("␤", "\n", "␉", "\t").Replace(marked) {
		switch {
		case r == '⟦' && start < 0:
			start = text.Len()
		case r == '⟧' && start >= 0 && start < text.Len():
			l.Parts = append(l.Parts, [2]int{start, text.Len()})
			start = -1
		case r == '⟦' || r == '⟧':
			return fmt.Errorf("brackets that are empty or not in pairs: %s", marked)
		default:
			text.WriteRune(r)
		}
	}
	if start >= 0 {
		return fmt.Errorf("a ⟦ without its ⟧: %s", marked)
	}
	l.Text = text.String()
	return nil
}

// ordered are the kinds whose parts keep their order: each part belongs to the text behind it.
var ordered = []string{"srt", "vtt", "ass", "lrc", "xml", "properties"}

// Damage describes the faults of a translation: parts that are missing, changed or repeated, and signs and lines that the text
// does not have. It returns nil for a translation without faults.
func (l Line) Damage(translation string) (damage []string) {
	at := 0
	for _, p := range l.Parts {
		part := l.Text[p[0]:p[1]]
		if want, got := strings.Count(l.Text, part), strings.Count(translation, part); want != got {
			damage = append(damage, fmt.Sprintf("%q is there %d times, not %d", part, got, want))
		} else if slices.Contains(ordered, l.Kind) {
			i := strings.Index(translation[at:], part)
			if i < 0 {
				damage = append(damage, fmt.Sprintf("%q is not in its place", part))
				continue
			}
			at += i + len(part)
		}
	}
	for _, sign := range []string{"{", "}", "<", ">", "[", "]", "|", "\\", "`", "\n"} {
		if want, got := strings.Count(l.Text, sign), strings.Count(translation, sign); want != got {
			damage = append(damage, fmt.Sprintf("%q is there %d times, not %d", sign, got, want))
		}
	}
	return damage
}

// Prose returns the text with each run outside its parts replaced by its translation.
func (l Line) Prose(translate func(string) string) string {
	var out strings.Builder
	at := 0
	for _, p := range l.Parts {
		out.WriteString(translate(l.Text[at:p[0]]))
		out.WriteString(l.Text[p[0]:p[1]])
		at = p[1]
	}
	return out.String() + translate(l.Text[at:])
}
