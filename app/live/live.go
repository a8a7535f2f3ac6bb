// Package live translates texts while they are written: captions, chats, what is typed into an editor.
//
// A [Session] has the text, which a client changes by [Edit]s, and the translation of each of its
// sentences, of which the client is told what is new ([Session.Wait]). Sessions are callers of package
// translate like any other: a sentence goes there when it is new, and its translation is what it is in
// a translation of the whole text, because [translate.Cut] is how such a text is cut.
//
//	text.go       edits are applied to a text
//	document.go   sentences keep their ids from one cut to the next, and get their translations
//	changes.go    the log of what is new for a client, whatever it has seen
//	stable.go     how much of the translation of an unfinished sentence will stay
//	session.go    what clients do with a session: edits in order, each once
//	work.go       the text is cut again, and what is not known of it is translated
//	inflight.go   what is translated now, and what edits mean for it
//	share.go      owners pay for what is decoded, and their sessions take turns
//	live.go       how many sessions there are, and for how long
//
// A session has one request of translate in flight, and cuts its text only when there is none: edits
// that come faster are merged, and what a session costs is bounded however fast it is edited. So is what an owner costs
// however many sessions it has: they take turns.
package live

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/outage"
	"dragoman/app/translate"
)

// Translator is the use case; [translate.Service] is one. It is safe for concurrent use.
type Translator interface {
	Cut(ctx context.Context, req translate.Request) (translate.Cut, error)
	Stream(ctx context.Context, req translate.Request, yield func(i int, r translate.Result) error) error
}

// Config is what a [Service] works with. All bounds are above 0.
type Config struct {
	MaxSessions int                   // in all; a caller has at most half of what others leave, and one at least
	MaxChars    int                   // of a session's text: Unicode code points
	Idle        time.Duration         // after which a session ends that nobody edits
	Pause       time.Duration         // after which a word counts as written that no space follows; 0: 300 ms
	Timeout     time.Duration         // of one request of translate; 0: a minute
	Memory      *admission.Memory     // of all requests, which sessions share; nil: they take what they need
	Log         *slog.Logger          // nil for none
	Registry    prometheus.Registerer // nil for none
}

// Service has the sessions. It is safe for concurrent use.
type Service struct {
	cfg        Config
	metrics    *metrics
	translator atomic.Pointer[Translator] // nil until Ready

	places *admission.Places // for sessions
	outage *outage.Log       // of translating

	mu       sync.Mutex // guards the rest
	sessions map[string]*Session
	turns    map[string]*turns // by owner, of those who have sessions
	closed   bool
	work     sync.WaitGroup // of sessions that do something
}

// New makes a service that opens no sessions before [Service.Ready].
func New(cfg Config) *Service {
	if cfg.Pause == 0 {
		cfg.Pause = 300 * time.Millisecond
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		cfg: cfg, metrics: newMetrics(cfg.Registry), places: admission.NewPlaces(cfg.MaxSessions), sessions: make(map[string]*Session), turns: make(map[string]*turns),
		outage: &outage.Log{Log: cfg.Log, Level: slog.LevelWarn, Failing: "live text is not translated", Over: "live text is translated again"},
	}
}

// Ready has sessions opened, whose texts t translates.
func (s *Service) Ready(t Translator) { s.translator.Store(&t) }

// ErrUnknown means that there is no such session, or that it has ended.
var ErrUnknown error = fault.New(fault.UnknownSession, "", "there is no such session: its id is wrong, it is another key's, or it has ended: open another one with the text")

// ErrShutdown means that sessions are not opened any more, or have ended with [ReasonShutdown].
var ErrShutdown error = fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment")

// Open opens a session for the texts that an owner sends. The request says how they are translated:
// its languages, of which there is one target, model and options; it has no records. charge is called with
// the characters of all that is decoded for the session, before it is; with an error, it is tried again later. The
// error is as of [translate.Service.Cut], a [*fault.Failure], or that of the memory for requests.
func (s *Service) Open(ctx context.Context, owner string, req translate.Request, charge func(characters int) error) (*Session, error) {
	t := s.translator.Load()
	if t == nil {
		return nil, fault.New(fault.NotReady, "", "the model is loading: try again in a moment")
	}
	req.Caller, req.Flagged, req.Records = owner, true, []translate.Record{{}}
	cut, err := (*t).Cut(ctx, req)
	if err != nil {
		return nil, err
	}
	x := newSession(s, *t, owner, req, cut, charge)
	if err := s.admit(x); err != nil {
		x.stop()
		return nil, err
	}
	x.idle.Reset(s.cfg.Idle)
	return x, nil
}

func (s *Service) admit(x *Session) error {
	if err := x.reserve(text{}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrShutdown
	}
	if err := s.places.Take(x.owner); err != nil {
		return fault.New(fault.TooManySessions, "", "live sessions: %s: end some, or wait until they end", err)
	}
	s.sessions[x.id] = x
	if s.turns[x.owner] == nil {
		s.turns[x.owner] = &turns{places: make(chan struct{}, together)}
	}
	x.turns = s.turns[x.owner]
	x.turns.sessions++
	s.metrics.open.Inc()
	return nil
}

// Find returns a session, which a caller may use who is its owner, or where there are no keys knows its
// id. The error is [ErrUnknown].
func (s *Service) Find(id string) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[id]; x != nil {
		return x, nil
	}
	return nil, ErrUnknown
}

// forget removes a session that has ended.
func (s *Service) forget(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, x.id)
	if x.turns.sessions--; x.turns.sessions == 0 {
		delete(s.turns, x.owner)
	}
	s.places.Leave(x.owner)
	s.metrics.open.Dec()
}

// begin says that a session does something, unless the service is closed; it calls s.work.Done then.
func (s *Service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	return true
}

// Close ends all sessions, with [ReasonShutdown], and opens no more. It returns when nothing is
// translated for them any more.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, x := range all {
		x.End(ReasonShutdown)
	}
	s.work.Wait()
}
