package translate

import (
	"context"
	"fmt"
	"strings"

	"dragoman/app/engine"
	"dragoman/app/markup"
	"dragoman/app/telemetry"
	"dragoman/model/search"
)

// encode makes jobs of all sentences that are to do, and returns the sentence of each
// job. Those that need no decoding get their outcome here.
func (w *work) encode(ctx context.Context) (jobs []engine.Job, decoding []*sentence, err error) {
	defer w.service.cfg.Metrics.Stage(ctx, telemetry.Tokenize).End()
	for len(w.todo) > 0 { // it grows where a sentence has to be split
		x := w.todo[0]
		w.todo = w.todo[1:]
		if err := ctx.Err(); err != nil {
			return nil, nil, context.Cause(ctx)
		}
		if w.known(x) {
			if err := w.settle(x, *x.best); err != nil {
				return nil, nil, err
			}
			continue
		}
		job, ok, err := w.job(x)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			jobs, decoding = append(jobs, job), append(decoding, x)
		}
	}
	return jobs, decoding, nil
}

// job makes the job that decodes a sentence in its present way. Without ok there is
// none: the sentence has its outcome, or is to do in another way.
func (w *work) job(x *sentence) (job engine.Job, ok bool, err error) {
	const framing = 2 // the language token and </s>
	s, text := w.service, x.Text
	if x.way.masks() {
		if x.masked, ok = w.mask(x); !ok {
			_, err := w.retry(x, MarkupLost)
			return job, false, err
		}
		text = x.masked.Text
	}
	ids, err := s.cfg.Tokenizer.Encode(x.record.result.From, text)
	switch {
	case err != nil:
		return job, false, fmt.Errorf("encode records[%d]: %w", x.record.source, err)
	case len(ids) <= framing: // letters that the tokenizer drops
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
		Source: ids, Prefix: []int64{s.cfg.Spec.DecoderStart, x.record.target}, Search: x.way.apply(w.search),
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
		ids, err := s.cfg.Tokenizer.Encode(s.languages[0], masked.Text)
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
