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

// count settles sentences that are known already or cached, and counts the source tokens of all others. The latter are encoded again when they are
// decoded, because encoded sentences take more memory than their texts, and counting takes little time compared with decoding.
func (w *work) count(ctx context.Context, sentences []*sentence, known []remembered) error {
	start, tokens := time.Now(), 0
	w.open = len(sentences) + len(known)
	w.all = w.open
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
	for _, k := range known { // not in turn with other callers, because settling may wait for the reader of the answer
		if err := w.settle(k.sentence, k.outcome); err != nil {
			return err
		}
	}
	return nil
}

// remembered is a sentence that is cached or from a translation memory.
type remembered struct {
	sentence *sentence
	outcome  outcome
}

// decode decodes all sentences that need it. With several models, each has a stream until the last sentence has its outcome,
// because the outcome of one model goes on to the next model at once. The streams run concurrently; their jobs and results are
// handled here, on one goroutine.
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
			err = fault.Protect(do) // the caller's recover does not cover the stream's goroutine
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

// longSentence is the maximum number of tokens of a sentence that is translated in one piece. The models were trained on
// sentences; they omit parts of much longer text.
const longSentence = 160

// job returns the job that decodes a sentence with its present strategy. If ok is false there is none: the sentence has its
// outcome, or is queued with another strategy.
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
	case len(ids) <= x.step.framing: // the text has only letters that the tokenizer drops
		return job, false, w.settle(x, outcome{text: x.Original()})
	case len(ids) > m.Spec.MaxPositions || len(ids) > longSentence && !w.req.Whole && !m.paragraphs():
		if split, err := w.splitFiner(x); split || err != nil {
			return job, false, err
		}
	}
	if len(ids) > m.Spec.MaxPositions { // for example one character with thousands of combining marks
		return job, false, w.settle(x, outcome{text: x.Original(), flags: SourceEcho})
	}
	if x.source = ids; x.retries == unmeasured {
		x.retries = x.retryBudget()
	}
	job = engine.Job{Source: ids, Prefix: x.step.prefix, Search: w.searchFor(x)}
	if x.strategy.places() {
		job.Phrases = x.phrases
	}
	if m.Prompted != nil {
		job.Guide = x.guide()
	}
	x.tries++
	return job, true, nil
}

