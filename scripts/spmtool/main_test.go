package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const bundled = "../../model/bundled/sentencepiece.bpe.model"

func TestRun(t *testing.T) {
	for name, test := range map[string]struct{ command, in, want string }{
		"encode":              {"encode", "I like tea.\n\nTea\n", "▁I ▁like ▁tea .\n\n▁Te a\n"},
		"decode":              {"decode", "▁I ▁like ▁tea .\n\n▁Te a\n", "I like tea.\n\nTea\n"},
		"no newline at end":   {"encode", "tea", "▁tea\n"},
		"nothing":             {"encode", "", ""},
		"carriage return":     {"encode", "tea\r\n\r\n", "▁tea\n\n"},
		"NUL is text":         {"encode", "te\x00a\n", "▁te \x00 a\n"},
		"long line":           {"decode", strings.Repeat("▁tea ", 1<<18) + "\n", strings.Repeat(" tea", 1<<18)[1:] + "\n"},
		"newline is no space": {"decode", "▁tea\n▁tea", "tea\ntea\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, run([]string{"-model", bundled, test.command}, strings.NewReader(test.in), &out))
			assert.True(t, test.want == out.String(), "%.200q", out.String())
		})
	}
}

func TestRunFails(t *testing.T) {
	for name, test := range map[string]struct {
		args    []string
		message string
	}{
		"no model":      {[]string{"-model", "none.model", "encode"}, "none.model"},
		"no command":    {[]string{"-model", bundled}, `unknown command ""`},
		"other command": {[]string{"-model", bundled, "train"}, `unknown command "train": use encode or decode`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			assert.ErrorContains(t, run(test.args, strings.NewReader("text"), &out), test.message)
			assert.Empty(t, out.String())
		})
	}
}

func TestRunBrokenPipe(t *testing.T) {
	err := run([]string{"-model", bundled, "encode"}, strings.NewReader("text\n"), full{})
	assert.ErrorIs(t, err, errFull)
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
