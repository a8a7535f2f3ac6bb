package translate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"dragoman/app/budget"
	"dragoman/app/engine"
	"dragoman/app/fault"
	"dragoman/app/measure"
	"dragoman/app/text/language"
	"dragoman/app/text/markup"
	"dragoman/app/text/segment"
	"dragoman/app/wait"
	"dragoman/model/search"
)

// count settles what was translated before, and counts the source tokens of all other
// sentences. They are encoded again when it is their turn: what has been encoded takes
// more memory than its text, and counting takes little time beside decoding.
func (w *work) count(ctx context.Context, sentences []*sentence) error {
	start, tokens := time.Now(), 0
	w.open = len(sentences)
	var known []remembered
	err := w.inTurn(ctx, func(ctx context.Context) error {
		for i, x := range sentences {
			sentences[i] = nil
			if err := budget.Work(ctx, len(x.Text)); err != nil {
				return err
			}
			if o, ok := w.recall(x); ok {
				known = append(known, remembered{x, o})
				continue
			}
			ids, err := x.encode(x.Text)
			if err != nil {
				return err
			}
			if tokens += len(ids); tokens > w.service.cfg.MaxTokens {
				return invalid(CodeTooManyTokens, "records", "%d records × %d languages have more than %d tokens: send several requests",
					len(w.req.Records), len(w.req.To), w.service.cfg.MaxTokens)
			}
			x.step.expect(len(ids))
			x.step.add(x)
		}
		return nil
	})
	if err != nil {
		return err
	}
	measure.Span(ctx, stageTokenize, start, time.Now())
	for _, k := range known { // what becomes of them may wait for somebody who reads it, so not in turn
		if err := w.settle(k.sentence, k.outcome); err != nil {
			return err
		}
	}
	return nil
}

// remembered is a sentence that was translated before.
type remembered struct {
	sentence *sentence
	outcome  outcome
}