// write returns the text of a sentence in the form of its present strategy, or false if that is not possible.
func (c *codec) write(x *sentence) (text string, ok bool, err error) {
	x.form = x.withTerms()
	text = x.form.Text
	if x.strategy.masks() {
		styles := x.step.model.styles
		if x.strategy.markers >= len(styles) {
			return "", false, nil
		}
		if x.masked, ok, err = x.form.Mask(c.ctx, styles[x.strategy.markers]); !ok || err != nil {
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

// The first try of a sentence ends at perToken tokens for each source token and perSentence more: beyond, even by the bytes of letters,
// a word or two have gone astray, and the retry has no such limit.
const perToken, perSentence = 16, 32

// searchFor returns the search settings of a sentence with its present strategy.
func (c *codec) searchFor(x *sentence) search.Options {
	o := x.strategy.apply(x.step.search)
	// A request for more tokens than the service's own limit gets only as many as a plausible translation has: otherwise a few
	// misleading letters would cost a hundred times what is charged for them.
	if own := x.step.model.Search.MaxLength; x.strategy.length == 0 && o.MaxLength > own {
		o.MaxLength = min(o.MaxLength, max(own, x.longest()))
	}
	if m := x.step.model; x.strategy == (strategy{markers: x.strategy.markers}) && !c.req.Once && m.Prompted == nil {
		o.MaxLength = max(min(o.MaxLength, perToken*len(x.source)+perSentence), o.MinLength)
	}
	if x.strategy.wide {
		o.Beams = c.req.Alternatives
	}
	if c.alternative(x.step) && c.req.Alternatives > 1 && o.Beams >= c.req.Alternatives {
		o.Hypotheses = o.Beams // all hypotheses: some will have equal texts, or a flaw
	}
	if x.strategy.places() {
		o.Beams = max(o.Beams, min(termBeams, x.step.model.Limits.Beams))
	}
	return o
}

// receive handles the engine's result for a sentence.
func (w *work) receive(x *sentence, r engine.Result) error {
	x.queued = max(x.queued, r.Queued)
	x.computed += r.Computed
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
	o, err := w.examine(x, r.Result, r.Fault)
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

// beats reports whether an outcome is better than the outcome other of another strategy. If scored is set, scores are compared
// too: for searches that placed terms.
func (o *outcome) beats(other *outcome, scored bool) bool {
	if o.flags != other.flags || !scored {
		return o.flags < other.flags
	}
	return cmp.Or(cmp.Compare(o.extra, other.extra), cmp.Compare(other.score, o.score)) < 0
}

// proceed queues a sentence whose last strategy led to flags with another strategy, or settles the sentence with the best outcome
// of all strategies.
func (w *work) proceed(x *sentence, flags Flags) error {
	x.flags = flags
	if !w.req.Once {
		if again, err := w.carryOut(x, judge(attemptAt(x, flags))); again || err != nil {
			if again {
				reason := cmp.Or(flags, GlossaryMissed) // without flags, the sentence is tried by a second strategy that places terms
				w.service.cfg.Metrics.retry(x.step.model, reason.Names()[0])
			}
			return err
		}
	}
	if x.best == nil { // no style of markers can be written
		x.best = &outcome{text: x.Original(), flags: flags}
	}
	if w.probe(x) {
		return nil
	}
	x.doubtCapitals()
	return w.settle(x, *x.best)
}

// carryOut executes a verdict, unless the sentence has used up its retry budget.
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

// decodeAgain queues a sentence with another strategy.
func (x *sentence) decodeAgain(s strategy) {
	x.strategy = s
	x.step.again = append(x.step.again, x)
}

// splitFiner translates a sentence in parts. It returns false if there is only one part.
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

// splitAround translates the parts between the spans of a sentence.
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

// split queues the parts of a sentence, the first one first.
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
		if x.retries != unmeasured { // the parts share the remaining budget, in any order
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

// settle gives a sentence its outcome, and continues the work that waited for it: the sentence of which it is a part, the next
// step of its route, or its records.
func (w *work) settle(x *sentence, o outcome) error {
	for {
		best := o
		x.best = &best
		if w.widen(x) {
			return nil
		}
		if p := x.parent; p != nil {
			x.attempts, x.Sentence = nil, markup.Sentence{} // frees memory, because there may be very many sentences
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
		if x.step.next == nil || o.text == "" || o.memory != nil {
			return w.finish(x)
		}
		if x.chain == nil {
			x.chain = &chain{source: x.Text}
		}
		x.chain.add(x)
		x.before, x.examples = "", nil // in another language
		kept, err := x.Kept(w.ctx, o.text)
		if err == nil {
			err = w.begin(x, x.step.next, kept)
		}
		if err != nil {
			return err
		}
		known, ok := w.recall(x)
		if !ok {
			if !w.decoding { // the result of the step before was cached
				x.step.expect(o.targetTokens)
			}
			x.step.add(x)
			return nil
		}
		o = known
	}
}

// finish ends a whole sentence that has passed all steps, and siblings that waited only for it.
func (w *work) finish(x *sentence) error {
	if x.chain != nil {
		x.chain.add(x)
		x.best = &x.chain.sum
	}
	x.best.offer(x.near, w.req.Alternatives)
	x.attempts, x.Spans, x.near = nil, nil, nil
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

// answer reports a finished sentence to its records. answer hands out complete records, and after the last sentence ends the
// streams to the engines.
func (w *work) answer(x *sentence) error {
	w.open--
	if w.req.Progress != nil {
		w.req.Progress(w.all-w.open, w.all)
	}
	if w.open == 0 {
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

// handOut hands out a record whose sentences all have an outcome.
func (w *work) handOut(rec *record) error {
	r, err := rec.join(w.ctx, w.req.Alternatives)
	if err != nil {
		return err
	}
	rec.units, rec.sentences = nil, nil
	if r.Flags.Has(Truncated) && !w.req.Flagged && !w.req.Unfinished {
		if w.failed == nil || rec.number < w.failedAt {
			w.failedAt = rec.number
			w.failed = recordError(CodeUnfinished, w.req.First+rec.source, r.Record,
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
