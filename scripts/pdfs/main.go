// Command pdfs translates PDFs of many producers, and compares them before and after by poppler:
//
//	go run ./scripts/pdfs [-to fr] FOLDER [NAME...]
//
// FOLDER has the PDFs that make.py and make.mjs write. The translation is a stand-in that keeps numbers and addresses. The result is
// a table by producer; the status is 1 if a producer lost something, or was read wrong.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"dragoman/app/document"
	"dragoman/app/document/pdf"
)

func main() {
	to := flag.String("to", "fr", "target language: fr or ja")
	flag.Parse()
	isGood, err := run(*to, flag.Arg(0), flag.Args()[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pdfs:", err)
	}
	if err != nil || !isGood {
		os.Exit(1)
	}
}

// run prints the table of the PDFs in a folder.
func run(to, folder string, names []string) (isGood bool, err error) {
	if len(names) == 0 {
		found, err := filepath.Glob(filepath.Join(folder, "*.pdf"))
		if err != nil {
			return false, err
		}
		for _, path := range found {
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".pdf"))
		}
	}
	story, err := texts()
	if err != nil {
		return false, err
	}
	isGood = true
	fmt.Println("| Producer | Texts | Items | Cells | Digits lost | Signs lost | Dates | Links | Pixels outside | Left | Seconds |\n|---|---|---|---|---|---|---|---|---|---|---|")
	for _, name := range names {
		r, err := check(to, folder, name, story)
		if refused := (*document.Error)(nil); name == scan && errors.As(err, &refused) {
			fmt.Printf("| %s | refused, for it is a scan |\n", name)
			continue
		}
		if err != nil {
			fmt.Printf("| %s | %v |\n", name, err)
			isGood = false
			continue
		}
		isGood = isGood && r.isGood()
		fmt.Printf("| %s | %d of %d | %d of %d | %d of %d | %d | %d | %d of %d | %d of %d | %d | %d | %.2f |\n", name, r.texts, r.allTexts, r.items, r.allItems, r.cells, r.allCells, r.digits, r.signs,
			r.dates, r.allDates, r.links, r.allLinks, r.pixels, r.left, r.seconds)
	}
	return isGood, nil
}

// scan is a producer whose pages are pictures.
const scan = "ocrmypdf"

// result is the row of a producer. The fields that begin with all have what there is before.
type result struct {
	texts, allTexts, items, allItems, cells, allCells, dates, allDates, links, allLinks int
	digits, signs, pixels, left                                                         int
	seconds                                                                             float64
}

func (r result) isGood() bool {
	return r.texts == r.allTexts && r.cells == r.allCells && r.dates == r.allDates && r.links == r.allLinks && r.digits+r.signs+r.pixels+r.left == 0
}

// texts returns the texts of the story.
func texts() (found []string, err error) {
	data, err := os.ReadFile("scripts/pdfs/story.json")
	if err != nil {
		return nil, err
	}
	var story map[string]any
	if err := json.Unmarshal(data, &story); err != nil {
		return nil, err
	}
	flat := func(value any) (text string) {
		for _, part := range value.([]any) {
			switch part := part.(type) {
			case string:
				text += part
			case []any:
				if part[0] != "n" {
					text += part[1].(string)
				}
			}
		}
		return text
	}
	for _, key := range []string{"title", "intro", "office", "note", "bring", "items", "table", "caption", "columns", "left", "right", "thanks"} {
		switch value := story[key].(type) {
		case string:
			found = append(found, value)
		case []any:
			switch key {
			case "intro", "office":
				found = append(found, flat(value))
			case "items":
				for _, item := range value {
					found = append(found, item.(string))
				}
			case "table":
				for _, row := range value {
					for _, cell := range row.([]any) {
						if words.MatchString(cell.(string)) {
							found = append(found, cell.(string))
						}
					}
				}
			}
		}
	}
	return found, nil
}

var (
	words   = regexp.MustCompile(`[a-z]{2}`)
	part    = regexp.MustCompile(`<[^>]*>|&\w+;|[^<\s]*[\d@][^<\s]*|\w+://[^<\s]*|[^<\s\d]+|\s+|\d`)
	date    = regexp.MustCompile(`(?i)\d{1,2}\s+(?:march|april|december|翻\s*訳)\s+\d{4}`)
	element = regexp.MustCompile(`</?g[^>]*>|<[xa] [^>]*>`)
	number  = regexp.MustCompile(`[\d][\d.,:\-/]*`)
	source  = regexp.MustCompile(`^[a-zé]{3,}[.,]?$`)
	price   = regexp.MustCompile(`^[$€]\d[\d.,]*$`)
	row     = regexp.MustCompile(`\b(?:apple|Coffee|Bread)\b`)
	noted   = regexp.MustCompile(`^(?:\[?1\]?\.?|•)?\s*`)
)

