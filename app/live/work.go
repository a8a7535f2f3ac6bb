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

// window is how many sentences a session has translated at a time.
const window = 4

// schedule is when what is done for a session.
type schedule struct {
	working  bool // its goroutine runs
	paused   bool // the word at the end of the text counts as written
	pause    *time.Timer
	inflight *inflight // the request that is being translated; nil: there is none
	drafted  bool      // the request before was of the sentence that is being written
	alone    bool      // sentences are translated one at a time, to find the one that cannot be
	spared   bool      // the request before was cancelled: this one is not
	retry    *time.Timer
	backOff  time.Duration // before the next retry
	cutting  func()        // ends the cutting of a text; nil: none is being cut
	uncut    bool          // the cutting before was ended by an edit: this one is not
	resting  bool          // it was told to come back later: until then edits are merged
	edited   time.Time     // when the first edit came that nothing has come of yet; zero: none
}

// firstRetry is after which time a session tries again what failed; it doubles each time, up to
// lastRetry.
const firstRetry, lastRetry = time.Second, time.Minute

// wake has the session's goroutine work, which is started where it is not running. x.mu is held.
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

// work cuts the text as it is now, has translated what is not known of it, and begins again, until
// there is nothing to do. Edits that come in the meantime are so many that it has not seen yet.
func (x *Session) work() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.inTurn(x.step) {
	}
	x.working = false
}

// step is one turn of the session's, and says whether there is more to do.
func (x *Session) step() (more bool) {
	var f *inflight
	err := fault.Protect(func() (err error) { // nobody else recovers on this goroutine
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

// look cuts the text if it has changed, shows what is known of it, and returns what to have translated
// now; nil where there is nothing.
func (x *Session) look() (*inflight, error) {
	for x.dirty && x.reason == "" {
		taken := x.taken
		cut, ended, err := x.cut()
		switch {
		case ended: // with the session, or the text is another
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
		break // what was edited meanwhile is seen after this
	}
	if x.reason != "" {
		return nil, nil
	}
	x.show()
	return x.next(), nil
}

// cut cuts the text as it is now. Others may edit it meanwhile, which ends the cutting, but not twice in a row, and end the
// session, which does. mu is released meanwhile.
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

// show tells clients what is known of the text.
func (x *Session) show() {
	d := &x.document
	d.show(&x.known)
	if x.complete && !x.dirty && !x.done && !slices.ContainsFunc(d.segments, func(g *segment) bool { return !g.settled && !x.refused[g.key] }) {
		x.done = true
		if !x.leavesOut() {
			x.problem = nil // the request, whose end tells so, goes on for a moment
		}
		d.note()
		x.idle.Reset(min(x.service.cfg.Idle, afterDone))
	}
	d.commit()
}

// afterDone is how long a session is kept at most whose text is complete and translated, for clients that
// have to connect again.
const afterDone = 30 * time.Second

// next is what to have translated now; nil where there is nothing. The sentence that is being written
// comes before those that are at their end, for that is what its writer looks at, but not twice in a row.
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

// addFinal adds sentences that are at their end.
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

// addDraft adds what is written of the sentence that is being written, unless that has been translated.
func (x *Session) addDraft(f *inflight) bool {
	d := &x.document
	if len(d.segments) == 0 {
		return false
	}
	g := d.segments[len(d.segments)-1]
	part := g.part
	if written := g.number < len(d.cut.Parts)-1; !x.paused && !written { // behind a word there is white space
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

// translate has the sentences of a request translated, and takes each as it comes.
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
	if f.draft { // it is shown for a moment: what more beams find is not worth their time
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

// arrive takes the translation of a sentence.
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

// finish ends a request, nil where there was none yet, and says whether to stop until it is time to try again.
func (x *Session) finish(f *inflight, err error) (stop bool) {
	if f != nil && f.open > 0 && x.edited.IsZero() {
		x.edited = f.edited
	}
	if err != nil && f != nil {
		x.balance.refund(f)
	}
	var (
		refused *translate.Error
		later   interface{ RetryAfter() int } // seconds
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

// refuse remembers that a sentence cannot be translated. Where several were asked for, it is not known
// which: they are tried one by one.
func (x *Session) refuse(f *inflight) {
	if x.alone = len(f.items) > 1; x.alone {
		return
	}
	if len(x.refused) >= mostRefused {
		clear(x.refused)
	}
	x.refused[f.items[0].key] = true
}

// leavesOut says whether there are sentences in the text that cannot be translated.
func (x *Session) leavesOut() bool {
	return slices.ContainsFunc(x.document.segments, func(g *segment) bool { return !g.settled && x.refused[g.key] })
}

// mostRefused is how many sentences are remembered that cannot be translated.
const mostRefused = 256

// tellProblem tells clients why something is not translated; nil: all is well.
func (x *Session) tellProblem(problem error) {
	if problem != nil || x.problem != nil {
		x.problem = problem
		x.document.note()
		x.document.commit()
	}
}