// decode has everything decoded that is to do. Where there are several models, each has a
// stream until the last sentence has its outcome: what one makes of a sentence goes on to
// the next at once. The streams run at the same time; what they ask for and answer is handled here,
// on one goroutine.
func (w *work) decode(ctx context.Context) (err error) {
	w.decoding = true
	if len(w.streams) == 1 {
		for _, s := range w.streams {
			return s.run(ctx, func(do func() error) error { return do() })
		}
	}
	calls := make(chan func())
	inTurn := func(do func() error) (err error) {
		done := make(chan struct{})
		calls <- func() {
			defer close(done)
			err = fault.Protect(do) // who recovers from panics for the caller is not on the stream's goroutine
		}
		<-done
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range w.streams {
		s.more = wait.NewSignal()
	}
	for _, s := range w.streams {
		if s.tokens > 0 {
			group.Go(func() error {
				return fault.Protect(func() error { return s.run(ctx, inTurn) })
			})
		}
	}
	go func() {
		err = group.Wait()
		close(calls)
	}()
	for call := range calls {
		call()
	}
	return err
}

// longSentence are the tokens that a sentence has at most that is translated in one
// piece. The models were trained on sentences; of what is much longer they leave out
// parts.
const longSentence = 160

// job makes the job that decodes a sentence in its present strategy. Without ok there is
// none: the sentence has its outcome, or is to do in another strategy.
func (w *work) job(x *sentence) (job engine.Job, ok bool, err error) {
	m := x.step.model
	text, ok, err := w.write(x)
	if err != nil {
		return job, false, err
	}
	if !ok {
		return job, false, w.proceed(x, MarkupLost)
	}
	ids, err := x.encode(text)
	switch {
	case err != nil:
		return job, false, err
	case len(ids) <= x.step.framing: // letters that the tokenizer drops
		return job, false, w.settle(x, outcome{text: x.Original()})
	case len(ids) > m.Spec.MaxPositions || len(ids) > longSentence && !w.req.Whole:
		if split, err := w.splitFiner(x); split || err != nil {
			return job, false, err
		}
	}
	if len(ids) > m.Spec.MaxPositions { // one character with thousands of marks stays as it is
		return job, false, w.settle(x, outcome{text: x.Original(), flags: SourceEcho})
	}
	if x.source = ids; x.retries == unmeasured {
		x.retries = x.retryBudget()
	}
	job = engine.Job{Source: ids, Prefix: x.step.prefix, Search: w.searchFor(x)}
	if x.strategy.places() {
		job.Phrases = x.phrases
	}
	return job, true, nil
}

// write is the text of a sentence as its present strategy wants it; false where that cannot be written.
func (w *work) write(x *sentence) (text string, ok bool, err error) {
	x.form = x.withTerms()
	text = x.form.Text
	if x.strategy.masks() {
		styles := x.step.model.styles
		if x.strategy.markers >= len(styles) {
			return "", false, nil
		}
		if x.masked, ok, err = x.form.Mask(w.ctx, styles[x.strategy.markers]); !ok || err != nil {
			return "", false, err
		}
		text = x.masked.Text
	}
	if x.strategy.small {
		text = strings.ToLower(text)
	}
	return text, true, nil
}

func (x *sentence) encode(text string) ([]int64, error) {
	defer func(start time.Time) { x.step.spent.Tokenized += time.Since(start) }(time.Now())
	ids, err := x.step.model.Tokenizer.Encode(x.step.from, x.step.to, text)
	if err != nil {
		return nil, fmt.Errorf("encode a sentence of %d bytes: %w", len(text), err)
	}
	return ids, nil
}

// searchFor are the settings that a sentence is decoded with in its present strategy.
func (w *work) searchFor(x *sentence) search.Options {
	o := x.strategy.apply(x.step.search)
	// Whoever asks for more tokens than the service gives by itself gets as many as a sentence can be
	// worth: a few letters that lead astray would else cost a hundred times what they are charged for.
	if own := x.step.model.Search.MaxLength; x.strategy.length == 0 && o.MaxLength > own {
		o.MaxLength = min(o.MaxLength, max(own, x.longest()))
	}
	if x.strategy.wide {
		o.Beams = w.req.Alternatives
	}
	if w.alternative(x.step) && w.req.Alternatives > 1 && o.Beams >= w.req.Alternatives {
		o.Hypotheses = o.Beams // all that there are: some will have the same text, or a flaw
	}
	if x.strategy.places() {
		o.Beams = max(o.Beams, min(termBeams, x.step.model.Limits.Beams))
	}
	return o
}

// receive takes what the engine decoded for a sentence.
func (w *work) receive(x *sentence, r engine.Result) error {
	x.queued = max(x.queued, r.Queued)
	x.computed += r.Computed
	x.target = len(r.Tokens)
	start := time.Now()
	detokenized := func() { x.step.spent.Detokenized += time.Since(start) }
	switch {
	case x.strategy.wide:
		o := *x.best
		o.queued, o.computed = x.queued, x.computed
		if err := w.collect(x, &o, append([]search.Result{r.Result}, r.Others...)); err != nil {
			return err
		}
		detokenized()
		return w.settle(x, o)
	case x.strategy.small:
		x.probed(r.Result)
		detokenized()
		return w.settle(x, *x.best)
	}
	o, err := w.examine(x, r.Result)
	if err != nil {
		return err
	}
	o.decoded, o.sourceTokens, o.queued, o.computed = true, len(x.source), x.queued, x.computed
	if w.alternative(x.step) {
		by := x.strategy
		o.by = &by
		if err := w.collect(x, &o, r.Others); err != nil {
			return err
		}
	}
	detokenized()
	if x.best == nil || o.beats(x.best, x.strategy.terms == constrainedInPlace) {
		x.best = &o
	}
	return w.proceed(x, o.flags)
}

// beats says whether an outcome is better than one of another strategy, by their scores, too, where they
// are of searches that placed terms.
func (o *outcome) beats(other *outcome, scored bool) bool {
	if o.flags != other.flags || !scored {
		return o.flags < other.flags
	}
	return cmp.Or(cmp.Compare(o.extra, other.extra), cmp.Compare(other.score, o.score)) < 0
}

// proceed tries a sentence, whose last strategy led to these flags, in another one, or gives
// it the best outcome of all strategies.
func (w *work) proceed(x *sentence, flags Flags) error {
	if !w.req.Once {
		if again, err := w.carryOut(x, judge(w.attempt(x, flags))); again || err != nil {
			if again {
				reason := cmp.Or(flags, GlossaryMissed) // of two strategies that place terms, the second
				w.service.cfg.Metrics.retry(x.step.model, reason.Names()[0])
			}
			return err
		}
	}
	if x.best == nil { // none of the styles of markers can be written
		x.best = &outcome{text: x.Original(), flags: flags}
	}
	if w.probe(x) {
		return nil
	}
	x.doubtCapitals()
	return w.settle(x, *x.best)
}

// carryOut does what was judged, unless the sentence has used up its retry budget.
func (w *work) carryOut(x *sentence, v verdict) (again bool, err error) {
	if v.action == keepBest || !x.takeRetryBudget() {
		return false, nil
	}
	switch v.action {
	case splitFiner:
		return w.splitFiner(x)
	case splitAround:
		return true, w.splitAround(x)
	}
	x.decodeAgain(v.strategy)
	return true, nil
}

// decodeAgain has a sentence decoded in another strategy.
func (x *sentence) decodeAgain(s strategy) {
	x.strategy = s
	x.step.again = append(x.step.again, x)
}

// splitFiner translates a sentence in parts. It does nothing where there is only one.
func (w *work) splitFiner(x *sentence) (split bool, err error) {
	finer, err := segment.Finer(w.ctx, x.Text, language.Base(x.step.from))
	if err != nil {
		return false, err
	}
	pieces, texts, err := divide(w.ctx, x.Sentence, finer)
	if err != nil {
		return false, err
	}
	if len(finer) == 1 || len(texts) == 1 && texts[0].Text == x.Text {
		return false, nil
	}
	return true, w.split(x, pieces, texts)
}

// splitAround translates what stands between the spans of a sentence.
func (w *work) splitAround(x *sentence) error {
	var pieces []segment.Piece
	var texts []markup.Sentence
	parts, err := x.Around(w.ctx)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if part.Fixed {
			pieces = append(pieces, segment.Piece{Text: part.Original()})
			continue
		}
		pieces = append(pieces, segment.Piece{Text: part.Text, Sentence: true})
		texts = append(texts, part.Sentence)
	}
	return w.split(x, pieces, texts)
}

