// Command markers measures which style of markers a model copies best: the order of
// the styles in package markup comes from it.
//
//	go run ./scripts/markers -model ~/.cache/dragoman/bundled-*-fp32 -library build/onnxruntime/libonnxruntime.so
//
// It puts one or two placeholders at random places between the words of the sentences
// of scripts/quality/dev.tsv, masks them in each style, translates, and counts how
// often Restore gets all of them back. Sentences with spans of their own are left out.
// What the model makes of the text is not looked at beyond that.
//
// With the address of a running service it translates the corpus of app/text/markup/corpustest
// instead, and counts what came back whole, flagged, and broken without a flag:
//
//	go run ./scripts/markers -url http://localhost:8080
//
// With -words it translates files of six kinds that have formatting in words (app/document/wordstest).
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"dragoman/app/text/markup"
	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/family"
	"dragoman/model/search"
	"dragoman/model/search/searchtest"
	"dragoman/tokenizer"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "markers:", err)
		os.Exit(1)
	}
}

// direction is a pair of languages and sentences in the first of them.
type direction struct {
	from, to  string
	sentences []string
}

// translator is a loaded model.
type translator struct {
	model model.Model
	tok   *tokenizer.Tokenizer
	beams int
	batch int // sentences that are decoded together
}

func run(args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("markers", flag.ContinueOnError)
	dir := flags.String("model", "", "exported folder")
	library := flags.String("library", "", "path of ONNX Runtime's library")
	sentences := flags.String("sentences", "scripts/quality/dev.tsv", "file with the columns set, language, language, sentence, sentence")
	limit := flags.Int("limit", 300, "sentences of a direction")
	beams := flags.Int("beams", 0, "beams; 0: the checkpoint's own number")
	threads := flags.Int("threads", 2, "threads of a step")
	url := flags.String("url", "", "address of a service, which is to translate the corpus")
	languages := flags.String("languages", "de,en,fr,ja,zh", "languages to translate the corpus into")
	inWords := flags.Bool("words", false, "with -url: translate files with formatting in words")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *url != "" && *inWords {
		return reportWords(out, *url, strings.Split(*languages, ","))
	}
	if *url != "" {
		return reportCorpus(out, *url, strings.Split(*languages, ","))
	}
	directions, err := readDirections(*sentences, *limit)
	if err != nil {
		return err
	}
	runtime, err := cpu.Load(*library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	m, err := runtime.Open(context.Background(), *dir, cpu.Options{Threads: *threads})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	manifest, err := model.ReadManifest(*dir)
	if err != nil {
		return err
	}
	tok, err := family.OpenTokenizer(*dir, manifest.Family, manifest.Languages)
	if err != nil {
		return err
	}
	t := translator{model: m, tok: tok, beams: *beams, batch: 32}
	return report(out, t, directions)
}

// readDirections reads sentences that have no spans, for both directions of each pair
// of languages.
func readDirections(path string, limit int) ([]direction, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list []direction
	add := func(from, to, sentence string) {
		i := slices.IndexFunc(list, func(d direction) bool { return d.from == from && d.to == to })
		if i < 0 {
			i, list = len(list), append(list, direction{from: from, to: to})
		}
		if len(list[i].sentences) < limit && len(markup.Parse(sentence, markup.Text).Spans) == 0 {
			list[i].sentences = append(list[i].sentences, sentence)
		}
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) != 5 {
			return nil, fmt.Errorf("%s: a line has %d columns, not 5", path, len(columns))
		}
		add(columns[1], columns[2], columns[3])
		add(columns[2], columns[1], columns[4])
	}
	return list, lines.Err()
}

// report translates everything in every style and writes a table, best style first.
func report(out io.Writer, t translator, directions []direction) error {
	type row struct {
		style string
		cells []string
		kept  int
	}
	var rows []row
	header := []string{"style", "all"}
	for number := range markup.Styles {
		r := row{style: styleName(number)}
		total := 0
		for _, d := range directions {
			for _, count := range []int{1, 2} {
				kept, tried, err := t.measure(d, number, count)
				if err != nil {
					return err
				}
				if number == 0 {
					header = append(header, fmt.Sprintf("%s→%s, %d", d.from, d.to, count))
				}
				r.cells = append(r.cells, percent(kept, tried))
				r.kept, total = r.kept+kept, total+tried
			}
		}
		r.cells = append([]string{percent(r.kept, total)}, r.cells...)
		rows = append(rows, r)
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.style, r.cells[0])
	}
	slices.SortStableFunc(rows, func(a, b row) int { return b.kept - a.kept })
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(header, "\t"))
	for _, r := range rows {
		fmt.Fprintln(table, r.style+"\t"+strings.Join(r.cells, "\t"))
	}
	return table.Flush()
}

// styleName is a marker of a style.
func styleName(number int) string {
	m, _ := markup.Parse("x {a}", markup.Text).Mask(number)
	return strings.TrimPrefix(m.Text, "x ")
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(max(whole, 1)))
}

// measure returns how many sentences got all of their placeholders back.
func (t translator) measure(d direction, style, count int) (kept, tried int, err error) {
	random := rand.New(rand.NewPCG(1, uint64(count))) // the same places for every style
	var masked []markup.Masked
	var sources [][]int64
	for _, sentence := range d.sentences {
		m, ok := markup.Parse(insert(sentence, count, random), markup.Text).Mask(style)
		if !ok {
			continue
		}
		ids, err := t.tok.Encode(d.from, d.to, m.Text)
		if err != nil {
			return 0, 0, err
		}
		masked, sources = append(masked, m), append(sources, ids)
	}
	for len(sources) > 0 {
		n := min(t.batch, len(sources))
		texts, err := t.decode(sources[:n], t.tok.Forced(d.from, d.to))
		if err != nil {
			return 0, 0, err
		}
		for i, text := range texts {
			if _, err := masked[i].Restore(text); err == nil {
				kept++
			}
			tried++
		}
		masked, sources = masked[n:], sources[n:]
	}
	return kept, tried, nil
}

// insert puts placeholders at random places of a sentence: between words, or between
// the characters of a script without spaces.
func insert(sentence string, count int, random *rand.Rand) string {
	pieces, space := strings.Fields(sentence), " "
	if strings.ContainsFunc(sentence, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }) {
		pieces, space = strings.Split(sentence, ""), ""
	}
	for i := range count {
		at := random.IntN(len(pieces)) // not behind the full stop
		pieces = slices.Insert(pieces, at, fmt.Sprintf("{a%d}", i))
	}
	return strings.Join(pieces, space)
}

// decode translates sources into the language of the token target, as one batch.
func (t translator) decode(sources [][]int64, forced []int64) (texts []string, err error) {
	spec := t.model.Spec()
	options := search.DefaultOptions(spec.Generation)
	if t.beams > 0 {
		options.Beams = t.beams
	}
	ctx := context.Background()
	batch, err := t.model.NewBatch(model.Limits{Rows: len(sources) * options.Beams, MaxLength: options.MaxLength})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, batch.Close()) }()
	if err := batch.Join(ctx, sources); err != nil {
		return nil, err
	}
	sequences := make([]*search.Sequence, len(sources))
	for i := range sequences {
		sequences[i], err = search.NewSequence(options, search.Constraints{}, append([]int64{spec.DecoderStart}, forced...), spec)
		if err != nil {
			return nil, err
		}
	}
	results, err := searchtest.Decode(ctx, batch, sequences)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		texts = append(texts, t.tok.Decode(r.Tokens))
	}
	return texts, nil
}
