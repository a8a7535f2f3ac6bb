package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/kinds"
)

// pluralSources are messages with plurals in English, by the names of their files.
var pluralSources = map[string]string{
	"icu.json":       `{"files": "{n, plural, one {One file} other {# files}}", "cats": "{n, plural, =0 {No cats} one {# cat} other {# cats}}"}`,
	"icu.properties": "files={n, plural, one {One file} other {# files}}\ncats={n, plural, =0 {No cats} one {# cat} other {# cats}}\n",
	"i18next.json":   `{"file_one": "One file", "file_other": "{{count}} files"}`,
	"messages.ftl":   "files = { $n ->\n    [one] One file\n   *[other] { $n } files\n}\n",
}

// pluralTargets are languages of other categories than English.
var pluralTargets = []string{"ru", "pl", "ar", "ja", "fr", "de", "lt"}

// askPlurals translates the sources, and asks libraries which form they show for 0, 1, 2, 5, 11, 21 and 101. It prints and counts
// the wrong ones.
func askPlurals(ctx context.Context, tools, out string) (wrong int, err error) {
	folder, err := filepath.Abs(filepath.Join(out, "plurals"))
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(folder); err != nil {
		return 0, err
	}
	for _, to := range pluralTargets {
		for name, source := range pluralSources {
			kind, err := kinds.Find(name, "", []byte(source))
			if err != nil {
				return 0, err
			}
			var result bytes.Buffer
			_, err = document.Put(ctx, &result, kind, strings.NewReader(source), int64(len(source)), document.Options{From: "en", To: to}, func(text string) (string, error) {
				return standIns[0].translate(ctx, text, kind.Form)
			})
			path := filepath.Join(folder, to, name)
			if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, result.Bytes(), 0o644)); err != nil {
				return 0, err
			}
		}
	}
	for _, command := range [][]string{
		{"node", filepath.Join(tools, "npm/owners.mjs"), "plurals", folder},
		{"java", "-cp", filepath.Join(tools, "java/*"), "scripts/files/Plurals.java", folder},
		{filepath.Join(tools, "venv/bin/python"), "scripts/files/plurals.py", folder},
	} {
		c := exec.CommandContext(ctx, command[0], command[1:]...)
		c.Stderr = os.Stderr
		output, err := c.Output()
		if err != nil {
			return wrong, fmt.Errorf("%s: %w", command[0], err)
		}
		fmt.Print(string(output))
		wrong += bytes.Count(output, []byte("\n"))
	}
	return wrong, nil
}
