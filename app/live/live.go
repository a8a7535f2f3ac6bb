// Package live translates texts while they are written: captions, chats, text typed into an editor.
//
// A [Session] has a text, which a client changes by [Edit]s, and the translation of each of its sentences; [Session.Wait] tells
// the client the changes. Sessions are callers of package translate like any other: a new sentence is translated there, with the
// same result as in a translation of the whole text, because [translate.Cut] cuts both alike.
//
//	text.go       applies edits to a text
//	document.go   sentences keep their ids from one cut to the next, and get their translations
//	changes.go    the log of changes for clients
//	stable.go     the stable part of the translation of an unfinished sentence
//	session.go    the operations of clients: edits in order, each once
//	work.go       cuts the text again, and translates its unknown sentences
//	progress.go   which of them are next, as a function of plain data
//	inflight.go   the current translation, and the effect of edits on it
//	share.go      owners pay for decoded text, and their sessions take turns
//	live.go       the number and the life of sessions
//
// A session has one request of translate in flight, and cuts its text only when there is none: edits that come faster are merged,
// and the cost of a session is bounded however fast its text is edited. The cost of an owner is bounded, however many sessions it
// has, because its sessions take turns.
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

// Translator is the translation service, such as [translate.Service]. It is safe for concurrent use.
type Translator interface {
	Cut(ctx context.Context, req translate.Request) (translate.Cut, error)
	Stream(ctx context.Context, req translate.Request, yield func(i int, r translate.Result) error) error
}

// Config configures a [Service]. All limits are above 0.
type Config struct {
	MaxSessions int                   // maximum of all sessions; a caller has at most half of the places that others leave, and at least one
	MaxChars    int                   // of a session's text: Unicode code points
	Idle        time.Duration         // time after which a session without edits ends
	Pause       time.Duration         // time after which a word without a space after it counts as written; 0: 300 ms
	Timeout     time.Duration         // time limit of one request of translate; 0: a minute
	Memory      *admission.Memory     // memory of all requests, in which sessions share; nil: no limit
	Log         *slog.Logger          // nil for none
	Registry    prometheus.Registerer // nil for none
}

// Service holds the sessions. It is safe for concurrent use.
type Service struct {
	cfg        Config
	metrics    *metrics
	translator atomic.Pointer[Translator] // nil until Ready

	places *admission.Places // for sessions
	outage *outage.Log       // outages of translations

	mu       sync.Mutex // guards the rest
	sessions map[string]*Session
	turns    map[string]*turns // by owner with sessions
	closed   bool
	work     sync.WaitGroup // goroutines of sessions that run
}

// New returns a service that opens no sessions before [Service.Ready].
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

// Ready sets the translator, from which on sessions can be opened.
func (s *Service) Ready(t Translator) { s.translator.Store(&t) }

// ErrUnknown means that there is no such session, or that it has ended.
var ErrUnknown error = fault.New(fault.UnknownSession, "", "there is no such session: its id is wrong, it is another key's, or it has ended: open another one with the text")

// ErrShutdown means that no more sessions are opened, or that a session has ended with [ReasonShutdown].
var ErrShutdown error = fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment")

// Open opens a session for the texts of an owner. req has the options of the translations: the languages, with one target, the
// model and the search options; it has no records. charge is called with the number of characters of all text before the text is
// decoded for the session; after an error charge is called again later. The error is of [translate.Service.Cut], a
// [*fault.Failure], or of the memory for requests.
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

// Find returns a session. The caller must check that the session belongs to the client: to its owner, or without keys to any
// client that knows its id. The error is [ErrUnknown].
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

// begin counts a session that starts work, unless the service is closed. If it returns true, the session must call s.work.Done.
func (s *Service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	return true
}

// Close ends all sessions, with [ReasonShutdown], and opens no more. It returns when no translation is running for them.
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
