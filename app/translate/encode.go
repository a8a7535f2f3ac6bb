package translate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dragoman/app/engine"
	"dragoman/app/markup"
	"dragoman/app/measure"
	"dragoman/model/search"
)

// count answers what was translated before, and counts the source tokens of all other
// sentences. They are encoded again when it is their turn: what has been encoded takes
// more memory than its text, and counting takes little time beside decoding.
func (w *work) count(ctx context.Context) error {
	start := time.Now()
	fresh := w.fresh
	w.fresh = nil
	for i, x := range fresh {
		fresh[i] = nil
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		ids, known, err := w.look(x)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if w.tokens += ids; w.tokens > w.service.cfg.MaxTokens {
			return invalid(CodeTooManyTokens, "records", "%d records × %d languages have more than %d tokens: send several requests",
				len(w.req.Records), len(w.req.To), w.service.cfg.MaxTokens)
		}
		if x.HasTerms() {
			w.retries += termTries * ids
		}
		x.hop.expect(ids)
		x.hop.lane.add(x)
	}
	w.retries += retryTokens + w.tokens
	measure.Span(ctx, stageTokenize, start, time.Now())
	return nil
}

// look answers a sentence from the cache, or counts its source tokens.
func (w *work) look(x *sentence) (tokens int, known bool, err error) {
	if known, err = w.recall(x); known || err != nil {
		return 0, known, err
	}
	ids, err := w.encode(x, x.Text)
	return len(ids), false, err
}

// encode makes ids of a text of a sentence.
func (w *work) encode(x *sentence, text string) ([]int64, error) {
	defer func(start time.Time) { x.hop.lane.spent.Tokenized += time.Since(start) }(time.Now())
	ids, err := x.hop.model.Tokenizer.Encode(x.hop.from, x.hop.to, text)
	if err != nil {
		return nil, fmt.Errorf("encode a sentence of %d bytes: %w", len(text), err)
	}
	return ids, nil
}

// job makes the job that decodes a sentence in its present way. Without ok there is
// none: the sentence has its outcome, or is to do in another way.
func (w *work) job(x *sentence) (job engine.Job, ok bool, err error) {
	m := x.hop.model
	x.shape = x.form()
	text := x.shape.Text
	if x.way.masks() {
		if x.masked, ok = w.mask(x); !ok {
			return job, false, w.conclude(x, MarkupLost)
		}
		text = x.masked.Text
	}
	if x.way.small {
		text = strings.ToLower(text)
	}
	ids, err := w.encode(x, text)
	switch {
	case err != nil:
		return job, false, err
	case len(ids) <= m.framing: // letters that the tokenizer drops
		return job, false, w.settle(x, outcome{text: x.Original()})
	case len(ids) > m.Spec.MaxPositions:
		return job, false, w.splitLong(x)
	case len(ids) > longSentence && !w.req.Whole:
		if split, err := w.splitFiner(x); split || err != nil {
			return job, false, err
		}
	}
	x.source = ids
	phrases, options := x.placed(w.searchFor(x))
	return engine.Job{Source: ids, Prefix: x.hop.prefix, Search: options, Phrases: phrases}, true, nil
}

// longSentence are the tokens that a sentence has at most that is translated in one
// piece. The models were trained on sentences; of what is much longer they leave out
// parts.
const longSentence = 160

// mask puts markers in place of what must come back as it is.
func (w *work) mask(x *sentence) (markup.Masked, bool) {
	if x.way.mask >= len(x.hop.model.styles) {
		return markup.Masked{}, false
	}
	return x.shape.Mask(x.hop.model.styles[x.way.mask])
}

// findStyles looks which markers the tokenizer can write: a model whose vocabulary has
// no brackets, say, cannot copy any.
func (m *Model) findStyles() {
	sample := markup.Parse("a {b} c", markup.Text)
	for style := range markup.Styles {
		masked, ok := sample.Mask(style)
		if !ok {
			continue
		}
		ids, err := m.Tokenizer.Encode(m.languages[0], m.languages[0], masked.Text)
		if err == nil && strings.TrimSpace(m.Tokenizer.Decode(ids)) == masked.Text {
			m.styles = append(m.styles, style)
		}
	}
}

// splitLong splits a sentence that is longer than the model's input. What cannot be
// split, one character with thousands of marks, stays as it is.
func (w *work) splitLong(x *sentence) error {
	if split, err := w.splitFiner(x); split || err != nil {
		return err
	}
	return w.settle(x, outcome{text: x.Original(), flags: SourceEcho})
}

// way is how a sentence is decoded.
type way struct {
	mask   int  // the number, in Model.styles, of the style of markers for what must come back as it is; below 0: none
	length int  // tokens that it may have at most; 0: as many as were asked for
	strict bool // without repetitions
	wide   bool // a search for alternatives
	small  bool // in small letters: see probe
	terms  termWay
}

// unmasked is the way that translates a sentence as it is.
const unmasked = -1

func (y way) masks() bool { return y.mask != unmasked }

// What a strict way has at least. 3-grams are seldom repeated in a sentence, and
// often in loops; the penalty is the one of CTRL (Keskar et al. 2019).
const (
	strictNgram   = 3
	strictPenalty = 1.2
)

// apply changes the settings of a search.
func (y way) apply(o search.Options) search.Options {
	if y.length > 0 {
		o.MaxLength = y.length
	}
	if y.strict {
		if o.NoRepeatNgramSize == 0 {
			o.NoRepeatNgramSize = strictNgram
		}
		o.RepetitionPenalty = max(o.RepetitionPenalty, strictPenalty)
	}
	return o
}
