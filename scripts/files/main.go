// Command files translates real files with stand-ins for a model, and asks the programs that own their formats what they make of
// the results. See README.md; run.sh fetches the files and the programs.
//
//	go run ./scripts/files -corpus build/files/corpus -out build/files
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"
)

func main() {
	corpus := flag.String("corpus", "build/files/corpus", "folder of the files, with a folder for each extension")
	out := flag.String("out", "build/files", "folder of the results and of the lists of faults")
	tools := flag.String("tools", "build/files/tools", "folder of the owners that run.sh installs; nobody is asked if it is empty")
	conversions := flag.Int("conversions", 8, "how many files of each format LibreOffice converts")
	only := flag.String("only", "", "extensions to try, separated by commas; empty: all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	broken, err := run(ctx, *corpus, *out, *tools, *only, *conversions)
	if err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
	}
	if err != nil || broken > 0 {
		os.Exit(1)
	}
}

// run tries all files, prints the table, and returns how many results an owner refused whose original it accepted, and how many plural
// forms are wrong.
func run(ctx context.Context, corpus, out, tools, only string, conversions int) (broken int, err error) {
	files, err := list(corpus, only)
	if err != nil {
		return 0, err
	}
	results := filepath.Join(out, "results")
	if err := os.RemoveAll(results); err != nil {
		return 0, err
	}
	group, tried := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, f := range files {
		group.Go(func() error {
			if err := f.try(tried, results); err != nil { // of this machine, not of the document
				return fmt.Errorf("%s: %w", f.path, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if tools != "" {
		if err := ask(ctx, tools, out, files, conversions); err != nil {
			return 0, err
		}
		if only == "" {
			if broken, err = askPlurals(ctx, tools, out); err != nil {
				return 0, err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	printTable(os.Stdout, files)
	return broken + count(files, func(f *file) int { return f.count(refusedByOwner) }), writeFaults(filepath.Join(out, "faults.tsv"), files)
}

// list returns the files of a corpus, in order.
func list(corpus, only string) (files []*file, err error) {
	paths, err := filepath.Glob(filepath.Join(corpus, "*", "*"))
	if err != nil {
		return nil, err
	}
	chosen := strings.Split(only, ",")
	for _, path := range paths {
		extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
		if only == "" || slices.Contains(chosen, extension) {
			files = append(files, &file{path: path, extension: extension})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no files in %s: run scripts/files/fetch.sh", corpus)
	}
	return files, nil
}

// printTable prints the figures of each extension, in Markdown.
func printTable(w io.Writer, files []*file) {
	byExtension := map[string][]*file{}
	for _, f := range files {
		byExtension[f.extension] = append(byExtension[f.extension], f)
	}
	var table bytes.Buffer
	columns := tabwriter.NewWriter(&table, 0, 0, 1, ' ', tabwriter.Debug)
	row := func(name string, files []*file) {
		open := func(f *file) int { return one(f.refused == "") }
		asked := func(f *file) int { return one(f.owner != "" && f.refused == "") }
		fmt.Fprintf(columns, "\t %s\t %d\t %d\t %d\t %d\t %d\t %d\t %d\t %d\t\n", name, len(files),
			count(files, func(f *file) int { return one(f.refused != "") }),
			count(files, func(f *file) int { return f.texts }),
			count(files, func(f *file) int { return one(f.refused == "" && f.count(notIdentical, fails) == 0) }),
			count(files, func(f *file) int { return one(f.refused == "" && f.count(otherStructure, fails) == 0) }),
			count(files, func(f *file) int { return one(f.count(left) > 0) }),
			count(files, func(f *file) int { return open(f) * asked(f) }),
			count(files, func(f *file) int { return asked(f) * one(f.count(refusedByOwner, otherTexts) == 0) }))
	}
	fmt.Fprintf(columns, "\t %s\t\n", strings.Join([]string{"format", "files", "refused", "texts", "identical", "same structure", "texts left", "owner asked", "owner agrees"}, "\t "))
	fmt.Fprintf(columns, "\t---%s\t\n", strings.Repeat("\t---:", 8))
	for _, extension := range slices.Sorted(maps.Keys(byExtension)) {
		row("."+extension, byExtension[extension])
	}
	row("all", files)
	_ = columns.Flush() // to memory
	fmt.Fprintf(w, "%s\n%d formats\n", table.String(), len(byExtension))
}

// writeFaults writes what is wrong, a line each: extension, fault, stand-in, path, what.
func writeFaults(path string, files []*file) error {
	var lines strings.Builder
	clean := strings.NewReplacer("\t", " ", "\n", `\n`, "\r", `\r`)
	for _, f := range files {
		if f.refused != "" {
			fmt.Fprintf(&lines, "%s\trefused\t\t%s\t%s\n", f.extension, f.path, clean.Replace(f.refused))
		}
		for _, fault := range slices.SortedStableFunc(slices.Values(f.faults), func(a, b fault) int { return cmp.Compare(a.kind, b.kind) }) {
			fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\t%s\n", f.extension, fault.kind, fault.standIn, f.path, clean.Replace(fault.what))
		}
	}
	return os.WriteFile(path, []byte(lines.String()), 0o644)
}

func count(files []*file, of func(*file) int) (n int) {
	for _, f := range files {
		n += of(f)
	}
	return n
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
