// Command pairs measures the checks of translations with pairs of texts that people translated: how often a good translation would
// be flagged or retried, and how often one that a program damaged is noticed.
//
//	scripts/pairs/fetch.sh
//	go run ./scripts/pairs -corpus FOLDER -limits
//
// The catalogs are those of fetch.sh; -corpus adds files of lines, each with the source language, the target language, the source
// and the translation, between tabs. Flagged pairs and unnoticed damage are written to -out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"dragoman/app/text/markup"
	"dragoman/app/translate"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

// The limits: the share of good translations that may be flagged, and the share of damage that must be noticed for each kind.
const (
	mostFlagged  = 0.002
	leastNoticed = 0.99
)

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("pairs", flag.ContinueOnError)
	catalogs := flags.String("catalogs", "build/pairs/catalogs", "`folder` of fetch.sh")
	corpus := flags.String("corpus", "", "`folder` of files of sentences")
	folder := flags.String("out", "build/pairs", "`folder` for what was flagged and missed")
	seed := flags.Uint64("seed", 1, "`number` that the damage depends on")
	every := flags.Int("every", 1, "examine every n-th pair alone")
	limits := flags.Bool("limits", false, "fail if a figure is beyond its limit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pairs, err := readCatalogs(*catalogs)
	if err != nil {
		return err
	}
	if *corpus != "" {
		sentences, err := readSentences(*corpus)
		if err != nil {
			return err
		}
		pairs = append(pairs, sentences...)
	}
	pairs = slices.Collect(func(yield func(pair) bool) {
		for i := 0; i < len(pairs); i += max(1, *every) {
			if !yield(pairs[i]) {
				return
			}
		}
	})
	results, err := examineAll(usable(pairs), *seed)
	if err != nil {
		return err
	}
	if err := errors.Join(writeFlagged(*folder, results), writeMissed(*folder, results)); err != nil {
		return err
	}
	passed := writeTables(out, results)
	if *limits && !passed {
		return errors.New("a figure is beyond its limit")
	}
	return nil
}

// result is what the checks found in a pair.
type result struct {
	pair
	flagged string // why the translation is flagged, or ""
	trials  []trial
}

// trial is a damaged translation.
type trial struct {
	kind, text string
	noticed    bool
}

// isHeld reports whether the translation changes what the service holds: the model cannot change it, so this is no false alarm.
func (r result) isHeld() bool { return held.MatchString(r.flagged) }

var held = regexp.MustCompile(`spans [1-9]\d* are missing`)

// examineAll examines all pairs, on all cores. The results are in the order of the pairs.
func examineAll(pairs []pair, seed uint64) ([]result, error) {
	results := make([]*result, len(pairs))
	errs := make([]error, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for worker := range errs {
		group.Go(func() {
			for i := worker; i < len(pairs) && errs[worker] == nil; i += len(errs) {
				results[i], errs[worker] = examine(pairs[i], seed)
			}
		})
	}
	group.Wait()
	var list []result
	for _, r := range results {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list, errors.Join(errs...)
}

// htmlTag matches tags of HTML and of the markup of GTK and KDE.
var htmlTag = regexp.MustCompile(`</?(?i:a|b|i|u|p|br|tt|em|big|sub|sup|small|span|strong|code|li|ul|ol|qt|para|filename|interface|emphasis|link|h[1-6])\b[^<>]*>`)

// examine examines a pair, and damaged translations if the translation itself has no flaw. It returns nil unless the service takes
// both texts as one sentence: which sentences of longer texts belong together is a guess.
func examine(p pair, seed uint64) (*result, error) {
	format := translate.Text
	if htmlTag.MatchString(p.source) {
		format = translate.HTML
	}
	sources, err := translate.Sentences(context.Background(), p.source, p.from, format)
	if len(sources) != 1 || err != nil {
		return nil, err
	}
	targets, err := translate.Sentences(context.Background(), p.translation, p.to, format)
	if len(targets) != 1 || err != nil {
		return nil, err
	}
	p.source, p.translation = sources[0].Text, targets[0].Text
	r := result{pair: p}
	if r.flagged, err = check(p, sources[0], p.translation); err == nil && r.flagged == "" {
		r.trials, err = damaged(p, sources[0], seed)
	}
	return &r, err
}

// damaged examines damaged translations of a sentence. What is random depends on the seed and the pair alone.
func damaged(p pair, source markup.Sentence, seed uint64) (trials []trial, err error) {
	hash := fnv.New64a()
	fmt.Fprint(hash, p.to, "\x00", p.source, "\x00", p.translation)
	d := draw{rand.New(rand.NewPCG(seed, hash.Sum64())), p.source, halfWidth.Replace(p.translation), p.to}
	for _, damage := range damages {
		text := damage.apply(d)
		if text == "" || text == d.translation {
			continue
		}
		flagged, err := check(p, source, text)
		if err != nil {
			return nil, err
		}
		trials = append(trials, trial{damage.kind, text, flagged != ""})
	}
	return trials, nil
}

var halfWidth = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")

// check returns why the service would flag or retry a translation of a sentence, or "".
func check(p pair, source markup.Sentence, translation string) (reason string, err error) {
	flags, lost, err := translate.Check(context.Background(), source, translation, p.from, p.to)
	switch {
	case err != nil || flags == 0:
		return "", err
	case lost != nil:
		return "markup_lost: " + strings.ReplaceAll(lost.Error(), "markup lost: ", ""), nil
	}
	return strings.Join(flags.Names(), " "), nil
}

// writeFlagged writes the flagged pairs to a file, for people.
func writeFlagged(folder string, results []result) error {
	var lines []string
	for _, r := range results {
		if r.flagged != "" {
			lines = append(lines, row(r.flagged, r.file, r.to, r.source, r.translation))
		}
	}
	return writeLines(folder, "flagged.tsv", lines)
}

// writeMissed writes the damage that was not noticed to a file.
func writeMissed(folder string, results []result) error {
	var lines []string
	for _, r := range results {
		for _, t := range r.trials {
			if !t.noticed {
				lines = append(lines, row(t.kind, r.file, r.to, r.source, r.translation, t.text))
			}
		}
	}
	return writeLines(folder, "missed.tsv", lines)
}

func row(fields ...string) string {
	for i, f := range fields {
		fields[i] = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(f)
	}
	return strings.Join(fields, "\t") + "\n"
}

func writeLines(folder, name string, lines []string) error {
	slices.Sort(lines)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name), []byte(strings.Join(lines, "")), 0o644)
}
