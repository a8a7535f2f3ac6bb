package live

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/app/translate"
	"dragoman/app/translate/translatetest"
	"dragoman/model"
	"dragoman/model/search"
)

type runes = translatetest.Runes

// upper is an engine that makes capitals of letters. What it is asked for, and when it answers, a test
// may decide.
type upper struct {
	mu     sync.Mutex                      // guards asked
	asked  []string                        // source texts, in order
	before func(source string) error       // of each job, where it is not nil
	wait   func(ctx context.Context) error // before each request is answered, where it is not nil
}

func (u *upper) Stream(ctx context.Context, _ engine.Request, next func() (engine.Job, bool, error), each func(int, engine.Result) error) error {
	for n := 0; ; n++ {
		job, ok, err := next()
		if err != nil || !ok {
			return err
		}
		text := runes{}.Decode(job.Source)
		u.mu.Lock()
		u.asked = append(u.asked, text)
		u.mu.Unlock()
		if u.before != nil {
			if err := u.before(text); err != nil {
				return err
			}
		}
		if u.wait != nil {
			if err := u.wait(ctx); err != nil {
				return err
			}
		}
		ids, _ := runes{}.Encode("en", "fr", strings.ToUpper(text))
		if err := each(n, engine.Result{Result: search.Result{Tokens: ids[1 : len(ids)-1]}}); err != nil {
			return err
		}
	}
}

func (u *upper) requests() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.asked...)
}

func (*upper) Err() error { return nil }

// translator is a real service with that engine.
func translator(t testing.TB, e translate.Engine) *translate.Service {
	m, err := translate.NewModel(translate.ModelConfig{
		Name: "m", Version: "1", Tokenizer: runes{}, Engine: e, Spec: model.Spec{VocabSize: 103, MaxPositions: 200, DecoderStart: 7},
		Search: search.Options{Beams: 1, MaxLength: 200, EarlyStopping: search.StopEarly, RepetitionPenalty: 1},
		Limits: translate.Limits{Beams: 1, MaxLength: 200}, Languages: []string{"ja", "en", "fr"},
	})
	require.NoError(t, err)
	return translate.New(translate.Config{Models: translatetest.Only{Model: m}, MaxRecords: 10, MaxChars: 10_000, MaxSentences: 1000, MaxTokens: 100_000})
}

// start makes a service that a test closes.
func start(t testing.TB, cfg Config, tr Translator) *Service {
	if cfg.MaxSessions == 0 {
		cfg.MaxSessions = 100
	}
	if cfg.MaxChars == 0 {
		cfg.MaxChars = 5000
	}
	if cfg.Idle == 0 {
		cfg.Idle = time.Hour
	}
	s := New(cfg)
	s.Ready(tr)
	t.Cleanup(s.Close)
	return s
}

var enFr = translate.Request{From: "en", To: []string{"fr"}}

func open(t testing.TB, s *Service) *Session {
	x, err := s.Open(t.Context(), "alice", enFr, free)
	require.NoError(t, err)
	return x
}

func free(int) error { return nil }

func admitted() error { return nil }

// appended are edits that add a text at the end.
func appended(number int64, text string) Edits {
	return Edits{Number: number, List: []Edit{{From: End, Text: text}}}
}

// mirror is what a client knows of a session.
type mirror struct {
	seen, taken int64
	shown       int64
	segments    []Segment
	tail        string
	done        bool
	ended       Reason
	problem     error
}

// apply takes an update as docs/live.md says.
func (m *mirror) apply(t testing.TB, u Update) {
	m.seen, m.taken, m.shown, m.done, m.ended, m.problem = u.Revision, u.Taken, u.Shown, u.Done, u.Ended, u.Problem
	if u.All {
		m.segments = nil
	}
	if u.Tail != nil {
		m.tail = *u.Tail
	}
	for _, id := range u.Removed {
		if i := m.index(id); i >= 0 {
			m.segments = append(m.segments[:i:i], m.segments[i+1:]...)
		}
	}
	for _, s := range u.Segments {
		i := m.index(s.ID)
		if i < 0 {
			if s.Text == nil {
				s.Text = new(string)
			}
			i = m.index(s.After) + 1
			require.True(t, s.After == 0 || i > 0, "segment %d is behind %d, which is not there", s.ID, s.After)
			m.segments = append(m.segments[:i:i], append([]Segment{{}}, m.segments[i:]...)...)
		} else if s.Text == nil {
			s.Text = m.segments[i].Text
		}
		require.LessOrEqual(t, s.Stable, len([]rune(*s.Text)))
		m.segments[i] = s
	}
}

func (m *mirror) index(id int64) int {
	for i, s := range m.segments {
		if s.ID == id {
			return i
		}
	}
	return -1
}

// text is the translation that the client shows.
func (m *mirror) text() string {
	var out strings.Builder
	for _, s := range m.segments {
		out.WriteString(s.Before)
		out.WriteString(*s.Text)
	}
	return out.String() + m.tail
}

// until takes updates until a condition holds.
func (m *mirror) until(t testing.TB, x *Session, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for !holds() {
		u, err := x.Wait(ctx, m.seen, m.taken)
		require.NoError(t, err, "%+v", m)
		require.Empty(t, m.ended)
		m.apply(t, u)
	}
}