// stand translates a text: its words become capitals, or Japanese letters.
func stand(to, text string) string {
	return part.ReplaceAllStringFunc(text, func(p string) string {
		switch {
		case strings.ContainsAny(p, "<&@0123456789") || strings.Contains(p, "://"), !strings.ContainsFunc(p, unicode.IsLetter):
			return p
		case to == "ja":
			return regexp.MustCompile(`\pL+`).ReplaceAllString(p, "翻訳")
		}
		return strings.ToUpper(p)
	})
}

// check translates the PDF of a producer.
func check(to, folder, name string, story []string) (r result, err error) {
	before := filepath.Join(folder, name+".pdf")
	data, err := os.ReadFile(before)
	if err != nil {
		return r, err
	}
	var out bytes.Buffer
	var segments []string
	began := time.Now()
	err = pdf.Kind.Rewrite(context.Background(), &out, bytes.NewReader(data), int64(len(data)), document.Options{From: "en", To: to, Unfit: func() { r.left++ }}, func(text string) (string, error) {
		segments = append(segments, text)
		return stand(to, text), nil
	})
	if err != nil {
		return r, err
	}
	r.seconds = time.Since(began).Seconds()
	if err := os.MkdirAll(filepath.Join(folder, to), 0o755); err != nil {
		return r, err
	}
	after := filepath.Join(folder, to, name+".pdf")
	if err := os.WriteFile(after, out.Bytes(), 0o644); err != nil {
		return r, err
	}
	old, err := read(before)
	if err != nil {
		return r, err
	}
	now, err := read(after)
	if err != nil {
		return r, err
	}
	r.segments(story, segments, old)
	r.compare(old, now)
	return r, r.outside(old, now)
}

// segments counts the texts of the story that are segments. kept stands for texts that stay.
func (r *result) segments(story, segments []string, old *paper) {
	var found []string
	for _, s := range segments {
		found = append(found, strings.NewReplacer("&amp;", "&", "&lt;", "<").Replace(element.ReplaceAllStringFunc(s, func(tag string) string {
			if strings.HasPrefix(tag, "<x") {
				return "\x00"
			}
			return ""
		})))
	}
	squeezed := strings.ToLower(squeeze(old.text()))
	for _, text := range story {
		if text == story[len(story)-1] && !strings.Contains(squeezed, "thankyou") {
			continue
		}
		if key := strings.ToLower(squeeze(text)); !strings.Contains(squeezed, key[:min(12, len(key))]) {
			continue // the producer does not have it
		}
		isItem := strings.Contains(text, "coat") || strings.Contains(text, "bottles") || strings.Contains(text, "last week")
		r.allTexts++
		if isItem {
			r.allItems++
		}
		if at := slices.IndexFunc(found, func(s string) bool { return alike(s, text) }); at >= 0 {
			found = slices.Delete(found, at, at+1)
			r.texts++
			if isItem {
				r.items++
			}
		}
	}
}

// alike reports whether a segment is a text, but for the mark of a note or a bullet before it, and kept parts.
func alike(segment, text string) bool {
	segment = strings.ReplaceAll(strings.TrimSpace(noted.ReplaceAllString(segment, "")), " .", ".")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(segment), "\x00", ".{0,80}?")
	return regexp.MustCompile(`^`+pattern+`$`).MatchString(text) || regexp.MustCompile(`^`+strings.ReplaceAll(pattern, "floor1", "floor")+`$`).MatchString(text)
}

func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// compare counts what the document after the translation lacks.
func (r *result) compare(old, now *paper) {
	digits := func(d *paper) (found []string) {
		for _, n := range number.FindAllString(d.text(), -1) {
			found = append(found, strings.TrimRight(n, ".,:-/"))
		}
		return found
	}
	r.digits = lost(digits(old), digits(now))
	signs := func(d *paper) (found []string) {
		for _, c := range d.text() {
			if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsSpace(c) && !unicode.IsMark(c) && !strings.ContainsRune("-‐\u00ad", c) {
				found = append(found, string(c))
			}
		}
		return found
	}
	r.signs = lost(signs(old), signs(now))
	r.allDates, r.dates = len(date.FindAllString(old.text(), -1)), len(date.FindAllString(now.text(), -1))
	r.dates = min(r.dates, r.allDates)
	r.allLinks, r.links = old.links, now.links
	for n, page := range old.Pages {
		for _, w := range page.Words {
			if price.MatchString(w.Text) && row.MatchString(page.lineOf(w)) {
				r.allCells++
				if n < len(now.Pages) && slices.ContainsFunc(now.Pages[n].Words, func(o word) bool { return o.Text == w.Text && math.Abs(o.X0-w.X0) < 1 && math.Abs(o.Y0-w.Y0) < 1 }) {
					r.cells++
				}
			}
		}
	}
	for _, page := range now.Pages {
		for _, w := range page.Words {
			if source.MatchString(w.Text) {
				r.left++
			}
		}
	}
}

