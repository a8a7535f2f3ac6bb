package translate

// chain is what the steps of a route before the current one made of a whole sentence.
type chain struct {
	source string // its text before the first
	steps  []StepResult
	sum    outcome // of all of them together
}

// advance has the next step of the route translate what came of a whole sentence.
func (w *work) advance(x *sentence) error {
	if x.chain == nil {
		x.chain = &chain{source: x.Text}
	}
	o := x.best
	x.chain.add(x)
	w.begin(x, x.hop.next, x.Kept(o.text))
	if known, err := w.recall(x); known || err != nil {
		return err
	}
	if !w.running { // the step before was known
		x.hop.expect(o.targetTokens)
	}
	x.hop.lane.add(x)
	return nil
}

// expect has the lanes of the step and of all that follow know of a sentence with so many
// tokens: translations have about as many as their sources.
func (h *hop) expect(tokens int) {
	for ; h != nil; h = h.next {
		h.lane.tokens += max(1, tokens)
		if w := h.lane.work; w.widens(h) { // another search, of so many times as many rows
			h.lane.tokens += max(1, tokens) * w.req.Alternatives / h.lane.search.Beams
		}
	}
}

// add adds the current step of a sentence, which has its outcome.
func (c *chain) add(x *sentence) {
	m, o := x.hop.model, x.best
	c.steps = append(c.steps, StepResult{
		Model: m.Name, Version: m.Version, From: x.hop.from, To: x.hop.to, Text: o.text, Flags: o.flags, Score: o.score, Cached: o.cached,
	})
	computed := c.sum.computed + o.computed
	c.sum.add(o)
	c.sum.text, c.sum.computed, c.sum.hypotheses = o.text, computed, o.hypotheses
}

// conclude makes the outcome of a whole sentence that of all steps.
func (x *sentence) conclude() {
	if x.chain != nil {
		x.chain.add(x)
		x.best = &x.chain.sum
	}
}

// close counts a whole sentence that has its outcome. With the last one the streams to the
// engines end.
func (w *work) close() {
	if w.open--; w.open > 0 {
		return
	}
	for _, l := range w.lanes {
		if l.more != nil {
			close(l.more)
		}
	}
}
