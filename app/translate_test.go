package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/search"
)

// file writes lines to a file and returns its path.
func file(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "lines.txt")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func TestTranslateCommand(t *testing.T) {
	const station, gare, reads, lire = "Where is the station?", "Où se trouve la gare ?", "I like to read books.", "J'aime lire des livres."
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
			require.Equal(t, exitOK, r.code, r.stderr)
			assert.Equal(t, test.want, r.stdout)
			assert.Empty(t, r.stderr)
		})
	}
}

// The first alternative is the plain translation, whether the search has room for all or not.
func TestTranslateCommandPrintsAlternatives(t *testing.T) {
	for _, beams := range []string{"1", "2", "5"} {
		args := []string{"translate", "--from", "en", "--to", "fr", "--beams", beams, "Where is the station?", "7"}
		plain := execute(t, "", environment(), args...)
		require.Equal(t, exitOK, plain.code, plain.stderr)
		r := execute(t, "", environment(), append(args, "--alternatives", "3")...)
		require.Equal(t, exitOK, r.code, r.stderr)
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
	r := execute(t, "", environment(), "translate", "--from", "en", "--to", "fr", "--alternatives", "9", "Hello.")
	assert.Equal(t, exitError, r.code)
	assert.Contains(t, r.stderr, "ask for 8 or fewer")
}

// What happens is logged only where that is asked for; an empty variable asks nothing.
func TestTranslateCommandLogs(t *testing.T) {
	for level, logs := range map[string]bool{"": false, " ": false, "warn": false, "info": true} {
		r := execute(t, "", environment("LOG_LEVEL="+level), "translate", "--from", "en", "--to", "fr", "Hello.")
		require.Equal(t, exitOK, r.code, r.stderr)
		assert.Equal(t, logs, strings.Contains(r.stderr, `"level":"INFO"`), "LOG_LEVEL=%q: %s", level, r.stderr)
	}
}

func TestTranslateCommandNamesTheLine(t *testing.T) {
	r := execute(t, "One.\nWe went to the station to see the trains.\n", environment("MAX_LENGTH=5", "MAX_LENGTH_LIMIT=5"),
		"translate", "--from", "en", "--to", "fr")
	assert.Equal(t, exitError, r.code)
	require.Len(t, r.errorLines(), 1)
	assert.Contains(t, r.errorLines()[0], `record "line 2": the translation reached the limit`)

	r = execute(t, "", environment(), "translate", "--from", "en", "--to", "fr", "--file", "/nope")
	assert.Equal(t, exitError, r.code)
	assert.Equal(t, []string{"dragoman: open /nope: no such file or directory"}, r.errorLines())
}

// echo is an engine that answers with the sources' pieces, and a tokenizer of bytes.
type echo struct{ requests int }

func (e *echo) Stream(_ context.Context, _ engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	e.requests++
	for i := 0; ; i++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := each(i, engine.Result{Result: search.Result{Tokens: job.Source[1 : len(job.Source)-1]}}); err != nil {
			return err
		}
	}
}

func (e *echo) InRound() time.Duration                   { return 0 }
func (e *echo) Err() error                               { return nil }
func (e *echo) WarmUp(context.Context, engine.Job) error { return nil }

func (e *echo) Encode(_, _, text string) ([]int64, error) {
	ids := []int64{0}
	for _, b := range []byte(text) {
		ids = append(ids, int64(b))
	}
	return append(ids, 0), nil
}

func (e *echo) Decode(ids []int64) string {
	var text []byte
	for _, id := range ids {
		text = append(text, byte(id))
	}
	return string(text)
}

func (e *echo) Forced(string, string) []int64 { return nil }

func (e *echo) LanguageID(string) (int64, bool) { return 1, true }

// echoJob makes a job that prints its input.
func echoJob(t *testing.T, out io.Writer) (*lineJob, *echo) {
	e := &echo{}
	m, err := translate.NewModel(translate.ModelConfig{Tokenizer: e, Engine: e, Languages: []string{"en", "fr"},
		Spec: model.Spec{VocabSize: 300, MaxPositions: 1000}, Search: search.DefaultOptions(model.Generation{MaxLength: 1000})})
	require.NoError(t, err)
	service := translate.New(translate.Config{Models: translate.Only(m, nil), MaxRecords: chunkLines, MaxChars: 1000, MaxSentences: 1000, MaxTokens: 10_000})
	return &lineJob{service: service, from: "en", to: "fr", out: printer{out: out}}, e
}

func TestLinesAreTranslatedInChunks(t *testing.T) {
	var in, out strings.Builder
	for i := range 2*chunkLines + 3 {
		in.WriteString(strings.Repeat("x", 1+i%7) + "\n")
	}
	job, engine := echoJob(t, &out)
	require.NoError(t, takeLines(job.translate).readAll(t.Context(), "line", strings.NewReader(in.String())))
	assert.Equal(t, in.String(), out.String())
	assert.Equal(t, 3, engine.requests)
}

// A line that is there is answered before the next one comes.
func TestLinesAreAnsweredAtOnce(t *testing.T) {
	in, input := io.Pipe()
	output, out := io.Pipe()
	job, _ := echoJob(t, out)
	done := make(chan error)
	go func() { done <- takeLines(job.translate).readAll(t.Context(), "line", in) }()
	buffer := make([]byte, 100)
	for _, line := range []string{"first\n", "second\n"} {
		_, err := io.WriteString(input, line)
		require.NoError(t, err)
		n, err := output.Read(buffer)
		require.NoError(t, err)
		assert.Equal(t, line, string(buffer[:n]))
	}
	require.NoError(t, input.Close())
	assert.NoError(t, <-done)
}

func TestReadErrorsNameTheLine(t *testing.T) {
	boom := errors.New("boom")
	job, _ := echoJob(t, io.Discard)
	err := takeLines(job.translate).readAll(t.Context(), "line", io.MultiReader(strings.NewReader("one\ntwo\n"), iotest.ErrReader(boom)))
	assert.ErrorIs(t, err, boom)
	assert.ErrorContains(t, err, "line 3")
}

func TestInterruptWhileReading(t *testing.T) {
	in, input := io.Pipe() // nothing comes
	defer input.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job, _ := echoJob(t, io.Discard)
	assert.ErrorIs(t, takeLines(job.translate).readAll(ctx, "line", in), context.Canceled)
}
