package live

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"dragoman/app/admission"
	"dragoman/app/engine"
	"dragoman/app/failure"
	"dragoman/app/translate"
)

// window is how many sentences a session has translated at a time.
const window = 4

// firstRetry is after which time a session tries again what failed; it doubles each time, up to
// lastRetry.
const firstRetry, lastRetry = time.Second, time.Minute

// wake has the session's goroutine work, which is started where it is not running. x.mu is held.
func (x *Session) wake() {
	if x.working || x.rests || x.reason != "" || !x.service.begin() {
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
	var f *flight
	err := engine.Protect(func() (err error) { // nobody else recovers on this goroutine
		f, err = x.look()
		return err
	})
	if err == nil && f == nil {
		return false
	}
	if err == nil {
		x.flight = f
		x.mu.Unlock()
		err = x.translate(f)
		x.mu.Lock()
	}
	return x.reason == "" && !x.land(err)
}

// look cuts the text if it has changed, shows what is known of it, and returns what to have translated
// now; nil where there is nothing.
func (x *Session) look() (*flight, error) {
	if x.dirty {
		req := x.req
		req.Records = []translate.Record{{Text: x.text.string}}
		cut, err := x.translator.Cut(context.Background(), req)
		if err != nil {
			return nil, err
		}
		x.dirty, x.shown = false, x.taken
		x.match(cut)
		x.announce()
		if refused, told := errors.AsType[*translate.Error](x.problem); cut.Unsupported != nil {
			x.say(cut.Unsupported)
		} else if told && refused.Code == translate.CodeUnsupportedSource {
			x.say(nil)
		}
	}
	x.show()
	return x.next(), nil
}

// flight is a request of translate for sentences of a session.
type flight struct {
	context.Context
	cancel context.CancelFunc
	cut    translate.Cut
	list   []passenger
	parts  []translate.Part // of them
	open   int              // passengers that have not arrived
	edited time.Time        // when the first edit came that is in it; zero: none
	draft  bool             // it is of the sentence that is being written
	paid   bool             // for its sentences
	// dropped says that an edit has made it useless.
	dropped bool
}

// passenger is a sentence on its way.
type passenger struct {
	segment    int64 // its id
	key        string
	start, end int  // where it is in the text, in characters
	spoiled    bool // an edit has changed it since
	arrived    bool
}

// next is what to have translated now; nil where there is nothing. The sentence that is being written
// comes before those that are at their end, for that is what its writer looks at, but not twice in a row.
func (x *Session) next() *flight {
	f := &flight{cut: x.cut, edited: x.edited}
	x.edited = time.Time{}
	if x.drafted || !f.addDraft(x) {
		f.addFinal(x)
	}
	if len(f.list) == 0 {
		f.addDraft(x)
	}
	if x.drafted = f.draft; len(f.list) == 0 {
		return nil
	}
	f.open = len(f.list)
	f.Context, f.cancel = context.WithTimeout(context.Background(), x.service.cfg.Timeout)
	return f
}

// addFinal adds sentences that are at their end.
func (f *flight) addFinal(x *Session) {
	seen, most := make(map[string]bool), window
	if x.alone {
		most = 1
	}
	for _, g := range x.segments {
		if len(f.list) < most && !g.settled && !x.unfinished(g) && !x.refused[g.key] && !seen[g.key] {
			f.add(g, g.part, g.key)
			seen[g.key] = true
		}
	}
}

// addDraft adds what is written of the sentence that is being written, unless that has been translated.
func (f *flight) addDraft(x *Session) bool {
	if len(x.segments) == 0 {
		return false
	}
	g := x.segments[len(x.segments)-1]
	part := g.part
	if written := g.number < len(f.cut.Parts)-1; !x.paused && !written { // behind a word there is white space
		part = part.Beginning(wholeWords(part.Text))
	}
	key := "draft\x00" + keyOf(f.cut, part)
	if !x.unfinished(g) || g.settled || !part.Translated || key == g.draft || x.refused[key] {
		return false
	}
	if t, known := x.known.get(key); known {
		x.hypothesize(g.id, key, t)
		x.show()
		return false
	}
	f.add(g, part, key)
	f.draft = true
	return true
}

// add adds a sentence, or the beginning of one.
func (f *flight) add(g *segment, part translate.Part, key string) {
	f.list = append(f.list, passenger{segment: g.id, key: key, start: g.start, end: g.start + g.length})
	f.parts = append(f.parts, part)
}

// edit moves the sentences as edits move them that were applied, and says whether none of those that have
// not arrived is of use any more. A sentence that has grown at its end is: it shows what the next one will
// begin with.
func (f *flight) edit(list []Edit) (useless bool) {
	for _, e := range list {
		if e.From == End {
			continue
		}
		added := utf8.RuneCountInString(e.Text)
		for i := range f.list {
			p := &f.list[i]
			switch {
			case e.From >= p.end:
			case e.To <= p.start:
				p.start, p.end = p.start+added-(e.To-e.From), p.end+added-(e.To-e.From)
			default:
				p.spoiled = true
				p.end = max(p.end, e.To) + added - (e.To - e.From)
			}
		}
	}
	for _, p := range f.list {
		if !p.arrived && !p.spoiled {
			return false
		}
	}
	return true
}

// translate has the sentences of a request translated, and takes each as it comes.
func (x *Session) translate(f *flight) error {
	defer f.cancel()
	if err := x.pay(f); err != nil {
		return err
	}
	ctx := context.Context(f)
	if memory := x.service.cfg.Memory; memory != nil {
		lease := memory.Lease(x.owner)
		defer lease.Close()
		ctx = admission.With(ctx, lease)
	}
	req := f.cut.Of(x.req, f.parts...)
	if f.draft { // it is shown for a moment: what more beams find is not worth their time
		req.Options.Beams = 1
	}
	return engine.Protect(func() error {
		return x.translator.Stream(ctx, req, func(i int, r translate.Result) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.arrive(f, &f.list[i], translation{r.Text, r.Flags})
			return nil
		})
	})
}

