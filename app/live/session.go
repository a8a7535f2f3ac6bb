package live

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"sync"
	"time"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/guard/admission/cost"
	"dragoman/app/translate"
	"dragoman/app/wait"
)

// Reason is why a session has ended; "" while it has not.
type Reason string

// The reasons.
const (
	ReasonDeleted  Reason = "deleted"  // by its client
	ReasonDone     Reason = "done"     // its text is complete and translated
	ReasonIdle     Reason = "idle"     // nobody edited it
	ReasonShutdown Reason = "shutdown" // of the service: open another one with the text
)

// Session is a text that changes and its translation. It is safe for concurrent use.
//
// It has no goroutine while it has nothing to do: see [Session.work].
type Session struct {
	service    *Service
	translator Translator
	id, owner  string
	req        translate.Request // how it is translated
	turns      *turns
	over       chan struct{} // closed when it has ended
	idle       *time.Timer

	mu     sync.Mutex // guards the rest
	lease  *admission.Lease
	leased int // bytes
	reason Reason
	onEnd  func() // nil: nobody is told

	text     text  // after all edits
	taken    int64 // the number of the last edits
	complete bool  // no more edits come
	dirty    bool  // the text has changed since it was cut
	shown    int64 // the number of the last edits when it was
	document document
	known    memo            // translations by key
	refused  map[string]bool // keys of sentences that cannot be translated
	problem  error           // why something is not translated now
	done     bool            // all was complete and translated

	schedule
	balance balance
}

// newSession makes a session with an empty text, which the service does not know yet.
func newSession(s *Service, t Translator, owner string, req translate.Request, cut translate.Cut, charge func(characters int) error) *Session {
	x := &Session{
		service: s, translator: t, id: rand.Text(), owner: owner, req: req, document: newDocument(cut),
		over: make(chan struct{}), refused: make(map[string]bool), balance: balance{charge: charge},
	}
	if s.cfg.Memory != nil {
		x.lease = s.cfg.Memory.Lease(owner)
	}
	x.idle = time.AfterFunc(math.MaxInt64, x.onIdle)
	x.pause = time.AfterFunc(math.MaxInt64, x.onPause)
	x.retry = time.AfterFunc(math.MaxInt64, x.onRetry)
	x.backOff = firstRetry
	return x
}

// ID is the session's name, which nobody can guess.
func (x *Session) ID() string { return x.id }

// Ended says whether the session has ended.
func (x *Session) Ended() bool { return wait.IsClosed(x.over) }

// OnEnd has f called once when the session ends, or now where it has ended. f does not use the session.
func (x *Session) OnEnd(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reason != "" {
		f()
		return
	}
	x.onEnd = f
}

// Owner is whose session it is.
func (x *Session) Owner() string { return x.owner }

// Edits are edits that are applied together or not at all.
type Edits struct {
	Number int64 // 1 for the first of a session, and one more each time
	List   []Edit
	// Complete says that the text is as it is to be after them: no others follow.
	Complete bool
	// Settle says that the last sentence is to be translated as it stands, as if it were at its end, until
	// the next edits: its writer pauses.
	Settle bool
}

// GapError means that edits are missing before those that came.
type GapError struct{ Expected int64 }

func (e *GapError) Error() string {
	return fmt.Sprintf("the next edits are number %d: send them first", e.Expected)
}

// Explain says what is told to the sender.
func (e *GapError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.EditGap, "n", "%s", e)
}

// ErrComplete means that a session takes no more edits.
var ErrComplete error = fault.New(fault.SessionComplete, "", "the session's text is complete: open another session")

