package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/document/wordstest"
	"dragoman/app/translate"
)

// together are the texts of a request.
const together = 100

// reportWords lets the service at url translate files that have formatting in words into languages, and writes a
// table of what came back, and on a line each translation that is broken or flagged. It fails where one is broken
// without a flag.
func reportWords(out io.Writer, url string, languages []string) error {
	var files tallies
	for _, to := range languages {
		for _, format := range wordstest.Formats() {
			w := words{url: url, to: to, format: format, known: map[string]answer{}, plain: map[string]answer{}}
			for _, c := range wordstest.Cases() {
				if c.Lang != to {
					w.cases = append(w.cases, c)
				}
			}
			slices.SortStableFunc(w.cases, func(a, b wordstest.Case) int { return cmp.Compare(a.Lang, b.Lang) })
			if err := w.translate(); err != nil {
				return err
			}
			for _, c := range w.cases {
				result, err := w.check(out, c)
				if err != nil {
					return fmt.Errorf("%s into %s: %w", c, to, err)
				}
				files.count(result, format.Name, "into "+to)
			}
			fmt.Fprintf(out, "%s into %s: %.2f alike with and without formatting\n", format.Name, to, w.alike/float64(len(w.cases)))
		}
	}
	if err := files.write(out, "files\ttexts"); err != nil {
		return err
	}
	if files.all.broken > 0 {
		return fmt.Errorf("%d translations are broken without a flag", files.all.broken)
	}
	return nil
}

// words are cases as files of a format, to be translated into a language.
type words struct {
	url, to string
	format  wordstest.Format
	cases   []wordstest.Case
	known   map[string]answer // by language and text
	plain   map[string]answer // without formatting
	alike   float64           // the sum of how alike translations are with and without it
}

// kind is the kind of the files.
func (w *words) kind() *document.Kind {
	for _, k := range kinds.All() {
		if slices.Contains(k.Extensions, "."+w.format.Name) {
			return k
		}
	}
	return nil
}

// translate has all texts translated.
func (w *words) translate() error {
	var waiting, bare []string
	lang := ""
	flush := func() error {
		defer func() { waiting, bare = nil, nil }()
		if len(waiting) == 0 {
			return nil
		}
		return errors.Join(w.request(w.known, translate.FormatOf(w.kind().Form), lang, waiting), w.request(w.plain, translate.Text, lang, bare))
	}
	for _, c := range w.cases {
		if c.Lang != lang || len(waiting) >= together {
			if err := flush(); err != nil {
				return err
			}
		}
		lang = c.Lang
		file := w.format.Write([]wordstest.Case{c})
		source, err := w.format.Only(file)
		if err != nil {
			return err
		}
		bare = append(bare, source.Text())
		err = document.Texts(context.Background(), w.kind(), bytes.NewReader(file), int64(len(file)), document.Options{}, func(text string, isNew bool) error {
			if isNew {
				waiting = append(waiting, text)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return flush()
}

func (w *words) request(known map[string]answer, form translate.Format, lang string, texts []string) error {
	type record struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	records := make([]record, len(texts))
	for i, text := range texts {
		records[i] = record{strconv.Itoa(i), text}
	}
	body, err := json.Marshal(map[string]any{"payload": map[string]any{
		"fromLang": lang, "toLangs": []string{w.to}, "format": form, "detail": true, "records": records,
	}})
	if err != nil {
		return err
	}
	resp, err := http.Post(strings.TrimSuffix(w.url, "/")+"/translation", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answers, err := answersOf(resp, len(texts))
	for i, a := range answers {
		known[lang+texts[i]] = a
	}
	return err
}

// alike is how many pairs of letters two texts have in common, from 0 to 1.
func alike(a, b string) float64 {
	pairs := func(text string) map[string]int {
		count, before := map[string]int{}, ' '
		for _, r := range text {
			if r != ' ' {
				count[string([]rune{before, r})]++
				before = r
			}
		}
		return count
	}
	x, y := pairs(a), pairs(b)
	same, all := 0, 0
	for pair, n := range x {
		same, all = same+2*min(n, y[pair]), all+n
	}
	for _, n := range y {
		all += n
	}
	return float64(same) / float64(max(all, 1))
}

// check puts a case's translation into its file and looks what came of it.
func (w *words) check(out io.Writer, c wordstest.Case) (tally, error) {
	file := w.format.Write([]wordstest.Case{c})
	var written bytes.Buffer
	var flags []string
	raw := ""
	flawed, err := document.Put(context.Background(), &written, w.kind(), bytes.NewReader(file), int64(len(file)), document.Options{}, func(text string) (string, error) {
		a := w.known[c.Lang+text]
		flags, raw = append(flags, a.Detail.Flags...), raw+a.Text
		return a.Text, nil
	})
	if err != nil {
		return tally{}, err
	}
	source, err := w.format.Only(file)
	if err != nil {
		return tally{}, err
	}
	result, err := w.format.Only(written.Bytes())
	if err != nil {
		return tally{}, err
	}
	damage := w.format.Damage(c, source, result)
	w.alike += alike(result.Text(), w.plain[c.Lang+source.Text()].Text)
	if flawed > 0 {
		flags = append(flags, "flawed")
	}
	if len(flags)+len(damage) == 0 {
		return tally{intact: 1}, nil
	}
	fmt.Fprintf(out, "%s into %s: %s %v %q\n  %q\n", w.format.Name, w.to, c, flags, damage, raw)
	if len(flags) > 0 {
		return tally{flagged: 1}, nil
	}
	return tally{broken: 1}, nil
}
