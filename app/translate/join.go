package translate

import (
	"strings"

	"dragoman/app/language"
	"dragoman/app/segment"
)

// joined is the outcome of a sentence that was translated in parts, or the one that
// it had before, where that is better.
func (w *work) joined(x *sentence) outcome {
	o := outcome{queued: x.queued}
	most := 1
	for _, part := range x.parts.sentences {
		o.add(part.best)
		most = max(most, len(part.best.hypotheses))
	}
	o.computed += x.computed
	if x.best != nil && x.best.flags < o.flags {
		return *x.best
	}
	of := pair{x.hop.from, x.hop.to}
	o.text = x.Spaced(x.parts.join(of, plain))
	if w.alternative(x.hop) {
		o.hypotheses = combine(w.req.Alternatives, most, func(text func(x *sentence) string) string { return x.Spaced(x.parts.join(of, text)) })
	}
	return o
}

// plain is the best translation of a sentence.
func plain(x *sentence) string { return x.best.text }

// join puts a text for each sentence where it was.
func (p parts) join(of pair, text func(x *sentence) string) string {
	translations := make([]string, len(p.sentences))
	for i, x := range p.sentences {
		translations[i] = text(x)
	}
	return segment.Join(p.pieces, translations, language.Base(of.from), language.Base(of.to))
}

// add adds the numbers of another outcome, that of a part.
func (o *outcome) add(part *outcome) {
	if tokens := o.targetTokens + part.targetTokens; tokens > 0 {
		o.score = (o.score*float64(o.targetTokens) + part.score*float64(part.targetTokens)) / float64(tokens)
	}
	o.sourceTokens += part.sourceTokens
	o.targetTokens += part.targetTokens
	o.flags |= part.flags
	o.cached = o.cached || part.cached
	o.decoded = o.decoded || part.decoded
	o.queued = max(o.queued, part.queued)
	o.computed = max(o.computed, part.computed)
}

// join makes the result of a record, all of whose sentences have an outcome, with so many
// alternatives at most.
func (rec *record) join(alternatives int) Result {
	r := rec.result
	if len(rec.blocks) > 0 {
		rec.joinInto(&r, alternatives > 0)
	}
	if alternatives > 0 {
		r.Alternatives = rec.alternativesOf(alternatives, r)
	}
	return r
}

// joinInto joins the text of a result, and adds up what is known of its sentences.
func (rec *record) joinInto(r *Result, alternatives bool) {
	var sum outcome
	r.Text = joinBlocks(rec.blocks, rec.route.pair(), func(x *sentence) string {
		sum.add(x.best)
		r.Segments = append(r.Segments, x.segment(alternatives))
		return x.best.text
	})
	r.Flags, r.Score, r.SourceTokens, r.TargetTokens = sum.flags, sum.score, sum.sourceTokens, sum.targetTokens
	r.Cached, r.Decoded, r.Queued, r.Computed = sum.cached, sum.decoded, sum.queued, sum.computed
}

// segment is what became of a whole sentence.
func (x *sentence) segment(alternatives bool) Segment {
	s := Segment{Source: x.Text, Text: x.best.text, Flags: x.best.flags}
	if x.chain != nil {
		s.Source, s.Steps = x.chain.source, x.chain.steps
	}
	if alternatives {
		s.Alternatives = x.best.alternatives()
	}
	return s
}

// joinBlocks joins blocks of a text in some languages, with a text for each sentence.
func joinBlocks(blocks []block, of pair, text func(x *sentence) string) string {
	var joined strings.Builder
	for _, b := range blocks {
		part := b.text
		if len(b.parts.pieces) > 0 {
			part = b.parts.join(of, text)
		}
		var messages []string // as they were, and what they become
		for _, m := range b.messages {
			messages = append(messages, m.text, joinBlocks(m.blocks, of, text))
		}
		if len(messages) > 0 {
			part = strings.NewReplacer(messages...).Replace(part)
		}
		part = b.readings.Restore(part)
		if b.paragraph != nil {
			part = b.paragraph.Wrap(part)
		}
		joined.WriteString(part)
	}
	return joined.String()
}
