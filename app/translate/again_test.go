package translate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/guard/admission"
)

// export is an engine that adds its name to sentences, and fails after some number of them.
type export struct {
	stepper // for all methods except Stream
	name    string
	after   int
	err     error
}

func (e *export) Stream(_ context.Context, _ engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	one := &upper{decode: func(text string, _ engine.Job) (string, bool) { return text + " " + e.name, false }}
	for n := 0; ; n++ {
		if e.err != nil && n == e.after {
			return e.err
		}
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := each(n, one.translate(job)); err != nil {
			return err
		}
	}
}

// successive has the exports of one model. Each Acquire returns the next one.
type successive struct {
	only
	t        *testing.T
	exports  []*export
	refuse   error // error of the second Acquire
	acquired int
	released int
}

func (s *successive) Acquire(context.Context, []Handle) ([]*Model, func(), error) {
	e := s.exports[min(s.acquired, len(s.exports)-1)]
	if s.acquired++; s.acquired == 2 && s.refuse != nil {
		s.released++
		return nil, nil, s.refuse
	}
	cfg := config(runes{}, e)
	cfg.Identity = e.name
	m, err := NewModel(cfg.ModelConfig)
	require.NoError(s.t, err)
	return []*Model{m}, func() { s.released++ }, nil
}

// following returns a service with successive exports.
func following(t *testing.T, refuse error, exports ...*export) (*Service, *successive) {
	cfg := config(runes{}, exports[0])
	m, err := NewModel(cfg.ModelConfig)
	require.NoError(t, err)
	s := &successive{only: only{Model: m}, t: t, exports: exports, refuse: refuse}
	t.Cleanup(func() { assert.Equal(t, s.acquired, s.released, "models that are not let go of") })
	return New(Config{Models: s, MaxRecords: 20, MaxChars: 1000, MaxSentences: 1000, MaxTokens: 10_000}), s
}

// A request whose model is gone begins again with the next export, whatever was done. The answer has nothing from the first
// export.
func TestBeginsAgain(t *testing.T) {
	for after := range 4 {
		synctest.Test(t, func(t *testing.T) {
			memory := admission.New(1 << 20)
			ctx := admission.With(t.Context(), memory.Lease("a"))
			s, _ := following(t, nil, &export{name: "B"})
			want, err := s.Translate(ctx, texts("One.", "Two.", "7", "Three."))
			require.NoError(t, err)
			taken := memory.InUse()

			memory = admission.New(1 << 20)
			ctx = admission.With(t.Context(), memory.Lease("a"))
			s, _ = following(t, nil, &export{name: "A", after: after, err: ErrGone}, &export{name: "A", err: ErrGone}, &export{name: "B"})
			got, err := s.Translate(ctx, texts("One.", "Two.", "7", "Three."))
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, map[string]string{"m:1": "B"}, got[0].Exports)
			assert.Equal(t, taken, memory.InUse(), "what was begun in vain takes no memory")
		})
	}
}

// Delivered results are not taken back: a stream that has delivered a translation fails. An untranslated text is delivered once.
func TestStreamBeginsAgain(t *testing.T) {
	for after, want := range map[int]map[int]string{
		0: {0: "7", 1: "One. B", 2: "Two. B"},
		1: {0: "7", 1: "One. A"},
		2: {0: "7", 1: "One. A", 2: "Two. A"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, models := following(t, nil, &export{name: "A", after: after, err: ErrGone}, &export{name: "B"})
			got, calls := make(map[int]string), 0
			err := s.Stream(t.Context(), texts("7", "One.", "Two."), func(i int, r Result) error {
				calls++
				got[i] = r.Text
				return nil
			})
			assert.Equal(t, want, got)
			assert.Len(t, want, calls, "each once")
			if after == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrGone)
			assert.Equal(t, 1, models.acquired)
		})
	}
}

// A request does not wait forever for a replacement, and its error is the first reason, not the second attempt's. Errors of the
// request itself are always returned.
func TestNothingToBeginAgainWith(t *testing.T) {
	invalidJob := invalid(CodeInvalidText, "", "no")
	for name, test := range map[string]struct {
		refuse error // of the second attempt
		last   error // of the others
		want   error // nil: it succeeds
	}{
		"it is gone for good":       {nil, ErrGone, ErrGone},
		"others come first":         {&engine.BusyError{}, nil, nil},
		"others go on":              {nil, &engine.BusyError{}, ErrGone},
		"no memory for a while":     {&admission.FullError{}, nil, nil},
		"too slow for what is left": {nil, &engine.TooLargeError{}, ErrGone},
		"it is not served":          {invalid(CodeUnknownModel, "model", "no"), ErrGone, ErrGone},
		"the request is wrong":      {invalidJob, nil, invalidJob},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s, _ := following(t, test.refuse, &export{name: "A", after: 1, err: ErrGone}, &export{name: "B", err: test.last})
				got, err := s.Translate(t.Context(), texts("One.", "Two."))
				if test.want != nil {
					require.ErrorIs(t, err, test.want)
				} else {
					require.NoError(t, err)
					assert.Equal(t, []string{"One. B", "Two. B"}, textsOf(got))
				}
				assert.Less(t, time.Since(begin), 10*time.Second)
			})
		})
	}
	busy := &engine.BusyError{}
	s, models := following(t, nil, &export{name: "A", err: busy})
	_, err := s.Translate(t.Context(), texts("One."))
	require.ErrorIs(t, err, busy)
	assert.Equal(t, 1, models.acquired, "what nothing has begun with is not gone")
}

// If a request's time ends while it begins again, the error is the first reason. A client that leaves does not change the error.
func TestEndWhileNothingIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := following(t, nil, &export{name: "A", err: ErrGone})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Translate(ctx, texts("One."))
		require.ErrorIs(t, err, ErrGone)
		assert.Error(t, ctx.Err())

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = s.Translate(ctx, texts("One."))
		require.ErrorIs(t, err, context.Canceled)
	})
}

// goneOnce is an engine that is gone the first time, after some sentences.
type goneOnce struct {
	*stepper
	after int
	was   bool
}

func (g *goneOnce) Stream(ctx context.Context, req engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	n := 0
	return g.stepper.Stream(ctx, req, next, func(i int, r engine.Result) error {
		if n++; n > g.after && !g.was {
			g.was = true
			return ErrGone
		}
		return each(i, r)
	})
}

// If one model of a route is gone, all steps are repeated.
func TestChainBeginsAgain(t *testing.T) {
	for _, step := range []string{"a", "b", "c"} {
		for after := range 3 {
			synctest.Test(t, func(t *testing.T) {
				c := chainOf(t, three, nil)
				g := &goneOnce{stepper: c.steppers[step], after: after}
				c.models[step].Engine = g
				got, err := c.Translate(t.Context(), texts("One.", "Two.", "Three."))
				require.NoError(t, err)
				assert.Equal(t, []string{"One. a b c", "Two. a b c", "Three. a b c"}, textsOf(got))
				assert.Equal(t, 2, c.acquired)
				assert.True(t, g.was)
				assert.Equal(t, map[string]string{"a:1": "a", "b:1": "b", "c:1": "c"}, got[0].Exports)
			})
		}
	}
}
