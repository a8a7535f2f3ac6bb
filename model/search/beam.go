package search

import "dragoman/model"

// beam follows the Beams best hypotheses at once. A step
//
//  1. ranks the 2·Beams best continuations over all rows by the sum of their log-probabilities. Each row has one end token, so at
//     least Beams of them continue;
//  2. turns those that end and are among the first Beams into finished sentences, of which it keeps the best Beams by normalized
//     score. Ends ranked lower are dropped: their hypothesis lost to Beams better ones;
//  3. makes the first Beams continuations without an end the rows of the next step;
//  4. ends the search if the length is reached, or if the running rows cannot, or by EarlyStopping need not, beat the finished
//     sentences: all of them, or those that the result is to have, whichever comes first.
type beam struct {
	opts  Options
	rules rules
	eos   int64
	vocab int
	// forced reports whether a sentence of maximum length ends with the end token.
	forced bool

	trace    trace
	live     int       // rows 0 to live-1 carry a hypothesis, the others are dead
	scores   []float32 // [Beams], sums of log-probabilities, best first
	verdicts []verdict // [Beams], results of the rules for each row's next token
	touched  int       // maximum number of tokens of a row whose scores the rules may lower
	finished []ending  // at most Beams sentences, best first
	done     bool

	ranked  []continuation // scratch: the best 2·Beams of a step
	history []int64        // scratch: one row's tokens
	tokens  []int64        // [Beams]
	parents []int          // [Beams]
}

// continuation is a row's hypothesis with one more token.
type continuation struct {
	score   float32 // sum of log-probabilities
	logProb float32 // log-probability of the token, after the rules
	id      int64
	row     int
}

// before orders continuations: best first. Continuations with equal sums are ordered by row, then by the row's own order, so that
// the result does not depend on the number of candidates per row.
func (c continuation) before(d continuation) bool {
	switch {
	case c.score != d.score:
		return c.score > d.score
	case c.row != d.row:
		return c.row < d.row
	case c.logProb != d.logProb:
		return c.logProb > d.logProb
	default:
		return c.id < d.id
	}
}

// ending is a finished sentence: the tokens of row after steps steps, then last.
type ending struct {
	score      float32 // normalized by length
	steps, row int
	last       int64
}

func newBeam(opts Options, prefix []int64, spec model.Spec) *beam {
	b := &beam{
		opts:     opts,
		rules:    newRules(opts, spec),
		eos:      spec.EOS,
		vocab:    spec.VocabSize,
		forced:   spec.ForcedEnd,
		trace:    newTrace(prefix, opts.Beams, opts.MaxLength),
		live:     1,
		scores:   make([]float32, opts.Beams),
		verdicts: make([]verdict, opts.Beams),
		finished: make([]ending, 0, opts.Beams),
		ranked:   make([]continuation, 0, 2*opts.Beams),
		history:  make([]int64, opts.MaxLength),
		tokens:   make([]int64, opts.Beams),
		parents:  make([]int, opts.Beams),
	}
	for i := range b.verdicts {
		b.verdicts[i] = b.rules.newVerdict(opts.MaxLength)
	}
	b.judge()
	return b
}

func (b *beam) Width() int      { return b.opts.Beams }
func (b *beam) Tokens() []int64 { return b.tokens }
func (b *beam) Parents() []int  { return b.parents }

func (b *beam) Candidates() int { return min(2*b.opts.Beams+b.touched, b.vocab) }

func (b *beam) Advance(rows []model.Row) (bool, error) { return b.advance(rows, b.rank, b.over) }

// advance is Advance with a function that ranks the continuations of the live rows, and one that reports whether the search ends
// with this step.
func (b *beam) advance(rows []model.Row, rank func(live []model.Row), over func() bool) (bool, error) {
	if b.done {
		return true, errDone
	}
	want := b.opts.Beams
	if b.trace.steps == 0 {
		want = 1
	}
	if err := checkRows(rows, want, b.live, b.Candidates(), b.vocab); err != nil {
		return false, err
	}
	rank(rows[:b.live])
	b.finish()
	b.follow()
	if over() {
		b.done = true
		return true, nil
	}
	b.trace.add(b.tokens, b.parents)
	b.judge()
	return false, nil
}

// rank fills ranked with the best continuations of all rows, best first, without banned ones.
func (b *beam) rank(rows []model.Row) {
	b.ranked = b.ranked[:0]
	for r, row := range rows {
		if c := (continuation{score: b.scores[r], id: b.eos, row: r}); b.mustEnd() {
			if b.fits(c) {
				b.insert(c)
			}
			continue
		}
		for i, logProb := range row.LogProbs[:b.Candidates()] {
			id := row.IDs[i]
			c := continuation{score: b.scores[r] + logProb, logProb: logProb, id: id, row: r}
			if !b.fits(c) {
				break // the rules only lower scores, and the rest of the row is no better
			}
			var allowed bool
			c.logProb, allowed = b.rules.apply(&b.verdicts[r], id, logProb)
			c.score = b.scores[r] + c.logProb
			if allowed && b.fits(c) {
				b.insert(c)
			}
		}
	}
}

// fits reports whether c is among the best 2·Beams so far.
func (b *beam) fits(c continuation) bool {
	n := len(b.ranked)
	return !impossible(c.score) && (n < cap(b.ranked) || c.before(b.ranked[n-1]))
}

