package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"dragoman/app/text/markup/corpustest"
)

// tally counts what became of lines.
type tally struct{ intact, flagged, broken int }

func (c tally) add(other tally) tally {
	return tally{c.intact + other.intact, c.flagged + other.flagged, c.broken + other.broken}
}

// tallies count what became of lines by the names of their kinds.
type tallies struct {
	of    map[string]tally
	order []string // of names, as they came
	all   tally
}

func (t *tallies) count(c tally, names ...string) {
	if t.of == nil {
		t.of = make(map[string]tally)
	}
	for _, name := range names {
		if !slices.Contains(t.order, name) {
			t.order = append(t.order, name)
		}
		t.of[name] = t.of[name].add(c)
	}
	t.all = t.all.add(c)
}

// write writes a table; head is above the names and the numbers of lines.
func (t *tallies) write(out io.Writer, head string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, c tally) {
		total := c.intact + c.flagged + c.broken
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\n", name, total, c.intact, c.flagged, c.broken, percent(c.intact, total))
	}
	fmt.Fprintln(table, head+"\tintact\tflagged\tbroken\tintact %")
	for _, name := range t.order {
		row(name, t.of[name])
	}
	row("all", t.all)
	return table.Flush()
}

// answer is what the service says of a line in one language.
type answer struct {
	ID     string `json:"id"`
	ToLang string `json:"toLang"`
	Text   string `json:"text"`
	Detail struct {
		Flags []string `json:"flags"`
	} `json:"detail"`
}

// reportCorpus lets the service at url translate the corpus into all languages, and writes a
// table of what was kept, and on a line each translation that was damaged. It fails where one
// was damaged without a flag.
func reportCorpus(out io.Writer, url string, languages []string) error {
	lines, err := corpustest.Read()
	if err != nil {
		return err
	}
	var kinds tallies
	for i, line := range lines {
		answers, err := request(url, line, i, languages)
		if err != nil {
			return fmt.Errorf("%s: %w", line.Text, err)
		}
		for _, a := range answers {
			count := tally{intact: 1}
			if damage := line.Damage(a.Text); len(a.Detail.Flags) > 0 || len(damage) > 0 {
				count = tally{flagged: 1}
				if len(a.Detail.Flags) == 0 {
					count = tally{broken: 1}
				}
				fmt.Fprintf(out, "%s→%s %s %v %v\n  %q\n  %q\n", line.Lang, a.ToLang, line.Kind, a.Detail.Flags, damage, line.Text, a.Text)
			}
			kinds.count(count, line.Kind)
		}
	}
	if err := kinds.write(out, "kind\tlines"); err != nil {
		return err
	}
	if kinds.all.broken > 0 {
		return fmt.Errorf("%d translations are damaged without a flag", kinds.all.broken)
	}
	return nil
}

// request has a line translated into all languages but its own.
func request(url string, line corpustest.Line, number int, languages []string) ([]answer, error) {
	type record struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	to := slices.DeleteFunc(slices.Clone(languages), func(lang string) bool { return lang == line.Lang })
	body, err := json.Marshal(map[string]any{"payload": map[string]any{
		"fromLang": line.Lang, "toLangs": to, "format": line.Format, "detail": true,
		"records": []record{{strconv.Itoa(number), line.Text}},
	}})
	if err != nil {
		return nil, err
	}
	resp, err := http.Post(strings.TrimSuffix(url, "/")+"/translation", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return answersOf(resp, len(to))
}

// answersOf reads so many answers.
func answersOf(resp *http.Response, count int) ([]answer, error) {
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return nil, fmt.Errorf("%s: %s", resp.Status, text)
	}
	var answers struct {
		Result []answer `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answers); err != nil {
		return nil, err
	}
	if len(answers.Result) != count {
		return nil, fmt.Errorf("%d translations, not %d", len(answers.Result), count)
	}
	return answers.Result, nil
}
