package translate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
)

// stepper is an engine that decodes jobs one after the other, and takes them as they come, as [engine.Engine] does with More.
// Each job takes a second.
type stepper struct {
	name   string
	decode func(text string) string
	others func(text string) []string
	fails  string // the text that fails
	most   int    // jobs that it holds before the result of the first; 0: 2

	mu      sync.Mutex // guards the rest
	events  *[]string  // of all steppers
	streams int        // that run
	tokens  int        // tokens of the last request
}

var errEngine = errors.New("the engine failed")

func (s *stepper) Stream(ctx context.Context, req engine.Request,
	next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	s.mu.Lock()
	s.streams++
	s.tokens = req.Tokens
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.streams--; s.mu.Unlock() }()
	more, count := req.More, 0
	var waiting []engine.Job
	for {
		for len(waiting) < max(2, s.most) {
			job, ok, err := next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			waiting = append(waiting, job)
		}
		if len(waiting) == 0 {
			if more == nil {
				return nil
			}
			select {
			case _, open := <-more:
				if !open {
					more = nil
				}
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		text := runes{}.Decode(waiting[0].Source)
		if s.fails != "" && strings.Contains(text, s.fails) {
			return errEngine
		}
		eventsMu.Lock()
		*s.events = append(*s.events, s.name+" "+text)
		eventsMu.Unlock()
		translation := text
		if s.decode != nil {
			translation = s.decode(text)
		}
		one := &upper{decode: func(string, engine.Job) (string, bool) { return translation, false }}
		if s.others != nil {
			one.others = func(text string, _ engine.Job) []string { return s.others(text) }
		}
		result := one.translate(waiting[0])
		waiting = waiting[1:]
		if err := each(count, result); err != nil {
			return err
		}
		count++
	}
}

func (s *stepper) Err() error { return nil }

var eventsMu sync.Mutex // guards the events

// chained is a service with routes by pairs of languages.
type chained struct {
	*Service
	t        *testing.T
	steppers map[string]*stepper
	models   map[string]*Model
	routes   map[pair][]string // names of models, with the target language of each: "a>ja"
	events   []string
	detector Detector

	mu       sync.Mutex // guards the rest
	acquired int
	released int
	refuse   error
}

func (c *chained) Select(string) (Selection, error) { return c, nil }
func (c *chained) Healthy() error                   { return nil }
func (c *chained) Languages() []string              { return []string{"de", "en", "fr", "ja"} }
func (c *chained) Detector() Detector               { return c.detector }
func (c *chained) Detects() bool                    { return false }
func (c *chained) Targets(string) []string          { return c.Languages() }
func (*chained) Pivots(string) map[string]string    { return nil }

func (c *chained) Route(from, to string) (Route, error) {
	steps := c.routes[pair{from, to}]
	if len(steps) == 0 {
		return Route{}, invalid(CodeUnknownLanguage, "toLang", "no route from %s to %s", from, to)
	}
	r := Route{Model: "pipe", Version: "7"}
	for _, step := range steps {
		name, into, _ := strings.Cut(step, ">")
		r.Steps = append(r.Steps, Step{Model: name, From: from, To: into})
		from = into
	}
	if len(steps) == 1 {
		r.Model = r.Steps[0].Model.(string)
	}
	return r, nil
}

func (c *chained) Acquire(_ context.Context, handles []Handle) (models []*Model, release func(), err error) {
	if c.refuse != nil {
		return nil, nil, c.refuse
	}
	for _, h := range handles {
		models = append(models, c.models[h.(string)])
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acquired++
	return models, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.released++
	}, nil
}

// chain returns a service with models a, b and c, each of which adds its name to a text.
func chainOf(t *testing.T, routes map[pair][]string, change func(*chained, *Config)) *chained {
	c := &chained{t: t, routes: routes, steppers: map[string]*stepper{}, models: map[string]*Model{}}
	for _, name := range []string{"a", "b", "c"} {
		s := &stepper{name: name, events: &c.events, decode: func(text string) string { return text + " " + name }}
		c.steppers[name] = s
		cfg := config(runes{}, s)
		cfg.Name, cfg.Version, cfg.Identity, cfg.ModelConfig.Languages = name, "1", name, []string{"de", "en", "fr", "ja"}
		cfg.Spec.VocabSize = 105
		m, err := NewModel(cfg.ModelConfig)
		require.NoError(t, err)
		c.models[name] = m
	}
	cfg := Config{Models: c, MaxRecords: 20, MaxChars: 1000, MaxSentences: 1000, MaxTokens: 10_000}
	if change != nil {
		change(c, &cfg)
	}
	c.Service = New(cfg)
	t.Cleanup(func() {
		assert.Equal(t, c.acquired, c.released, "models that are not let go of")
		for name, s := range c.steppers {
			assert.Zero(t, s.streams, "%s still has a request", name)
		}
	})
	return c
}