// insert inserts c, for which fits is true, and drops the last continuation if ranked is full. The list is short: shifting is
// faster than a heap.
func (b *beam) insert(c continuation) {
	if len(b.ranked) < cap(b.ranked) {
		b.ranked = b.ranked[:len(b.ranked)+1]
	}
	i := len(b.ranked) - 1
	for ; i > 0 && c.before(b.ranked[i-1]); i-- {
		b.ranked[i] = b.ranked[i-1]
	}
	b.ranked[i] = c
}

// ends reports whether c completes a sentence: by its end token, or by the maximum length.
func (b *beam) ends(c continuation) bool {
	return c.id == b.eos || b.trace.length()+1 == b.opts.MaxLength
}

// mustEnd reports whether the next token is the end token, whatever its probability.
func (b *beam) mustEnd() bool { return b.forced && b.trace.length()+1 == b.opts.MaxLength }

// finish moves the sentences that end now, and rank among the first Beams, to finished. Among equal scores the older sentence
// stays ahead.
func (b *beam) finish() {
	generated := b.trace.length() // without the first token, with the current one
	for _, c := range b.ranked[:min(len(b.ranked), b.opts.Beams)] {
		if !b.ends(c) {
			continue
		}
		e := ending{
			score: normalize(c.score, generated, b.opts.LengthPenalty),
			steps: b.trace.steps, row: c.row, last: c.id,
		}
		n := len(b.finished)
		if n == b.opts.Beams {
			if e.score <= b.finished[n-1].score {
				continue
			}
			n--
		}
		b.finished = b.finished[:n+1]
		for ; n > 0 && e.score > b.finished[n-1].score; n-- {
			b.finished[n] = b.finished[n-1]
		}
		b.finished[n] = e
	}
}

// follow makes the best continuations without an end the rows of the next step. If there are fewer than Beams, the other rows are
// dead: they are fed the end token and ignored.
func (b *beam) follow() {
	live := 0
	for _, c := range b.ranked {
		if live == b.opts.Beams {
			break
		}
		if b.ends(c) {
			continue
		}
		b.tokens[live], b.parents[live], b.scores[live] = c.id, c.row, c.score
		live++
	}
	for i := live; i < b.opts.Beams; i++ {
		b.tokens[i], b.parents[i] = b.eos, 0
	}
	b.live = live
}

// over reports whether the search ends with this step, which trace does not have yet. It ends when the wanted sentences are known.
// Otherwise, without a full list of finished sentences any running row continues.
func (b *beam) over() bool {
	if b.live == 0 { // MaxLength reached, or everything banned
		return true
	}
	// The best possible score of the best running row, at the current length and at any later one. The row's sum only falls, so with
	// a positive length penalty its normalized score can be best at full length.
	length := b.trace.length()
	now := normalize(b.scores[0], length, b.opts.LengthPenalty)
	later := now
	if b.opts.LengthPenalty > 0 {
		later = normalize(b.scores[0], b.opts.MaxLength-1, b.opts.LengthPenalty)
	}
	if wanted := max(1, b.opts.Hypotheses); len(b.finished) >= wanted && later <= b.finished[wanted-1].score {
		return true
	}
	if len(b.finished) < b.opts.Beams {
		return false
	}
	switch b.opts.EarlyStopping {
	case StopEarly:
		return true
	case StopNever:
		return later <= b.finished[len(b.finished)-1].score
	default:
		return now <= b.finished[len(b.finished)-1].score
	}
}

// judge applies the rules to the next token of every live row.
func (b *beam) judge() {
	b.touched = 0
	for row := range b.live {
		var history []int64
		if b.rules.needHistory() {
			history = b.trace.history(b.history, row)
		}
		b.rules.judge(&b.verdicts[row], history, b.trace.length())
		b.touched = max(b.touched, b.verdicts[row].touched())
	}
}

func (b *beam) Result() Result {
	if !b.done {
		return Result{}
	}
	if len(b.finished) == 0 { // everything was banned before a sentence could end
		return b.deadEnd()
	}
	r := b.sentence(b.finished[0])
	for _, e := range b.finished[1:max(1, min(b.opts.Hypotheses, len(b.finished)))] {
		r.Others = append(r.Others, b.sentence(e))
	}
	return r
}

// sentence returns the result of a finished sentence.
func (b *beam) sentence(e ending) Result {
	r := Result{Tokens: make([]int64, e.steps, e.steps+1), Score: e.score}
	b.trace.read(r.Tokens, e.steps, e.row)
	if e.last != b.eos {
		r.Tokens, r.Truncated = append(r.Tokens, e.last), true
	}
	if b.forced && len(b.trace.prefix)+e.steps+1 == b.opts.MaxLength {
		r.Truncated = true
	}
	return r
}

// deadEnd returns the best row of the last step, unfinished. follow found no live row, so the field scores still has that step's
// scores.
func (b *beam) deadEnd() Result {
	steps := b.trace.steps
	r := Result{Tokens: make([]int64, steps), Truncated: true}
	b.trace.read(r.Tokens, steps, 0)
	r.Score = normalize(b.scores[0], max(b.trace.length()-1, 1), b.opts.LengthPenalty)
	return r
}
