package cli

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"dragoman/app/translate"
)

// mostTerms is the maximum number of terms of a file, far more than are used: all terms are held in memory.
const mostTerms = 100_000

// readTerms reads a file of terms, one on each line: the term in the texts and, after a tab, its translation. A term without a
// tab stays as it is. Empty lines are skipped; the name "" is no file.
func readTerms(name string) (terms []translate.Term, err error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimPrefix(strings.TrimSuffix(lines.Text(), "\r"), "\ufeff")
		if strings.TrimSpace(line) == "" {
			continue
		}
		source, target, found := strings.Cut(line, "\t")
		switch {
		case !found:
			target = source
		case strings.Contains(target, "\t"):
			return nil, fmt.Errorf("%s:%d has more than one tab: write a term, a tab, and what it becomes", name, number)
		}
		if len(terms) == mostTerms {
			return nil, fmt.Errorf("%s has more than %d terms: use several files, one at a time", name, mostTerms)
		}
		terms = append(terms, translate.Term{Source: strings.TrimSpace(source), Target: strings.TrimSpace(target)})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return terms, nil
}