// arrive takes the translation of a sentence.
func (x *Session) arrive(f *flight, p *passenger, t translation) {
	p.arrived = true
	x.known.put(p.key, t)
	kind := finalSentences
	if f.draft {
		kind = draftSentences
		x.hypothesize(p.segment, p.key, t)
	}
	x.service.metrics.translated.Inc(kind)
	x.show()
	if f.open--; f.open == 0 && !f.edited.IsZero() {
		x.service.metrics.latency.Observe(time.Since(f.edited).Seconds())
	}
}

// land ends a request, and says whether to stop until it is time to try again.
func (x *Session) land(err error) (stop bool) {
	f := x.flight
	x.flight = nil
	if f != nil && f.open > 0 && x.edited.IsZero() {
		x.edited = f.edited
	}
	if err != nil && f != nil {
		x.refund(f)
	}
	var (
		refused *translate.Error
		later   interface{ RetryAfter() int } // seconds
	)
	switch {
	case err == nil:
		x.service.outage.Note(nil)
		x.spared, x.alone, x.backoff = false, false, firstRetry
		x.retry.Stop()
		if !slices.ContainsFunc(x.segments, func(g *segment) bool { return !g.settled && x.refused[g.key] }) {
			x.say(nil)
		}
	case f != nil && f.dropped:
	case f != nil && (errors.As(err, &refused) || failure.Explain(err, failure.Request{}).Kind == failure.TooManyCharacters):
		x.refuse(f)
		x.say(err)
	case errors.As(err, &later):
		x.say(err)
		x.rests = true
		x.retry.Reset(time.Duration(later.RetryAfter()) * time.Second)
		return true
	default:
		x.service.outage.Note(err, "session", x.id)
		x.say(err)
		x.retry.Reset(x.backoff)
		x.backoff = min(2*x.backoff, lastRetry)
		return true
	}
	return false
}

// refuse remembers that a sentence cannot be translated. Where several were asked for, it is not known
// which: they are tried one by one.
func (x *Session) refuse(f *flight) {
	if x.alone = len(f.list) > 1; x.alone {
		return
	}
	if len(x.refused) >= mostRefused {
		clear(x.refused)
	}
	x.refused[f.list[0].key] = true
}

// mostRefused is how many sentences are remembered that cannot be translated.
const mostRefused = 256

// say tells clients why something is not translated; nil: all is well.
func (x *Session) say(problem error) {
	if problem == nil && x.problem == nil {
		return
	}
	x.problem = problem
	x.revision++
	x.troubled = x.revision
	x.announce()
}
