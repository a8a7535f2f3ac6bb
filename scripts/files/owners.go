package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// An owner is a program that a format is made for, or a library that reads it.
type owner struct {
	name       string
	extensions string   // separated by spaces
	command    []string // reads paths and writes readings; or, with theFile in it, accepts that file or fails
}

// theFile stands for a path in the command of an owner.
const theFile = "FILE"

// reading is what an owner makes of a file.
type reading struct {
	Path  string   `json:"path"`
	Error string   `json:"error"` // why it refuses the file
	Texts []string `json:"texts"` // what it reads
}

func owners(tools string) []owner {
	python := []string{filepath.Join(tools, "venv/bin/python"), "scripts/files/owners.py"}
	return []owner{
		{"msgfmt -c", "po", []string{"msgfmt", "-c", "-o", os.DevNull, theFile}},
		{"lrelease", "ts", []string{"lrelease", "-silent", theFile, "-qm", os.DevNull}},
		{"xmllint", "xml xlf xliff ts ttml resx stringsdict tmx xhtml svg", []string{"xmllint", "--noout", "--nonet", "--huge", theFile}},
		{"PHP", "php", []string{"php", "scripts/files/owners.php"}},
		{"JavaScript", "json ftl yaml yml mdx", []string{"node", filepath.Join(tools, "npm/owners.mjs")}},
		{"Java", "properties epub", []string{"java", "-cp", filepath.Join(tools, "java/*"), "scripts/files/Owners.java"}},
		{"LibreOffice", "docx docm dotx dotm odt ott pptx pptm ppsx ppsm potx potm odp otp odg xlsx xlsm xltx xltm ods ots fodt fods fodp",
			slices.Concat([]string{office}, python)},
		{"Python", "json yaml yml csv tsv po pot xlf xliff ts resx strings html htm md markdown ipynb docx pptx xlsx xlsm odt ott ods ots odp otp odg " +
			"ass srt vtt sbv ttml ftl eml txt", python},
	}
}

// office in front of the command of an owner is LibreOffice: the owner reads what it converts a file to.
const office = "soffice"

// flat are the formats that LibreOffice converts files to, with all that it knows of them.
func flat(extension string) string {
	switch {
	case strings.HasPrefix(extension, "x"), extension == "ods", extension == "ots", extension == "fods":
		return "fods"
	case strings.HasPrefix(extension, "p"), extension == "odp", extension == "otp", extension == "fodp":
		return "fodp"
	case extension == "odg":
		return "fodg"
	}
	return "fodt"
}

// ask asks each owner about the files and their results, and compares its answers. LibreOffice converts as many files of each format
// as conversions says.
func ask(ctx context.Context, tools, out string, files []*file, conversions int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for _, o := range owners(tools) {
		group.Go(func() error {
			start := time.Now()
			own, paths := o.files(files, conversions)
			readings, err := o.read(ctx, out, paths)
			if err != nil {
				return fmt.Errorf("%s: %w", o.name, err)
			}
			for _, f := range own {
				o.judge(f, readings)
			}
			fmt.Fprintf(os.Stderr, "%s: %d files, %.0f s\n", o.name, len(paths), time.Since(start).Seconds())
			return nil
		})
	}
	return group.Wait()
}

// files returns the files that the owner reads, and the paths of them and of their results.
func (o owner) files(files []*file, conversions int) (own []*file, paths []string) {
	taken := map[string]int{}
	for _, f := range files {
		slow := o.command[0] == office
		if !slices.Contains(strings.Fields(o.extensions), f.extension) || slow && (taken[f.extension] == conversions || f.refused != "") {
			continue
		}
		taken[f.extension]++
		own, paths = append(own, f), append(paths, f.path)
		for _, s := range standIns {
			if path, ok := f.results[s.name]; ok && o.reads(s) {
				paths = append(paths, path)
			}
		}
	}
	return own, paths
}

// reads reports whether the owner reads the results of a stand-in: formulas compare without regard to case.
func (o owner) reads(s standIn) bool { return o.command[0] != office || s.name == "cyrillic" }

