package catalog

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/model"
	"dragoman/model/search"
)

// letters is a tokenizer with a token for each byte.
type letters struct{}

func (letters) Encode(_, _, text string) (ids []int64, _ error) {
	for _, b := range []byte(text) {
		ids = append(ids, int64(b))
	}
	return append(ids, 2), nil
}

// EncodeTarget returns the text's tokens without the special tokens around them.
func (r letters) EncodeTarget(text string) ([]int64, error) {
	ids, err := r.Encode("", "", text)
	return ids[0 : len(ids)-1], err
}

func (letters) Forced(string, string) []int64 { return nil }

func (letters) Decode(ids []int64) string {
	var text strings.Builder
	for _, id := range ids {
		text.WriteByte(byte(id))
	}
	return text.String()
}

func (letters) LanguageID(string) (int64, bool) { return 1, true }

// fakeLoader opens models that decode nothing. Each model has the size in sizes, or 1.
type fakeLoader struct {
	t     *testing.T
	limit int64 // maximum memory of open models; 0: unlimited

	mu     sync.Mutex               // guards the rest
	sizes  map[string]int64         // by identity
	more   map[string]int64         // memory of models beyond the expected one
	slow   map[string]time.Duration // duration of a load
	broken map[string]error         // by folder
	damage map[string]error         // errors of checks, by folder
	loads  []string                 // folders
	checks []string                 // folders
	open   map[*fakeInstance]bool
	bytes  int64 // memory of models that are open or being opened
	most   int   // peak of it
}

func (l *fakeLoader) Needs(s Source) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(1, l.sizes[s.Identity])
}

func (l *fakeLoader) Load(ctx context.Context, s Source, _ engine.Pool) (Instance, error) {
	l.mu.Lock()
	l.loads = append(l.loads, s.Dir)
	bytes := max(1, l.sizes[s.Identity])
	wait, err := l.slow[s.Identity], l.broken[s.Dir]
	l.take(bytes)
	l.mu.Unlock()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.bytes -= bytes
		return nil, err
	}
	i := &fakeInstance{loader: l, identity: s.Identity, languages: s.Manifest.Languages, bytes: bytes + l.more[s.Identity]}
	l.bytes += l.more[s.Identity]
	l.open[i] = true
	l.most = max(l.most, len(l.open))
	return i, nil
}

func (l *fakeLoader) Check(_ context.Context, s Source) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks = append(l.checks, s.Dir)
	return l.damage[s.Dir]
}

// take counts memory. The caller must hold mu.
func (l *fakeLoader) take(bytes int64) {
	l.bytes += bytes
	if l.limit > 0 && l.bytes > l.limit {
		l.t.Errorf("models take %d bytes, of %d", l.bytes, l.limit)
	}
}

// count returns the number of loads of a folder.
func (l *fakeLoader) count(dir string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.loads {
		if d == dir {
			n++
		}
	}
	return n
}

func (l *fakeLoader) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

type fakeInstance struct {
	loader    *fakeLoader
	identity  string
	languages []string
	bytes     int64
	closed    bool  // guarded by the loader's mu
	lost      error // likewise
}

func (i *fakeInstance) Model(name, version string) (*translate.Model, error) {
	return translate.NewModel(translate.ModelConfig{
		Name: name, Version: version, Tokenizer: letters{}, Engine: fakeEngine{i}, Spec: model.Spec{VocabSize: 300, MaxPositions: 100},
		Languages: i.languages, Search: search.Options{Beams: 1, MaxLength: 20, EarlyStopping: search.StopEarly, RepetitionPenalty: 1},
		Identity: i.identity,
	})
}

func (i *fakeInstance) Bytes() int64          { return i.bytes }
func (i *fakeInstance) Stats() []engine.Stats { return make([]engine.Stats, 1) }
func (i *fakeInstance) Rows() int             { return 8 }
func (i *fakeInstance) Device() string        { return "cpu" }

func (i *fakeInstance) Close() error {
	i.loader.mu.Lock()
	defer i.loader.mu.Unlock()
	assert.False(i.loader.t, i.closed, "%s is closed twice", i.identity)
	i.closed = true
	delete(i.loader.open, i)
	i.loader.bytes -= i.bytes
	return nil
}

type fakeEngine struct{ *fakeInstance }

func (e fakeEngine) Stream(context.Context, engine.Request, func() (engine.Job, bool, error), func(int, engine.Result) error) error {
	return errors.New("decodes nothing")
}

func (e fakeEngine) Err() error {
	e.loader.mu.Lock()
	defer e.loader.mu.Unlock()
	if e.closed {
		return engine.ErrClosed
	}
	return e.lost
}
