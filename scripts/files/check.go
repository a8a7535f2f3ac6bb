package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"dragoman/app/document"
	"dragoman/app/document/kinds"
)

// file is a file of the corpus, with what was found about it.
type file struct {
	path, extension string
	refused         string // why it is not translated
	texts           int
	owner           string            // who read it
	results         map[string]string // paths of the translated files, by the name of the stand-in

	mu     sync.Mutex // guards faults
	faults []fault
}

// fault is something wrong with a result.
type fault struct {
	kind          kind
	standIn, what string
}

// kind is a kind of fault.
type kind string

const (
	fails          kind = "fails"            // the translation ends with an error
	notIdentical   kind = "not identical"    // a translation that changes nothing changes the file
	otherStructure kind = "other structure"  // the result has other texts
	left           kind = "left"             // a text of the result is not translated
	refusedByOwner kind = "refused by owner" // and the original is not
	refusedAlone   kind = "refused alone"    // an owner reads the file
	otherTexts     kind = "other texts"      // the owner reads other texts than were written
	flawed         kind = "flawed"           // texts stay as they are since their translations do not fit
)

func (f *file) add(k kind, standIn, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, other := range f.faults {
		n += one(other.kind == k && other.standIn == standIn)
	}
	if n < mostFaults {
		f.faults = append(f.faults, fault{k, standIn, fmt.Sprintf(format, args...)})
	}
}

// mostFaults is how many faults of a kind are kept for a file and a stand-in.
const mostFaults = 3

// count returns the number of faults of some kinds.
func (f *file) count(of ...kind) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.faults {
		n += one(slices.Contains(of, fault.kind))
	}
	return n
}

// otherLanguage matches the refusal of a catalogue that has translations. It is then translated into the language of those.
var otherLanguage = regexp.MustCompile(`^the file has translations into (\S+), and`)

// bilingual are the kinds that have translations beside their sources: nothing is left to translate in a result.
var bilingual = []string{"po", "xliff", "ts", "xcstrings", "sdlxliff", "tmx"}

// try translates a file with each stand-in and looks at the results. Its error is one of this machine.
func (f *file) try(ctx context.Context, results string) error {
	content, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	d, err := kinds.Find(f.path, "", content[:min(len(content), kinds.Head)])
	if err != nil {
		f.refused = err.Error()
		return nil
	}
	in, size := bytes.NewReader(content), int64(len(content))
	original, err := textsOf(ctx, d, content, "en")
	if err != nil {
		f.refused = err.Error()
		return nil
	}
	f.texts = len(original)
	var same bytes.Buffer
	if err := d.Rewrite(ctx, &same, in, size, document.Options{From: "en"}, func(text string) (string, error) { return text, nil }); err != nil {
		f.add(fails, "identity", "%v", err)
	} else if what := difference(content, same.Bytes()); what != "" {
		f.add(notIdentical, "identity", "%s", what)
	}
	f.results = map[string]string{}
	for _, s := range standIns {
		var out bytes.Buffer
		put := func(to string) (int, error) {
			out.Reset()
			return document.Put(ctx, &out, d, in, size, document.Options{From: "en", To: to}, func(text string) (string, error) {
				return s.translate(ctx, text, d.Form)
			})
		}
		n, err := put(s.to)
		if err != nil {
			if m := otherLanguage.FindStringSubmatch(err.Error()); m != nil {
				n, err = put(m[1])
			}
		}
		if err != nil {
			f.add(fails, s.name, "%v", err)
			continue
		}
		if n > 0 {
			f.add(flawed, s.name, "%d texts", n)
		}
		path := filepath.Join(results, s.name, f.extension, filepath.Base(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, out.Bytes(), 0o644)); err != nil {
			return err
		}
		f.results[s.name] = path
		f.compare(ctx, s, d, original, content, out.Bytes())
	}
	return nil
}

