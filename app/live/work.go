package live

import (
	"context"
	"errors"
	"time"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

// schedule is the state of a session's work.
type schedule struct {
	working  bool // its goroutine runs
	pause    *time.Timer
	inflight *inflight // the request in translation; nil: none
	spared   bool      // the previous request was cancelled, so this one must not be cancelled
	retry    *time.Timer
	backOff  time.Duration // pause before the next retry
	cutting  func()        // cancels the cutting of a text; nil: none
	uncut    bool          // an edit ended the previous cutting, so no edit may end this one
	resting  bool          // a request was refused for some time: until then edits are merged
}

// firstRetry is the time after which a session tries a failed translation again; this time doubles with each failure, up to
// lastRetry.
const firstRetry, lastRetry = time.Second, time.Minute

// wake starts the session's goroutine unless it is running. The goroutine cuts the current text, translates its unknown
// sentences, and repeats until there is nothing to do. The next round sees all edits of the meantime together. The caller must
// hold x.mu.
func (x *Session) wake() {
	if x.working || x.resting || x.reason != "" || !x.service.begin() {
		return
	}
	x.working = true
	go func() {
		defer x.service.work.Done()
		x.mu.Lock()
		defer x.mu.Unlock()
		for x.inTurn(x.step) {
		}
		x.working = false
	}()
}

// step is one turn of the session. It reports whether there is more to do.
func (x *Session) step() (more bool) {
	var f *inflight
	err := fault.Protect(func() (err error) { // this goroutine has no other recovery
		f, err = x.look()
		return err
	})
	if err == nil && f == nil {
		return x.dirty
	}
	if err == nil {
		x.inflight = f
		x.mu.Unlock()
		err = x.translate(f)
		x.mu.Lock()
	}
	x.inflight = nil
	return x.reason == "" && !x.finish(f, err)
}

// look cuts the text if it has changed, shows its known translations, and returns the next request; nil if there is none.
func (x *Session) look() (*inflight, error) {
	for x.dirty && x.reason == "" {
		taken := x.taken
		cut, ended, err := x.cut()
		switch {
		case ended: // the cutting was ended by the end of the session, or by an edit of the text
			continue
		case err != nil:
			return nil, err
		}
		x.dirty, x.shown, x.uncut = x.taken > taken, taken, false
		x.document.match(cut)
		x.document.announce()
		if refused, told := errors.AsType[*translate.Error](x.problem); cut.Unsupported != nil {
			x.tellProblem(cut.Unsupported)
		} else if told && refused.Code == translate.CodeUnsupportedSource {
			x.tellProblem(nil)
		}
		break // edits of the meantime are handled after this
	}
	if x.reason != "" {
		return nil, nil
	}
	x.show()
	f := x.next()
	if f != nil {
		f.Context, f.cancel = context.WithTimeout(context.Background(), x.service.cfg.Timeout)
	}
	return f, nil
}

// cut cuts the current text. Meanwhile mu is released: an edit ends the cutting, but not twice in a row; the end of the session
// always does.
func (x *Session) cut() (cut translate.Cut, ended bool, err error) {
	req := x.req
	req.Records = []translate.Record{{Text: x.text.string}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.cutting = cancel
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		x.cutting = nil
	}()
	cut, err = x.translator.Cut(ctx, req)
	return cut, ctx.Err() != nil, err
}

// show tells clients the known translations of the text.
func (x *Session) show() {
	if x.progress.show() {
		x.idle.Reset(min(x.service.cfg.Idle, afterDone))
	}
}

// afterDone is the maximum time that a session stays after its text is complete and translated, for clients that have to
// reconnect.
const afterDone = 30 * time.Second

// translate translates the sentences of a request, and stores each result as it arrives.
func (x *Session) translate(f *inflight) error {
	defer f.cancel()
	if err := x.balance.pay(f); err != nil {
		return err
	}
	ctx := context.Context(f)
	if memory := x.service.cfg.Memory; memory != nil {
		lease := memory.Lease(x.owner)
		defer lease.Close()
		ctx = admission.With(ctx, lease)
	}
	parts := make([]translate.Part, len(f.items))
	for i := range parts {
		parts[i] = f.items[i].part
	}
	req := f.cut.Of(x.req, parts...)
	if f.draft { // a draft is shown for a moment, so the gain of more beams is not worth their time
		req.Options.Beams = 1
	}
	return fault.Protect(func() error {
		return x.translator.Stream(ctx, req, func(i int, r translate.Result) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.arrive(f, &f.items[i], translation{r.Text, r.Flags})
			return nil
		})
	})
}

// arrive stores the translation of a sentence.
func (x *Session) arrive(f *inflight, i *item, t translation) {
	i.arrived = true
	x.known.put(i.key, t)
	kind := finalSentences
	if f.draft {
		kind = draftSentences
		x.document.hypothesize(i.segment, i.key, t)
	}
	x.service.metrics.translated.Inc(kind)
	x.show()
	if f.open--; f.open == 0 && !f.edited.IsZero() {
		x.service.metrics.latency.Observe(time.Since(f.edited).Seconds())
	}
}

// finish ends a request, nil if there was none yet, and reports whether the session must stop working until the next try.
func (x *Session) finish(f *inflight, err error) (stop bool) {
	if f != nil && f.open > 0 && x.edited.IsZero() {
		x.edited = f.edited
	}
	if err != nil && f != nil {
		x.balance.refund(f)
	}
	var (
		refused *translate.Error
		later   interface{ RetryAfter() int } // in seconds
	)
	switch {
	case err == nil:
		x.service.outage.Note(nil)
		x.spared, x.alone, x.backOff = false, false, firstRetry
		x.retry.Stop()
		if !x.leavesOut() {
			x.tellProblem(nil)
		}
	case f != nil && f.dropped:
	case f != nil && (errors.As(err, &refused) || fault.Explain(err, fault.Situation{}).Kind == fault.TooManyCharacters):
		x.refuse(f)
		x.tellProblem(err)
	case errors.As(err, &later):
		x.tellProblem(err)
		x.resting = true
		x.retry.Reset(time.Duration(later.RetryAfter()) * time.Second)
		return true
	default:
		x.service.outage.Note(err, "session", x.id)
		x.tellProblem(err)
		x.retry.Reset(x.backOff)
		x.backOff = min(2*x.backOff, lastRetry)
		return true
	}
	return false
}
