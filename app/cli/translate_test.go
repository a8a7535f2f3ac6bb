package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/translate/translatetest"
	"dragoman/model"
	"dragoman/model/search"
)

// echo is an engine that answers with the source's pieces, and a tokenizer of bytes.
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
