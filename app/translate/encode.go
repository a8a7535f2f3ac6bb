package translate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"dragoman/app/engine"
	"dragoman/app/markup"
	"dragoman/app/telemetry"
	"dragoman/model/search"
)

// count answers what was translated before, and counts the source tokens of all other
// sentences. They are encoded again when it is their turn: what has been encoded takes
// more memory than its text, and counting takes little time beside decoding.
func (w *work) count(ctx context.Context) error {
	start := time.Now()
	waiting := w.todo[:0]
	for _, x := range w.todo {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if known, err := w.recall(x); known || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		ids, err := w.encode(x, x.Text)
		if err != nil {
			return err
		}
		if w.tokens += len(ids); w.tokens > w.service.cfg.MaxTokens {
			return invalid(CodeTooManyTokens, "records", "%d records × %d languages have more than %d tokens: send several requests",
				len(w.req.Records), len(w.req.To), w.service.cfg.MaxTokens)
		}
		waiting = append(waiting, x)
	}
	clear(w.todo[len(waiting):])
	w.todo = waiting
	w.retries = retryTokens + w.tokens
	telemetry.Span(ctx, stageTokenize, start, time.Now())
	return nil
}

// next hands the jobs out, one by one: of sentences that are tried again, or in parts,
// before those that were not tried yet, and of these the last that came first. So there
// are never many parts at a time, however long a sentence is.
func (w *work) next() (job engine.Job, ok bool, err error) {
	for !ok && err == nil {
		var x *sentence
		switch last := len(w.again) - 1; {
		case last >= 0:
			x, w.again[last] = w.again[last], nil
			w.again = w.again[:last]
		case len(w.todo) > 0:
			x, w.todo[0] = w.todo[0], nil
			w.todo = w.todo[1:]
		default:
			return job, false, nil
		}
		job, ok, err = w.job(x)
		if ok {
			w.decoding[w.jobs] = x
			w.jobs++
		}
	}
	return job, ok, err
}

// encode makes ids of a text of a sentence.
func (w *work) encode(x *sentence, text string) ([]int64, error) {
	defer func(start time.Time) { w.tokenizing += time.Since(start) }(time.Now())
	ids, err := w.service.cfg.Tokenizer.Encode(x.pair.from, x.pair.to, text)
	if err != nil {
		return nil, fmt.Errorf("encode a sentence of %d bytes: %w", len(text), err)
	}
	return ids, nil
}

// job makes the job that decodes a sentence in its present way. Without ok there is
// none: the sentence has its outcome, or is to do in another way.
func (w *work) job(x *sentence) (job engine.Job, ok bool, err error) {
	s, text := w.service, x.Text
	if x.way.masks() {
		if x.masked, ok = w.mask(x); !ok {
			return job, false, w.conclude(x, MarkupLost)
		}
		text = x.masked.Text
	}
	ids, err := w.encode(x, text)
	switch {
	case err != nil:
		return job, false, err
	case len(ids) <= s.framing: // letters that the tokenizer drops
		return job, false, w.settle(x, outcome{text: x.Original()})
	case len(ids) > s.cfg.Spec.MaxPositions:
		return job, false, w.splitLong(x)
	case len(ids) > longSentence && !w.req.Whole:
		if split, err := w.splitFiner(x); split || err != nil {
			return job, false, err
		}
	}
	x.source = ids
	return engine.Job{
		Source: ids, Prefix: x.pair.prefix, Search: x.way.apply(w.search),
	}, true, nil
}

// longSentence are the tokens that a sentence has at most that is translated in one
// piece. The models were trained on sentences; of what is much longer they leave out
// parts.
const longSentence = 160

// mask puts markers in place of what must come back as it is.
func (w *work) mask(x *sentence) (markup.Masked, bool) {
	if x.way.mask >= len(w.service.styles) {
		return markup.Masked{}, false
	}
	return x.Mask(w.service.styles[x.way.mask])
}

// findStyles looks which markers the tokenizer can write: a model whose vocabulary has
// no brackets, say, cannot copy any.
func (s *Service) findStyles() {
	sample := markup.Parse("a {b} c", markup.Text)
	for style := range markup.Styles {
		masked, ok := sample.Mask(style)
		if !ok {
			continue
		}
		ids, err := s.cfg.Tokenizer.Encode(s.languages[0], s.languages[0], masked.Text)
		if err == nil && strings.TrimSpace(s.cfg.Tokenizer.Decode(ids)) == masked.Text {
			s.styles = append(s.styles, style)
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
	mask   int  // the number, in Service.styles, of the style of markers for what must come back as it is; below 0: none
	length int  // tokens that it may have at most; 0: as many as were asked for
	strict bool // without repetitions
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
