package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"dragoman/app/fault"
	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

// window is the number of sentences that a session translates at a time.
const window = 4

// schedule is the state of a session's work.
type schedule struct {
	working  bool // its goroutine runs
	paused   bool // the word at the end of the text counts as written
	pause    *time.Timer
	inflight *inflight // the request in translation; nil: none
	drafted  bool      // the previous request was for the sentence that is being written
	alone    bool      // sentences are translated one at a time, to find the one that cannot be translated
	spared   bool      // the previous request was cancelled: this one must not be
	retry    *time.Timer
	backOff  time.Duration // before the next retry
	cutting  func()        // cancels the cutting of a text; nil: none
	uncut    bool          // the previous cutting was ended by an edit: this one must not be
	resting  bool          // a request was refused for some time: until then edits are merged
	edited   time.Time     // time of the first edit without a result; zero: none
}

// firstRetry is the time after which a session tries a failed translation again; it doubles each time, up to lastRetry.
const firstRetry, lastRetry = time.Second, time.Minute

// wake starts the session's goroutine unless it is running. The caller must hold x.mu.
func (x *Session) wake() {
	if x.working || x.resting || x.reason != "" || !x.service.begin() {
		return
	}
	x.working = true
	go func() {
		defer x.service.work.Done()
		x.work()
	}()
}

// work cuts the current text, translates its unknown sentences, and repeats until there is nothing to do. The next round sees the
// edits of the meantime together.
func (x *Session) work() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.inTurn(x.step) {
	}
	x.working = false
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
		case ended: // by the end of the session, or by an edit of the text
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
		break // edits of the meantime are seen after this
	}
	if x.reason != "" {
		return nil, nil
	}
	x.show()
	return x.next(), nil
}

// cut cuts the current text. Meanwhile mu is released: an edit ends the cutting, but not twice in a row, and so does the end of
// the session.
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
	d := &x.document
	d.show(&x.known)
	if x.complete && !x.dirty && !x.done && !slices.ContainsFunc(d.segments, func(g *segment) bool { return !g.settled && !x.refused[g.key] }) {
		x.done = true
		if !x.leavesOut() {
			x.problem = nil // the request that clears it lasts for a moment longer
		}
		d.note()
		x.idle.Reset(min(x.service.cfg.Idle, afterDone))
	}
	d.commit()
}

// afterDone is the maximum time that a session stays after its text is complete and translated, for clients that have to
// reconnect.
const afterDone = 30 * time.Second

// next returns the next request to translate; nil if there is none. The sentence that is being written goes before complete ones,
// because its writer looks at it, but not twice in a row.
func (x *Session) next() *inflight {
	f := &inflight{cut: x.document.cut, edited: x.edited}
	x.edited = time.Time{}
	if x.drafted || !x.addDraft(f) {
		x.addFinal(f)
	}
	if len(f.items) == 0 {
		x.addDraft(f)
	}
	if x.drafted = f.draft; len(f.items) == 0 {
		return nil
	}
	f.open = len(f.items)
	f.Context, f.cancel = context.WithTimeout(context.Background(), x.service.cfg.Timeout)
	return f
}

// addFinal adds complete sentences.
func (x *Session) addFinal(f *inflight) {
	added, most := make(map[string]bool), window
	if x.alone {
		most = 1
	}
	for _, g := range x.document.segments {
		if len(f.items) < most && !g.settled && !x.document.isUnfinished(g) && !x.refused[g.key] && !added[g.key] {
			f.add(g, g.part, g.key)
			added[g.key] = true
		}
	}
}

// addDraft adds the written part of the sentence that is being written, unless that has been translated. It reports whether it
// adds it.
func (x *Session) addDraft(f *inflight) bool {
	d := &x.document
	if len(d.segments) == 0 {
		return false
	}
	g := d.segments[len(d.segments)-1]
	part := g.part
	if written := g.number < len(d.cut.Parts)-1; !x.paused && !written { // white space follows a complete word
		part = part.Beginning(wholeWords(part.Text))
	}
	key := "draft\x00" + keyOf(d.cut, part)
	if !d.isUnfinished(g) || g.settled || !part.Translated || key == g.draft || x.refused[key] {
		return false
	}
	if t, known := x.known.get(key); known {
		d.hypothesize(g.id, key, t)
		x.show()
		return false
	}
	f.add(g, part, key)
	f.draft = true
	return true
}

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
	if f.draft { // it is shown for a moment: the gain of more beams is not worth their time
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

// finish ends a request, nil if there was none yet, and reports whether to stop until the next try.
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

// refuse remembers that a sentence cannot be translated. If the request had several, they are tried one by one to find it.
func (x *Session) refuse(f *inflight) {
	if x.alone = len(f.items) > 1; x.alone {
		return
	}
	if len(x.refused) >= mostRefused {
		clear(x.refused)
	}
	x.refused[f.items[0].key] = true
}

// leavesOut reports whether the text has sentences that cannot be translated.
func (x *Session) leavesOut() bool {
	return slices.ContainsFunc(x.document.segments, func(g *segment) bool { return !g.settled && x.refused[g.key] })
}

// mostRefused is the maximum number of remembered sentences that cannot be translated.
const mostRefused = 256

// tellProblem tells clients why a sentence is not translated; nil: there is no problem.
func (x *Session) tellProblem(problem error) {
	if problem != nil || x.problem != nil {
		x.problem = problem
		x.document.note()
		x.document.commit()
	}
}