// Edit applies edits and returns the number of the last ones that the session has. Those that it has
// had before are not applied again, and are no error. admit is called before others are applied, and its error is
// returned. The other errors are [ErrUnknown] where the
// session has ended, [ErrComplete], a [*GapError], an [*EditError], and that of the memory for
// requests. With an error, nothing has changed.
func (x *Session) Edit(e Edits, admit func() error) (taken int64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reason != "" {
		return x.taken, ErrUnknown
	}
	x.idle.Reset(x.service.cfg.Idle)
	switch {
	case e.Number <= x.taken && e.Number > 0:
		return x.taken, nil
	case e.Number != x.taken+1:
		return x.taken, &GapError{Expected: x.taken + 1}
	case x.complete:
		return x.taken, ErrComplete
	}
	after, err := x.text.apply(e.List, x.service.cfg.MaxChars)
	if err != nil {
		return x.taken, err
	}
	if err := x.reserve(after); err != nil {
		return x.taken, err
	}
	if err := admit(); err != nil {
		return x.taken, err
	}
	characters := 0
	for _, edit := range e.List {
		characters += translate.Characters(edit.Text)
	}
	x.text, x.taken, x.complete = after, e.Number, e.Complete
	x.document.goesOn = !e.Complete && !e.Settle
	x.service.metrics.edits.Add(float64(len(e.List)))
	x.service.metrics.characters.Add(float64(characters))
	x.onEdit(e.List)
	return x.taken, nil
}

// reserve has the session's lease be enough for a text.
func (x *Session) reserve(t text) error {
	bytes := cost.Session + cost.SessionByte*len(t.string) + cost.SessionSign*t.signs
	if more := bytes - x.leased; x.lease != nil && more > 0 {
		if err := x.lease.Take(int64(more)); err != nil {
			return err
		}
	}
	x.leased = max(x.leased, bytes)
	x.known.most = x.leased / memoShare
	return nil
}

// onEdit has the session's goroutine look at the text. x.mu is held.
func (x *Session) onEdit(list []Edit) {
	x.dirty, x.paused = true, !x.document.goesOn
	if x.edited.IsZero() {
		x.edited = time.Now()
	}
	if x.paused {
		x.pause.Stop()
	} else {
		x.pause.Reset(x.service.cfg.Pause)
	}
	if x.cutting != nil && !x.uncut {
		x.uncut = true
		x.cutting()
	}
	if x.inflight != nil && x.inflight.edit(list) && !x.spared {
		x.spared, x.inflight.dropped = true, true
		x.inflight.cancel()
		x.service.metrics.cancelled.Inc()
	}
	x.wake()
}

// onIdle ends a session that nobody edits any more.
func (x *Session) onIdle() {
	x.mu.Lock()
	reason := ReasonIdle
	if x.done {
		reason = ReasonDone
	}
	x.mu.Unlock()
	x.End(reason)
}

// onPause has the word at the end of the text translated, too.
func (x *Session) onPause() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.paused = true
	x.wake()
}

// onRetry has what failed tried again.
func (x *Session) onRetry() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.resting = false
	x.wake()
}

// End ends the session, and what is translated for it. Ending it again does nothing.
func (x *Session) End(reason Reason) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reason != "" {
		return
	}
	x.reason = reason
	close(x.over)
	if x.cutting != nil {
		x.cutting()
	}
	if x.inflight != nil {
		x.inflight.cancel()
	}
	x.stop()
	x.document.announce()
	x.service.forget(x)
	x.service.metrics.ended.Inc(string(reason))
	if x.onEnd != nil {
		x.onEnd()
	}
}

// stop gives back what the session holds.
func (x *Session) stop() {
	x.idle.Stop()
	x.pause.Stop()
	x.retry.Stop()
	if x.lease != nil {
		x.lease.Close()
	}
}

// Wait returns what is new for a client that has seen everything up to a revision, and of edits up to a
// number what they show; 0 for one that knows nothing. It waits until there is something, or the
// session has ended; the error is that of ctx.
func (x *Session) Wait(ctx context.Context, seen, shown int64) (Update, error) {
	for {
		x.mu.Lock()
		if seen > x.document.revision { // of another session
			seen = 0
		}
		if x.document.revision > seen || x.shown > shown || x.reason != "" {
			defer x.mu.Unlock()
			u := x.document.update(seen)
			u.Taken, u.Shown, u.Problem, u.Done, u.Ended = x.taken, x.shown, x.problem, x.done, x.reason
			return u, nil
		}
		announced := x.document.announced
		x.mu.Unlock()
		select {
		case <-announced:
		case <-ctx.Done():
			return Update{}, context.Cause(ctx)
		}
	}
}