// split has the parts of a sentence translated, the first one first.
func (w *work) split(x *sentence, pieces []segment.Piece, texts []markup.Sentence) error {
	x.pieces, x.parts, x.open = pieces, make([]*sentence, len(texts)), len(texts)
	bytes := 1
	for _, text := range texts {
		bytes += len(text.Text)
	}
	for i, text := range slices.Backward(texts) {
		part := &sentence{parent: x, depth: x.depth + 1}
		if err := w.begin(part, x.step, text); err != nil {
			return err
		}
		if x.retries != unmeasured { // the parts share what is left, whichever comes first
			part.retries = x.retries * len(text.Text) / bytes
		}
		x.parts[i] = part
		x.step.again = append(x.step.again, part)
	}
	if x.open > 0 {
		return nil
	}
	o, err := w.joined(x)
	if err != nil {
		return err
	}
	return w.settle(x, o)
}

// settle gives a sentence its outcome, and goes on with what waited for that: the sentence that it is
// a part of, the next step of its route, or the records that it is in.
func (w *work) settle(x *sentence, o outcome) error {
	for {
		best := o
		x.best = &best
		if w.widen(x) {
			return nil
		}
		if p := x.parent; p != nil {
			x.attempts, x.Sentence = nil, markup.Sentence{} // there may be very many
			if p.open--; p.open > 0 {
				return nil
			}
			var err error
			if o, err = w.joined(p); err != nil {
				return err
			}
			x = p
			continue
		}
		if !o.cached {
			w.remember(x)
		}
		if x.step.next == nil || o.text == "" {
			return w.finish(x)
		}
		if x.chain == nil {
			x.chain = &chain{source: x.Text}
		}
		x.chain.add(x)
		kept, err := x.Kept(w.ctx, o.text)
		if err == nil {
			err = w.begin(x, x.step.next, kept)
		}
		if err != nil {
			return err
		}
		known, ok := w.recall(x)
		if !ok {
			if !w.decoding { // the step before was known
				x.step.expect(o.targetTokens)
			}
			x.step.add(x)
			return nil
		}
		o = known
	}
}

// finish ends a whole sentence that is through all steps, and those that waited for it alone.
func (w *work) finish(x *sentence) error {
	if x.chain != nil {
		x.chain.add(x)
		x.best = &x.chain.sum
	}
	x.attempts, x.Spans = nil, nil
	known := []*sentence{x}
	if x.siblings != nil {
		known = x.siblings.add(x)
	}
	for _, x := range known {
		if err := w.answer(x); err != nil {
			return err
		}
	}
	return nil
}

// answer gives the records a sentence. Those that have all of theirs are handed out, and with the last
// sentence the streams to the engines end.
func (w *work) answer(x *sentence) error {
	if w.open--; w.open == 0 {
		for _, s := range w.streams {
			if s.more != nil {
				close(s.more)
			}
		}
	}
	records := x.records
	x.records = nil
	for _, rec := range records {
		if rec.open--; rec.open > 0 {
			continue
		}
		if err := w.handOut(rec); err != nil {
			return err
		}
	}
	return nil
}

// handOut hands out a record, all of whose sentences have an outcome.
func (w *work) handOut(rec *record) error {
	r, err := rec.join(w.ctx, w.req.Alternatives)
	if err != nil {
		return err
	}
	rec.units, rec.sentences = nil, nil
	if r.Flags.Has(Truncated) && !w.req.Flagged {
		if w.failed == nil || rec.number < w.failedAt {
			w.failedAt = rec.number
			w.failed = recordError(CodeUnfinished, rec.source, r.Record,
				"the translation reached the limit of %d tokens before its end: send shorter sentences, or set detail in a request to /translation to get what there is",
				rec.route.maxLength())
		}
		return nil
	}
	counted := r
	counted.To = rec.to
	w.service.cfg.Metrics.Count(w.req.Records[rec.source].Text, counted)
	return w.yield(rec.number, r)
}