// compare compares the texts of a result with those of the original.
func (f *file) compare(ctx context.Context, s standIn, d *document.Kind, original []string, content, result []byte) {
	isBilingual, from := slices.Contains(bilingual, d.Name), s.to
	if isBilingual {
		from = "en"
	}
	texts, err := textsOf(ctx, d, result, from)
	if err != nil {
		f.add(otherStructure, s.name, "does not open again: %v", err)
		return
	}
	for _, text := range texts {
		mayStay := !isBilingual && (s.whole != nil || s.same(text) == text || !slices.Contains(original, text))
		if want, err := s.translate(ctx, text, d.Form); !mayStay && err == nil && want != text && hasWord(text) {
			f.add(left, s.name, "%.200s", text)
		}
	}
	if !isBilingual && s.joined(texts) != s.joined(original) {
		f.compareTexts(s, withForms(ctx, d, content, s.to, original), texts)
	}
}

// withForms returns the texts of a document with the plural forms of a language, or else other ones.
func withForms(ctx context.Context, d *document.Kind, content []byte, to string, others []string) []string {
	const hyphen = "\u00AD" // which [plain] leaves out
	var out bytes.Buffer
	_, err := document.Put(ctx, &out, d, bytes.NewReader(content), int64(len(content)), document.Options{From: "en", To: to}, func(text string) (string, error) {
		return text + hyphen, nil
	})
	if texts, err2 := textsOf(ctx, d, out.Bytes(), to); err == nil && err2 == nil {
		return texts
	}
	return others
}

// compareTexts looks for each text of a result in the original, in order. Words that touch may be one text in one and two in the
// other, and a text of the original may be missing where its translation looks like code: owners tell whether it is there.
func (f *file) compareTexts(s standIn, original, texts []string) {
	if s.joined(texts) == s.joined(original) {
		return
	}
	i := 0
	for n, text := range texts {
		for i < len(original) && s.joined(original[i:i+1]) != s.joined(texts[n:n+1]) {
			i++
		}
		if i == len(original) {
			f.add(otherStructure, s.name, "%d texts, then %d: %.200q is not in the original: %.200q", len(original), len(texts), text, at(original, n))
			return
		}
		i++
	}
	if len(texts) < len(original)/2 {
		f.add(otherStructure, s.name, "%d texts, then %d: are they code?", len(original), len(texts))
	}
}

// joined returns texts as one, without what a translation changes.
func (s standIn) joined(texts []string) string {
	return tags.ReplaceAllString(s.same(plain(strings.Join(texts, ""))), "")
}

// tags matches inline tags, whose places follow the words.
var tags = regexp.MustCompile(`</?[a-z][^<>]*>`)

// plain returns a text without what differs in a result without harm: white space, soft hyphens, and how letters are written.
func plain(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(html.UnescapeString(text)), ""), "\u00AD", "")
}

// hasWord reports whether a text has a word of three lower-case letters.
func hasWord(text string) bool {
	n := 0
	for _, r := range text {
		if n++; !unicode.IsLower(r) {
			n = 0
		}
		if n == 3 {
			return true
		}
	}
	return false
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// textsOf returns the texts of a document in a language.
func textsOf(ctx context.Context, d *document.Kind, content []byte, from string) (texts []string, err error) {
	err = document.Texts(ctx, d, bytes.NewReader(content), int64(len(content)), document.Options{From: from}, func(text string, _ bool) error {
		texts = append(texts, text)
		return nil
	})
	return texts, err
}

// difference says how a file differs from another one: their bytes, or the contents of their entries. It returns "" if they do not.
func difference(a, b []byte) string {
	if bytes.Equal(a, b) {
		return ""
	}
	before, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		return fmt.Sprintf("byte %d: %.80q, then %.80q", i, a[i:], b[i:])
	}
	after, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err.Error()
	}
	if len(before.File) != len(after.File) {
		return fmt.Sprintf("%d entries, then %d", len(before.File), len(after.File))
	}
	contents := map[string][]byte{} // entries may be in another order
	for _, entry := range after.File {
		contents[entry.Name] = contentOf(entry)
	}
	for _, entry := range before.File {
		if what := difference(contentOf(entry), contents[entry.Name]); what != "" {
			return entry.Name + ": " + what
		}
	}
	return ""
}

func contentOf(entry *zip.File) []byte {
	r, err := entry.Open()
	if err != nil {
		return []byte(err.Error())
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return []byte(err.Error())
	}
	return content
}
