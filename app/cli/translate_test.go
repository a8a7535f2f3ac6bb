package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/cli/clitest"
	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/translate/translatetest"
	"dragoman/model"
	"dragoman/model/search"
)

// echo is an engine that answers with the source's pieces, and a tokenizer of bytes.
type echo struct {
	requests int
	endless  bool // translations of texts that begin with z have no end
}

func (e *echo) Stream(_ context.Context, _ engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	e.requests++
	for i := 0; ; i++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		tokens := job.Source[1 : len(job.Source)-1]
		if err := each(i, engine.Result{Result: search.Result{Tokens: tokens, Truncated: e.endless && len(tokens) > 0 && tokens[0] == 'z'}}); err != nil {
			return err
		}
	}
}

func (e *echo) Err() error { return nil }

func (e *echo) Encode(_, _, text string) ([]int64, error) {
	ids := []int64{0}
	for _, b := range []byte(text) {
		ids = append(ids, int64(b))
	}
	return append(ids, 0), nil
}

// EncodeTarget returns the text's tokens without the special tokens around them.
func (r *echo) EncodeTarget(text string) ([]int64, error) {
	ids, err := r.Encode("", "", text)
	return ids[1 : len(ids)-1], err
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

// echoJob returns a job that prints its input.
func echoJob(t *testing.T, out io.Writer) (*local, *echo) {
	e := &echo{}
	m, err := translate.NewModel(translate.ModelConfig{Tokenizer: e, Engine: e, Languages: []string{"en", "fr"},
		Spec: model.Spec{VocabSize: 300, MaxPositions: 1000}, Search: search.DefaultOptions(model.Generation{MaxLength: 1000})})
	require.NoError(t, err)
	service := translate.New(translate.Config{Models: translatetest.Only{Model: m}, MaxRecords: chunkLines, MaxChars: 1000, MaxSentences: 1000, MaxTokens: 10_000})
	return &local{translateFlags: translateFlags{from: "en", to: "fr"}, translator: service, out: printer{out: out}}, e
}

func TestLinesAreTranslatedInChunks(t *testing.T) {
	var in, out strings.Builder
	for i := range 2*chunkLines + 3 {
		in.WriteString(strings.Repeat("x", 1+i%7) + "\n")
	}
	job, engine := echoJob(t, &out)
	require.NoError(t, takeLines(job.translateLines).readAll(t.Context(), "line", strings.NewReader(in.String())))
	assert.Equal(t, in.String(), out.String())
	assert.Equal(t, 3, engine.requests)
}

// A line is answered before the next one arrives.
func TestLinesAreAnsweredAtOnce(t *testing.T) {
	in, input := io.Pipe()
	output, out := io.Pipe()
	job, _ := echoJob(t, out)
	done := make(chan error)
	go func() { done <- takeLines(job.translateLines).readAll(t.Context(), "line", in) }()
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
	err := takeLines(job.translateLines).readAll(t.Context(), "line", io.MultiReader(strings.NewReader("one\ntwo\n"), iotest.ErrReader(boom)))
	assert.ErrorIs(t, err, boom)
	assert.ErrorContains(t, err, "line 3")
}

func TestInterruptWhileReading(t *testing.T) {
	in, input := io.Pipe() // nothing comes
	defer input.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job, _ := echoJob(t, io.Discard)
	assert.ErrorIs(t, takeLines(job.translateLines).readAll(ctx, "line", in), context.Canceled)
}

// A line that cannot be translated is reported with its number, and the others are translated; with --strict it ends the command.
func TestBadLines(t *testing.T) {
	const bad = "\xff\xfe"
	for _, test := range []struct {
		name, input string
		args        []string
		code        int
		out, err    string
	}{
		{"one of three", "one\n" + bad + "\nthree\n", nil, ExitPartly, "one\n\nthree\n", "line 2: the text is not UTF-8\ndragoman: 1 of 3 lines were not translated: see above\n"},
		{"first and last", bad + "\ntwo\n" + bad, nil, ExitPartly, "\ntwo\n\n", "line 1: the text is not UTF-8\ndragoman: line 3: the text is not UTF-8\ndragoman: 2 of 3 lines"},
		{"too long", "one\n" + strings.Repeat("x", 1001) + "\nthree\n", nil, ExitPartly, "one\n\nthree\n", "line 2: the text has 1001 characters"},
		{"the only one", bad, nil, ExitPartly, "\n", "line 1: the text is not UTF-8\ndragoman: 1 of 1 lines"},
		{"in a later chunk", strings.Repeat("x\n", chunkLines+3) + bad + "\ny\n", nil, ExitPartly, strings.Repeat("x\n", chunkLines+3) + "\ny\n", "line 260: the text is not UTF-8"},
		{"as JSON", "one\n" + bad + "\n", []string{"--json"}, ExitPartly, "{\"text\":\"one\"}\n{\"text\":\"\"}\n", "line 2: "},
		{"strict", "one\n" + bad + "\nthree\n", []string{"--strict"}, ExitError, "", `dragoman: record "line 2": the text is not UTF-8`},
		{"none", "one\ntwo\n", nil, ExitOK, "one\ntwo\n", ""},
		{"arguments", "", []string{"one", bad}, ExitPartly, "one\n\n", "argument 2: the text is not UTF-8"},
		{"an unknown language", "one\n", []string{"-t", "tlh"}, ExitUsage, "", "use one of en fr"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := execute(t, test.input, nil, append([]string{"translate", "-f", "en", "-t", "fr"}, test.args...)...)
			assert.Equal(t, test.code, r.code, r.stderr)
			assert.Equal(t, test.out, r.stdout)
			assert.Contains(t, r.stderr, test.err)
		})
	}
}

