package main

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"dragoman/app/client"
	"dragoman/scripts/figure"
)

// flicker has each beginning of each sentence translated, word by word, as a session does, and compares
// what clients would show with different settings of how much of that is stable.
//
// Normalized erasure is how many words that were shown are taken back, over the words of the final
// translation (Arivazhagan et al. 2020). The lag is how many words of the sentence are written
// between when a word of the final translation could be there at the earliest, if source and
// translation went along in proportion, and when it is shown for good.
func flicker(s settings) error {
	fmt.Printf("%-12s %6s %8s %6s\n", "to", "agree", "mask", "NE   lag")
	panel := figure.Panel{Label: "normalized erasure"}
	for i, to := range []string{"fr", "de", "ja"} {
		traces, err := hypotheses(s, to)
		if err != nil {
			return err
		}
		colour := []color.Color{figure.Blue, figure.Orange, figure.Green}[i]
		for _, agree := range []int{1, 2, 3} {
			curve := figure.Curve{Colour: colour, Style: figure.Dashed}
			if agree == 3 {
				curve.Name, curve.Style = "to "+to+", 3 states agree (dashed: 1 and 2)", figure.Line
			}
			for mask := range 4 {
				var erased, words, lag float64
				for _, t := range traces {
					e, w, l := t.score(agree, mask)
					erased, words, lag = erased+e, words+w, lag+l
				}
				fmt.Printf("%-12s %6d %8d %.3f %.2f\n", to, agree, mask, erased/words, lag/words)
				curve.Points = append(curve.Points, plotter.XY{X: lag / words, Y: erased / words})
			}
			panel.Curves = append(panel.Curves, curve)
		}
	}
	return draw(s.plot, panel)
}

// draw writes a figure into a file, where one is named.
func draw(file string, panel figure.Panel) error {
	if file == "" {
		return nil
	}
	drawn, err := figure.Figure{
		Title: "What is taken back, and how late it is shown: 0 to 3 words masked, from left to right", Label: "lag, words of the source",
		Height: 4 * vg.Inch, Panels: []figure.Panel{panel},
	}.SVG()
	if err != nil {
		return err
	}
	return os.WriteFile(file, drawn, 0o644)
}

// trace is the translations of the beginnings of a sentence, in words, the last of which is final.
type trace [][]string

func hypotheses(s settings, to string) (traces []trace, err error) {
	for _, page := range pages()[:4] {
		var records, whole []client.Record
		var lengths []int
		for _, sentence := range strings.Split(strings.ReplaceAll(page, "\n\n", " "), ". ") {
			sentence = strings.TrimSuffix(sentence, ".") + "."
			words := strings.Fields(sentence)
			for n := 1; n <= len(words); n++ {
				records = append(records, client.Record{Text: strings.Join(words[:n], " ")})
			}
			whole = append(whole, client.Record{Text: sentence})
			lengths = append(lengths, len(words))
		}
		// As a session does it.
		results, err := s.client.Translate(context.Background(), client.Request{From: "en", To: to, Records: records, Options: &client.Options{Beams: 1}})
		if err != nil {
			return nil, err
		}
		final, err := s.client.Translate(context.Background(), client.Request{From: "en", To: to, Records: whole})
		if err != nil {
			return nil, err
		}
		for i, n := range lengths {
			var t trace
			for _, r := range results[:n-1] {
				t = append(t, split(r.Text, to))
			}
			t = append(t, split(final[i].Text, to))
			traces, results = append(traces, t), results[n:]
		}
	}
	return traces, nil
}

// split cuts a translation into words, or characters.
func split(text, to string) []string {
	if to == "ja" {
		return strings.Split(text, "")
	}
	return strings.Fields(text)
}

// score is how many words are taken back, how many there are at the end, and the sum of their lags.
func (t trace) score(agree, mask int) (erased, words, lag float64) {
	final := t[len(t)-1]
	shown := make([][]string, len(t))
	for n := range t {
		switch {
		case n == len(t)-1:
			shown[n] = final
		case n+1 >= agree:
			k := len(t[n])
			for _, earlier := range t[n+1-agree : n] {
				k = min(k, common(t[n], earlier))
			}
			k = max(0, k-mask)
			if n > 0 && common(t[n], shown[n-1]) == len(shown[n-1]) {
				k = max(k, len(shown[n-1])) // what was shown and is still there stays
			}
			shown[n] = t[n][:k]
		}
		if n > 0 {
			erased += float64(len(shown[n-1]) - common(shown[n], shown[n-1]))
		}
	}
	for j := range final {
		first := len(t) - 1
		for first > 0 && common(shown[first-1], final) > j {
			first--
		}
		lag += max(0, float64(first+1)-float64(j+1)*float64(len(t))/float64(len(final)))
	}
	return erased, float64(len(final)), lag
}

func common(a, b []string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
