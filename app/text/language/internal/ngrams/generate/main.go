// Command generate distils the table of package ngrams from the language models of
// lingua-go, which it fetches as a module:
//
//	go run ./generate -out ngrams.bin
//
// The same module and the same -keep give the same table.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"dragoman/app/text/language/internal/ngrams"
)

// source is the module that has the language models.
const source = "github.com/pemistahl/lingua-go@v1.4.0"

// languages are those that share a script with others, by M2M100's codes. Those
// that are alone in theirs need no model.
const languages = "af ar az be bg bs ca cs cy da de en es et fa fi fr ga hi hr hu id is it kk lg lt lv mk mn mr ms nl no " +
	"pl pt ro ru sk sl so sq sr sv sw tl tn tr uk ur vi xh yo zu"

// folder is where the models of a language are.
func folder(code string) string {
	if code == "no" {
		return "nb"
	}
	return code
}

// letters returns the script of a language's models.
func letters(code string) *unicode.RangeTable {
	switch code {
	case "ar", "fa", "ur":
		return unicode.Arabic
	case "be", "bg", "kk", "mk", "mn", "ru", "sr", "uk":
		return unicode.Cyrillic
	case "hi", "mr":
		return unicode.Devanagari
	}
	return unicode.Latin
}

func main() {
	err := run(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run reads the command line and does what it says.
func run(args []string, log io.Writer) error {
	f := flag.NewFlagSet("generate", flag.ContinueOnError)
	f.SetOutput(log)
	out := f.String("out", "", "file to write (required)")
	keep := f.Float64("keep", 2.5e-5, "bits per letter of text that a sequence must be worth to be kept")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *out == "" || f.NArg() > 0 {
		return errors.New("usage: generate -out FILE [-keep BITS]")
	}
	dir, err := download(source)
	if err != nil {
		return err
	}
	codes := strings.Fields(languages)
	var all []record
	for i, code := range codes {
		model, err := readModel(filepath.Join(dir, "language-models", folder(code)), letters(code))
		if err != nil {
			return err
		}
		if code == "sr" {
			addSerbianLatin(model)
		}
		records := distil(model, *keep, byte(i))
		fmt.Fprintf(log, "%-3s %d of %d sequences\n", code, len(records), model.size())
		all = append(all, records...)
	}
	return os.WriteFile(*out, encode(codes, all), 0o644)
}

// download fetches a module and returns its folder.
func download(module string) (dir string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("download %s: %w: %s%s", module, err, stdout.Bytes(), stderr.Bytes())
	}
	var info struct{ Dir string }
	if err := json.Unmarshal(stdout.Bytes(), &info); err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	return info.Dir, nil
}

// encode makes the table of records.
func encode(codes []string, records []record) []byte {
	slices.SortFunc(records, record.compare)
	table := []byte(ngrams.Magic + " " + strings.Join(codes, " ") + "\n")
	for i, r := range records {
		// Of two sequences with one hash, the first is the more likely one.
		if i > 0 && r.hash == records[i-1].hash && r.language == records[i-1].language {
			continue
		}
		table = append(table, byte(r.hash>>24), byte(r.hash>>16), byte(r.hash>>8), byte(r.hash), r.language, r.cost)
	}
	return table
}
