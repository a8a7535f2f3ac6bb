// Package corpus has the sentences that a stress test translates: real ones, because a model stops early on some and loops on
// others, unlike on synthetic text.
package corpus

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Auto as a source language means any.
const Auto = "auto"

// sentences are 1,998 sentences of Tatoeba (https://tatoeba.org, CC BY 2.0 FR), some from the Tanaka corpus: the sentences of the
// pairs en-ja and en-fr of scripts/quality/dev.tsv, each with the language of its counterpart there.
//
//go:embed sentences.tsv
var sentences string

// Sentence is a text, with its language and a language to translate it into. Both are "" if they are unknown.
type Sentence struct{ From, To, Text string }

// Pair is a pair of languages.
type Pair struct{ From, To string }

// String returns a pair in the form "en-fr".
func (p Pair) String() string { return p.From + "-" + p.To }

// Corpus is a list of sentences.
type Corpus []Sentence

// Embedded returns the corpus of the stress test: English, French and Japanese.
func Embedded() (Corpus, error) { return Read(strings.NewReader(sentences)) }

// maxLine is the maximum length of a line, in bytes.
const maxLine = 1 << 20

// Read reads a corpus of UTF-8 text with a sentence on each line, or from, to and text separated by tabs. Blank lines are
// ignored. The error names the line.
func Read(r io.Reader) (Corpus, error) {
	var c Corpus
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		s, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		c = append(c, s)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d has more than %d bytes", n+1, maxLine)
	case err != nil:
		return nil, err
	case len(c) == 0:
		return nil, errors.New("there are no sentences")
	}
	return c, nil
}

// parse reads a line that is not blank.
func parse(line string) (Sentence, error) {
	if !utf8.ValidString(line) {
		return Sentence{}, errors.New("not UTF-8")
	}
	fields := strings.Split(line, "\t")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	switch {
	case len(fields) == 1:
		return Sentence{Text: fields[0]}, nil
	case len(fields) != 3:
		return Sentence{}, fmt.Errorf("%d fields, expected a text, or from, to and text with tabs between", len(fields))
	case slices.Contains(fields, ""):
		return Sentence{}, errors.New("one of from, to and text is empty")
	}
	return Sentence{From: fields[0], To: fields[1], Text: fields[2]}, nil
}

// Pairs returns the pairs of languages of the sentences, in the order of their first sentences, or none if no sentence has
// languages.
func (c Corpus) Pairs() []Pair {
	var pairs []Pair
	for _, s := range c {
		if p := (Pair{s.From, s.To}); s.From != "" && !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// Texts returns the distinct texts for a pair of languages: texts in the source language, whatever their target language, and
// texts of unknown language. For Auto it returns all texts that are not in the target language.
func (c Corpus) Texts(p Pair) []string {
	var texts []string
	seen := map[string]bool{}
	for _, s := range c {
		fits := s.From == "" || s.From == p.From || (p.From == Auto && s.From != p.To)
		if fits && !seen[s.Text] {
			seen[s.Text] = true
			texts = append(texts, s.Text)
		}
	}
	return texts
}