// Lines whose translations have no end are reported together: the others are not translated again for each.
func TestEndlessLinesAreTranslatedOnce(t *testing.T) {
	requests := func(lines ...string) int {
		var out, reports strings.Builder
		job, engine := echoJob(t, &out)
		engine.endless, job.Program = true, &Program{Stderr: &reports}
		require.NoError(t, job.translateLines(t.Context(), "line", 1, lines))
		assert.Equal(t, "one\n"+strings.Repeat("\n", len(lines)-1), out.String())
		assert.Equal(t, len(lines)-1, strings.Count(reports.String(), "the translation reached the limit of tokens before its end"))
		assert.Contains(t, reports.String(), "dragoman: line 2: ")
		return engine.requests
	}
	assert.Equal(t, requests("one", "zab"), requests("one", "zab", "zcd", "zef", "zgh"))
}

// The progress of one long text is told sentence by sentence.
func TestProgressOfALongText(t *testing.T) {
	job, _ := echoJob(t, io.Discard)
	var shown strings.Builder
	job.bar = newBar(&shown, true, -1)
	require.NoError(t, job.translateLines(t.Context(), "argument", 1, []string{strings.Repeat("One more. And another. ", 20)}))
	assert.Equal(t, 2, job.sentences, "equal sentences count once")
	require.NoError(t, job.translateLines(t.Context(), "argument", 2, []string{"Ah, one. Oh, two. Eh, three."}))
	assert.Equal(t, 5, job.sentences)
	assert.Contains(t, shown.String(), "2/2")
}

// A folder of documents is translated but for those that cannot be.
func TestBadDocuments(t *testing.T) {
	in, out := clitest.Folder(t, map[string]string{"a.txt": "One.", "b.docx": "no archive", "c.txt": "Three."}), t.TempDir()
	r := execute(t, "", nil, "translate", "-f", "en", "-t", "fr", in, "-o", out)
	assert.Equal(t, ExitPartly, r.code)
	assert.Contains(t, r.stderr, "b.docx: ")
	assert.Contains(t, r.stderr, "dragoman: 1 of 3 documents were not translated: see above")
	assert.Equal(t, map[string]string{"a.txt": "One.", "c.txt": "Three."}, clitest.Contents(t, out))

	r = execute(t, "", nil, "translate", "-f", "en", "-t", "fr", "--strict", in, "-o", filepath.Join(out, "strict"))
	assert.Equal(t, ExitError, r.code)
	assert.NotContains(t, clitest.Contents(t, out), "strict/c.txt")
}
