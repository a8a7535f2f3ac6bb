package live

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"sync"
	"time"

	"dragoman/app/fault"
	"dragoman/app/translate"
	"dragoman/app/wait"
)

// Reason is the reason why a session has ended; "" while it has not.
type Reason string

// Reasons of the end of a session.
const (
	ReasonDeleted  Reason = "deleted"  // by its client
	ReasonDone     Reason = "done"     // its text is complete and translated
	ReasonIdle     Reason = "idle"     // the session was not edited
	ReasonShutdown Reason = "shutdown" // the service shut down: open another session with the text
)

// Session is a changing text and its translation. It is safe for concurrent use.
//
// A session has a goroutine only while there is work: see wake.
type Session struct {
	service    *Service
	translator Translator
	id, owner  string
	req        translate.Request // options of its translations
	turns      *turns
	over       chan struct{} // closed at its end
	idle       *time.Timer

	mu     sync.Mutex // guards the rest
	memory memory
	reason Reason
	onEnd  func() // nil: none

	text  text  // after all edits
	taken int64 // number of the last edits
	shown int64 // number of the last edits at the last cut

	progress
	schedule
	balance balance
}

// newSession returns a session with an empty text, which the service does not know yet.
func newSession(s *Service, t Translator, owner string, req translate.Request, cut translate.Cut, charge func(characters int) error) *Session {
	x := &Session{
		service: s, translator: t, id: rand.Text(), owner: owner, req: req, over: make(chan struct{}),
		progress: progress{document: newDocument(cut), refused: make(map[string]bool)}, balance: balance{charge: charge},
	}
	if s.cfg.Memory != nil {
		x.memory.lease = s.cfg.Memory.Lease(owner)
	}
	x.idle = time.AfterFunc(math.MaxInt64, x.onIdle)
	x.pause = time.AfterFunc(math.MaxInt64, func() { x.again(&x.paused, true) })
	x.retry = time.AfterFunc(math.MaxInt64, func() { x.again(&x.resting, false) })
	x.backOff = firstRetry
	return x
}

// ID returns the session's id, which cannot be guessed.
func (x *Session) ID() string { return x.id }

// Ended reports whether the session has ended.
func (x *Session) Ended() bool { return wait.IsClosed(x.over) }

// OnEnd registers f to be called once when the session ends, or calls it now if it has ended. f must not use the session.
func (x *Session) OnEnd(f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reason != "" {
		f()
		return
	}
	x.onEnd = f
}

// Owner returns the owner of the session.
func (x *Session) Owner() string { return x.owner }

// Edits are edits that are applied together or not at all.
type Edits struct {
	Number int64 // 1 for the first ones of a session, and one more each time
	List   []Edit
	// Complete is set if the text is complete after these edits: no others follow.
	Complete bool
	// Settle is set if the last sentence is to be translated as it stands, as if it were complete, until the next edits, because
	// its writer pauses.
	Settle bool
}

// GapError means that edits are missing before the received ones.
type GapError struct{ Expected int64 }

func (e *GapError) Error() string {
	return fmt.Sprintf("the next edits are number %d: send them first", e.Expected)
}

// Explain returns the failure for the sender of the edits.
func (e *GapError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.EditGap, "n", "%s", e)
}

// ErrComplete means that a session takes no more edits.
var ErrComplete error = fault.New(fault.SessionComplete, "", "the session's text is complete: open another session")

// Edit applies edits and returns the number of the last edits of the session. Edits with earlier numbers are not applied again,
// and are no error. admit is called before edits are applied, and its error is returned. The other errors are [ErrUnknown] if the
// session has ended, [ErrComplete], a [*GapError], an [*EditError], and the error of the memory for requests. After an error,
// nothing has changed.
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

// reserve extends the session's memory for a text, and with it the limit of the memo.
func (x *Session) reserve(t text) error {
	err := x.memory.reserve(t)
	x.known.most = x.memory.bytes / memoShare
	return err
}

// onEdit wakes the session's goroutine for the changed text. The caller must hold x.mu.
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

// onIdle ends a session without edits.
func (x *Session) onIdle() {
	x.mu.Lock()
	reason := ReasonIdle
	if x.done {
		reason = ReasonDone
	}
	x.mu.Unlock()
	x.End(reason)
}

// again sets a condition that the session's goroutine waits for, and wakes it: the word at the end of the text is released for
// translation, or a failed translation is tried again.
func (x *Session) again(condition *bool, to bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	*condition = to
	x.wake()
}

// End ends the session and its translations. A second call does nothing.
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

// stop stops the session's timers and closes its lease.
func (x *Session) stop() {
	x.idle.Stop()
	x.pause.Stop()
	x.retry.Stop()
	if x.memory.lease != nil {
		x.memory.lease.Close()
	}
}

// Wait returns the changes for a client that has seen everything up to a revision, and the segments of edits up to a number; 0
// for a client that has seen nothing. It waits until there is a change, or the session has ended; the error is ctx's.
func (x *Session) Wait(ctx context.Context, seen, shown int64) (Update, error) {
	for {
		x.mu.Lock()
		if seen > x.document.revision { // the revision is one of another session
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
