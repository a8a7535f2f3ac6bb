package translate

import (
	"strings"

	"dragoman/app/language"
	"dragoman/app/segment"
)

// joined is the outcome of a sentence that was translated in parts, or the one that
// it had before, where that is better.
func (x *sentence) joined() outcome {
	o := outcome{queued: x.queued}
	for _, part := range x.parts.sentences {
		o.add(part.best)
	}
	o.computed += x.computed
	if x.best != nil && x.best.flags < o.flags {
		return *x.best
	}
	o.text = x.parts.join(pair{x.hop.from, x.hop.to})
	return o
}

// join puts the translations of sentences where they were.
func (p parts) join(of pair) string {
	translations := make([]string, len(p.sentences))
	for i, x := range p.sentences {
		translations[i] = x.best.text
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

// join makes the result of a record, all of whose sentences have an outcome.
func (rec *record) join() Result {
	r := rec.result
	if len(rec.blocks) == 0 {
		return r
	}
	var sum outcome
	r.Text = joinBlocks(rec.blocks, &r, &sum, rec.route.pair())
	r.Flags, r.Score, r.SourceTokens, r.TargetTokens = sum.flags, sum.score, sum.sourceTokens, sum.targetTokens
	r.Cached, r.Decoded, r.Queued, r.Computed = sum.cached, sum.decoded, sum.queued, sum.computed
	return r
}

// segment is what became of a whole sentence.
func (x *sentence) segment() Segment {
	s := Segment{Source: x.Text, Text: x.best.text, Flags: x.best.flags}
	if x.chain != nil {
		s.Source, s.Steps = x.chain.source, x.chain.steps
	}
	return s
}

// joinBlocks joins blocks of a text in some languages, and adds their sentences to a result
// and their outcomes to a sum.
func joinBlocks(blocks []block, r *Result, sum *outcome, of pair) string {
	var text strings.Builder
	for _, b := range blocks {
		part := b.text
		if len(b.parts.pieces) > 0 {
			for _, x := range b.parts.sentences {
				sum.add(x.best)
				r.Segments = append(r.Segments, x.segment())
			}
			part = b.parts.join(of)
		}
		var messages []string // as they were, and what they become
		for _, m := range b.messages {
			messages = append(messages, m.text, joinBlocks(m.blocks, r, sum, of))
		}
		if len(messages) > 0 {
			part = strings.NewReplacer(messages...).Replace(part)
		}
		text.WriteString(part)
	}
	return text.String()
}
