package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli"
)

// file writes lines to a file and returns its path.
func file(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "lines.txt")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestTranslateCommand(t *testing.T) {
	const station, gare, reads, lire = "Where is the station?", "Où est la gare ?", "I like to read books.", "J'aime lire des livres."
	for _, test := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"arguments", "ignored", []string{station, reads}, gare + "\n" + lire + "\n"},
		{"greedy", "", []string{"--beams", "1", station}, "Où est la gare ?\n"},
		{"flags after texts", "", []string{station, "--beams=2"}, gare + "\n"},
		{"standard input", station + "\n\n" + reads + "\n", nil, gare + "\n\n" + lire + "\n"},
		{"the last line has no end", station + "\r\n" + reads, nil, gare + "\n" + lire + "\n"},
		{"nothing", "", nil, ""},
		{"files", "ignored", []string{"--file", file(t, station+"\n"), "--file", file(t, reads)}, gare + "\n" + lire + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := execute(t, test.stdin, environment("MAX_RECORDS=1"), append([]string{"translate", "--from", "en", "--to", "fr"}, test.args...)...)
			require.Equal(t, cli.ExitOK, r.code, r.stderr)
			assert.Equal(t, test.want, r.stdout)
			assert.Empty(t, r.stderr)
		})
	}
}

// The first alternative is the plain translation, whether or not the search has enough beams for all.
func TestTranslateCommandPrintsAlternatives(t *testing.T) {
	for _, beams := range []string{"1", "2", "5"} {
		args := []string{"translate", "--from", "en", "--to", "fr", "--beams", beams, "Where is the station?", "7"}
		plain := execute(t, "", environment(), args...)
		require.Equal(t, cli.ExitOK, plain.code, plain.stderr)
		r := execute(t, "", environment(), append(args, "--alternatives", "3")...)
		require.Equal(t, cli.ExitOK, r.code, r.stderr)
		lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
		require.Len(t, lines, 4)
		var best []string
		seen := map[string]bool{}
		for i, number := range []string{"1", "1", "1", "2"} {
			fields := strings.Split(lines[i], "\t")
			require.Len(t, fields, 3)
			assert.Equal(t, number, fields[0])
			assert.Regexp(t, `^-?\d+\.\d{4}$`, fields[1])
			assert.False(t, seen[fields[2]], "twice: %s", fields[2])
			seen[fields[2]] = true
			if i%3 == 0 {
				best = append(best, fields[2])
			}
		}
		assert.Equal(t, plain.stdout, strings.Join(best, "\n")+"\n")
	}
}

// Progress is logged only on request; an empty variable requests nothing.
func TestTranslateCommandLogs(t *testing.T) {
	for level, logs := range map[string]bool{"": false, " ": false, "warn": false, "info": true} {
		r := execute(t, "", environment("LOG_LEVEL="+level), "translate", "--from", "en", "--to", "fr", "Hello.")
		require.Equal(t, cli.ExitOK, r.code, r.stderr)
		assert.Equal(t, logs, strings.Contains(r.stderr, `"level":"INFO"`), "LOG_LEVEL=%q: %s", level, r.stderr)
	}
}

func TestTranslateCommandNamesTheLine(t *testing.T) {
	r := execute(t, "One.\nWe went to the station to see the trains.\n", environment("MAX_LENGTH=5", "MAX_LENGTH_LIMIT=5"),
		"translate", "--from", "en", "--to", "fr")
	assert.Equal(t, cli.ExitPartly, r.code)
	assert.Equal(t, []string{
		"dragoman: line 2: the translation reached the limit of tokens before its end: send shorter sentences", "dragoman: 1 of 2 lines were not translated: see above",
	}, r.errorLines())
	assert.Regexp(t, `^.+\n\n$`, r.stdout)

	r = execute(t, "", environment(), "translate", "--from", "en", "--to", "fr", "--file", "/nope")
	assert.Equal(t, cli.ExitError, r.code)
	assert.Equal(t, []string{"dragoman: open /nope: no such file or directory"}, r.errorLines())
}