// lost returns how many of some texts are missing.
func lost(before, after []string) (n int) {
	left := map[string]int{}
	for _, s := range after {
		left[s]++
	}
	for _, s := range before {
		if left[s]--; left[s] < 0 {
			n++
		}
	}
	return n
}

// paper is a PDF as poppler sees it.
type paper struct {
	Pages []*sheet `xml:"body>doc>page"`
	links int
}

type sheet struct {
	Width    float64 `xml:"width,attr"`
	Height   float64 `xml:"height,attr"`
	Words    []word  `xml:"word"`
	rendered image.Image
}

type word struct {
	X0   float64 `xml:"xMin,attr"`
	Y0   float64 `xml:"yMin,attr"`
	X1   float64 `xml:"xMax,attr"`
	Y1   float64 `xml:"yMax,attr"`
	Text string  `xml:",chardata"`
}

func (d *paper) text() string {
	var out strings.Builder
	for _, p := range d.Pages {
		for _, w := range p.Words {
			out.WriteString(w.Text + " ")
		}
	}
	return out.String()
}

// lineOf returns the words at the height of a word.
func (p *sheet) lineOf(of word) (text string) {
	for _, w := range p.Words {
		if math.Abs(w.Y1-of.Y1) < 3 {
			text += w.Text + " "
		}
	}
	return text
}

const dpi = 100

// read reads and renders a PDF.
func read(path string) (*paper, error) {
	out, err := exec.Command("pdftotext", "-bbox", path, "-").Output()
	if err != nil {
		return nil, fmt.Errorf("pdftotext %s: %w", path, err)
	}
	d := &paper{}
	decoder := xml.NewDecoder(bytes.NewReader(out))
	decoder.Strict, decoder.Entity = false, xml.HTMLEntity
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("pdftotext %s: %w", path, err)
	}
	folder, err := os.MkdirTemp("", "pdfs")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if out, err := exec.Command("pdftoppm", "-png", "-r", fmt.Sprint(dpi), path, filepath.Join(folder, "p")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pdftoppm %s: %w: %s", path, err, out)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil || len(files) != len(d.Pages) {
		return nil, fmt.Errorf("%s: %d pictures of %d pages: %w", path, len(files), len(d.Pages), err)
	}
	for n, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if d.Pages[n].rendered, err = png.Decode(bytes.NewReader(data)); err != nil {
			return nil, err
		}
	}
	links, err := exec.Command("pdfinfo", "-url", path).Output()
	d.links = strings.Count(string(links), "http")
	return d, err
}

// outside counts the pixels that differ outside of the words that changed.
func (r *result) outside(old, now *paper) error {
	if len(old.Pages) != len(now.Pages) {
		return fmt.Errorf("%d pages became %d", len(old.Pages), len(now.Pages))
	}
	for n, p := range old.Pages {
		other := now.Pages[n]
		var changed []word
		for _, pages := range [][2]*sheet{{p, other}, {other, p}} {
			for _, w := range pages[0].Words {
				if !slices.ContainsFunc(pages[1].Words, func(o word) bool {
					return o.Text == w.Text && math.Abs(o.X0-w.X0) < 0.2 && math.Abs(o.X1-w.X1) < 0.2 && math.Abs(o.Y0-w.Y0) < 0.2
				}) {
					changed = append(changed, w)
				}
			}
		}
		isInside := func(x, y int) bool {
			fx, fy := float64(x)*72/dpi, float64(y)*72/dpi
			return slices.ContainsFunc(changed, func(w word) bool {
				return fx > w.X0-4 && fx < w.X1+4 && fy > w.Y0-3 && fy < w.Y1+3
			})
		}
		b := p.rendered.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				if differ(p.rendered, other.rendered, x, y) && !isInside(x, y) {
					r.pixels++
				}
			}
		}
	}
	return nil
}

func differ(a, b image.Image, x, y int) bool {
	ar, ag, ab, _ := a.At(x, y).RGBA()
	br, bg, bb, _ := b.At(x, y).RGBA()
	far := func(x, y uint32) bool { return max(x, y)-min(x, y) > 0x2000 }
	return far(ar, br) || far(ag, bg) || far(ab, bb)
}