// judge compares what the owner reads in the results of a file with what it reads in the original.
func (o owner) judge(f *file, readings map[string]reading) {
	original, ok := readings[f.path]
	if !ok || original.Error != "" {
		return // the owner does not read it, so it has no say
	}
	f.owner = o.name
	if f.refused != "" {
		f.add(refusedAlone, "", "%s reads it: %s", o.name, f.refused)
		return
	}
	for _, s := range standIns {
		result, ok := readings[f.results[s.name]]
		switch {
		case f.results[s.name] == "" || !o.reads(s):
		case !ok:
			f.add(refusedByOwner, s.name, "%s: no answer", o.name)
		case result.Error != "":
			f.add(refusedByOwner, s.name, "%s: %s", o.name, result.Error)
		case len(result.Texts) != len(original.Texts):
			f.add(otherTexts, s.name, "%s: %d texts, then %d", o.name, len(original.Texts), len(result.Texts))
		default:
			for i, text := range result.Texts {
				if s.same(plain(text)) != s.same(plain(original.Texts[i])) {
					f.add(otherTexts, s.name, "%s: %.200q, then %.200q", o.name, original.Texts[i], text)
				}
			}
		}
	}
}

// read returns what the owner makes of files.
func (o owner) read(ctx context.Context, out string, paths []string) (readings map[string]reading, err error) {
	if i := slices.Index(o.command, theFile); i >= 0 {
		return o.accept(ctx, i, paths), nil
	}
	originals, command := map[string]string{}, o.command
	if command[0] == office {
		converted, err := convert(ctx, filepath.Join(out, "converted"), paths)
		if err != nil {
			return nil, err
		}
		paths, command = nil, command[1:]
		for path, to := range converted {
			originals[to] = path
			paths = append(paths, to)
		}
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stderr = strings.NewReader(strings.Join(paths, "\n")+"\n"), nil
	output, err := c.Output()
	if err != nil {
		return nil, err
	}
	readings = map[string]reading{}
	for line := range strings.Lines(string(output)) {
		var r reading
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, err
		}
		if path, ok := originals[r.Path]; ok {
			r.Path = path
		}
		readings[r.Path] = r
	}
	return readings, nil
}

// accept runs the command of the owner for each file, which stands at place i of it.
func (o owner) accept(ctx context.Context, i int, paths []string) map[string]reading {
	readings := map[string]reading{}
	for _, path := range paths {
		args := slices.Clone(o.command)
		args[i] = path
		r := reading{Path: path}
		if output, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			scanner := bufio.NewScanner(strings.NewReader(string(output)))
			scanner.Scan()
			r.Error = err.Error() + ": " + scanner.Text()
		}
		readings[path] = r
	}
	return readings
}

// convert converts files by LibreOffice, which computes all formulas, and returns the path of each result.
func convert(ctx context.Context, folder string, paths []string) (converted map[string]string, err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	profile := filepath.Join(folder, "profile")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Join(profile, "user"), 0o755),
		os.WriteFile(filepath.Join(profile, "user", "registrymodifications.xcu"), []byte(recalculate), 0o644)); err != nil {
		return nil, err
	}
	batches := map[string][]string{} // by the folder and the format of the results
	converted = map[string]string{}
	for _, path := range paths {
		extension := strings.TrimPrefix(filepath.Ext(path), ".")
		to := flat(strings.ToLower(extension))
		outdir := filepath.Join(folder, filepath.Base(filepath.Dir(filepath.Dir(path))), extension)
		batches[outdir+" "+to] = append(batches[outdir+" "+to], path)
		converted[path] = filepath.Join(outdir, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))+"."+to)
	}
	run := func(batch string, limit time.Duration, paths []string) {
		outdir, to, _ := strings.Cut(batch, " ")
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		args := []string{"--headless", "-env:UserInstallation=file://" + profile, "--convert-to", to, "--outdir", outdir}
		c := exec.CommandContext(limited, office, append(args, paths...)...)
		c.WaitDelay = time.Second
		_ = c.Run() // a file that it cannot read has no result
	}
	for batch, paths := range batches {
		run(batch, 2*time.Minute, paths)
		for _, path := range paths {
			if _, err := os.Stat(converted[path]); err != nil { // another file may have ended it
				run(batch, 20*time.Second, []string{path})
			}
			if _, err := os.Stat(converted[path]); err != nil {
				delete(converted, path)
			}
		}
	}
	return converted, ctx.Err()
}

// recalculate has LibreOffice compute all formulas when it opens a file.
const recalculate = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="ODFRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
`
