package glossary

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"dragoman/app/text/excerpt"
	"dragoman/app/text/language"
	"dragoman/app/translate"
)

// Format is a text format of terms.
type Format string

// The formats. Both are UTF-8 with one term per line and no header; blank lines are ignored.
const (
	// FormatTSV has a source, a tab and a target, without quotes.
	FormatTSV Format = "tsv"
	// FormatCSV has a source, a comma and a target, quoted by RFC 4180. The codes of both languages may follow, as in DeepL's
	// files.
	FormatCSV Format = "csv"
)

// Parse reads the terms of a dictionary and validates them by [Check]. It stops at more than most terms. The error is a
// [*fault.ItemError] with the line, or a fault.TooLarge.
func Parse(f Format, text string, p Pair, most int) (Terms, error) {
	terms := Terms{Pair: p}
	var lines []int // line of each term
	add := func(line int, fields []string) error {
		if len(terms.List) == most {
			return Limits{Terms: most}.checkCount(p, most+1)
		}
		term := translate.Term{Source: fields[0]}
		if len(fields) > 1 {
			term.Target = fields[1]
		}
		terms.List, lines = append(terms.List, term), append(lines, line)
		return nil
	}
	read := readTSV
	if f == FormatCSV {
		read = readCSV
	}
	if err := read(strings.TrimPrefix(text, "\uFEFF"), p, add); err != nil {
		return Terms{}, err
	}
	return terms, Check(terms.List, func(i int) string { return lineName(lines[i]) })
}

func lineName(n int) string { return fmt.Sprintf("line %d", n) }

func readTSV(text string, _ Pair, add func(line int, fields []string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		fields := strings.SplitN(line, "\t", 4)
		if len(fields) > 2 {
			return wrong(lineName(n), "there is more than one tab: a line has a source, a tab and a target")
		}
		if err := add(n, fields); err != nil {
			return err
		}
	}
	return nil
}

func readCSV(text string, p Pair, add func(line int, fields []string) error) error {
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord = -1
	in.ReuseRecord = true
	for {
		fields, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			return wrong(lineName(broken.Line), "it is no CSV at byte %d: %v", broken.Column, broken.Err)
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		if len(fields) == 1 && strings.TrimSpace(fields[0]) == "" {
			continue
		}
		if err := checkColumns(fields, p); err != nil {
			return wrong(lineName(line), "%s", err)
		}
		if err := add(line, fields); err != nil {
			return err
		}
	}
}

// checkColumns fails if the columns of a line are not those of a term of the pair.
func checkColumns(fields []string, p Pair) error {
	switch {
	case len(fields) == 1 && strings.Contains(fields[0], ";"):
		return fmt.Errorf("%q has a semicolon and no comma: put commas between columns, or one behind a term without a target", excerpt.Of(fields[0]))
	case len(fields) > 4:
		return fmt.Errorf("there are %d columns: a line has a source, a target, and perhaps their languages", len(fields))
	}
	for i, code := range fields[min(2, len(fields)):] {
		want := []string{p.From, p.To}[i]
		if _, ok := language.Find([]string{want}, code); !ok && code != "" {
			return fmt.Errorf("column %d is %q, expected %q, the language of the dictionary", i+3, excerpt.Of(code), want)
		}
	}
	return nil
}

// TSV writes validated terms, one per line.
func TSV(list []translate.Term) string {
	var out strings.Builder
	size := 0
	for _, t := range list {
		size += len(t.Source) + len(t.Target) + len("\t\n")
	}
	out.Grow(size)
	for _, t := range list {
		out.WriteString(t.Source)
		out.WriteByte('\t')
		out.WriteString(t.Target)
		out.WriteByte('\n')
	}
	return out.String()
}

// CSV writes validated terms, one per line.
func CSV(list []translate.Term) string {
	var out strings.Builder
	w := csv.NewWriter(&out)
	for _, t := range list {
		_ = w.Write([]string{t.Source, t.Target}) // a builder does not fail
	}
	w.Flush()
	return out.String()
}

// fromTSV parses the output of TSV. The terms are substrings of the text.
func fromTSV(text string, terms int) []translate.Term {
	list := make([]translate.Term, 0, terms)
	for line := range strings.Lines(text) {
		source, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, translate.Term{Source: source, Target: target})
	}
	return list
}
