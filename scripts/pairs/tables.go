package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// tally counts pairs or trials, and those of them that have what is counted.
type tally struct{ all, found int }

func (t tally) share() float64 { return float64(t.found) / float64(max(t.all, 1)) }

func (t *tally) add(found bool) {
	t.all++
	if found {
		t.found++
	}
}

// writeTables writes the figures as tables of Markdown, and reports whether they are within their limits.
func writeTables(out io.Writer, results []result) (passed bool) {
	byText, heldIn, byReason, byKind := map[string]*tally{}, map[string]int{}, map[string]int{}, map[string]map[string]*tally{}
	count := func(counts map[string]*tally, key string, found bool) {
		if counts[key] == nil {
			counts[key] = &tally{}
		}
		counts[key].add(found)
	}
	for _, r := range results {
		for _, text := range []string{r.corpus + " " + r.to, r.corpus, "all"} {
			count(byText, text, r.flagged != "" && !r.isHeld())
			if r.isHeld() {
				heldIn[text]++
			}
		}
		if r.flagged != "" {
			byReason[pattern(r.flagged)]++
		}
		for _, t := range r.trials {
			if byKind[t.kind] == nil {
				byKind[t.kind] = map[string]*tally{}
			}
			count(byKind[t.kind], "all", t.noticed)
			count(byKind[t.kind], r.to, t.noticed)
		}
	}
	passed = byText["all"].share() <= mostFlagged
	fmt.Fprintln(out, "| sentences | number | flagged | share | held |\n|---|---|---|---|---|")
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		t := byText[text]
		fmt.Fprintf(out, "| %s | %d | %d | %.2f%% | %d |\n", text, t.all, t.found, 100*t.share(), heldIn[text])
	}
	fmt.Fprintln(out, "\n| why | flagged |\n|---|---|")
	for _, reason := range slices.SortedFunc(maps.Keys(byReason), func(a, b string) int {
		return cmp.Or(byReason[b]-byReason[a], strings.Compare(a, b))
	}) {
		fmt.Fprintf(out, "| %s | %d |\n", strings.ReplaceAll(reason, "|", `\|`), byReason[reason])
	}
	languages := slices.Sorted(maps.Values(locales))
	fmt.Fprintf(out, "\n| damage | number | noticed | %s |\n|---|---|---|%s\n", strings.Join(languages, " | "), strings.Repeat("---|", len(languages)))
	for _, d := range damages {
		all := byKind[d.kind]["all"]
		if all == nil {
			continue
		}
		passed = passed && all.share() >= cmp.Or(least[d.kind], leastNoticed)
		fmt.Fprintf(out, "| %s | %d | %.2f%% |", d.kind, all.all, 100*all.share())
		for _, language := range languages {
			if t := byKind[d.kind][language]; t != nil {
				fmt.Fprintf(out, " %.1f%% of %d |", 100*t.share(), t.all)
			} else {
				fmt.Fprint(out, " |")
			}
		}
		fmt.Fprintln(out)
	}
	return passed
}

var digits = regexp.MustCompile(`\d+`)

// pattern returns a reason without its figures.
func pattern(reason string) string {
	reason, _, _ = strings.Cut(reason, "\n")
	return digits.ReplaceAllString(reason, "N")
}
