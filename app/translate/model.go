package translate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dragoman/app/engine"
	"dragoman/app/text/markup"
	"dragoman/model"
	"dragoman/model/search"
)

// Tokenizer turns text into token ids and back. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the source of a translation from one language into another, with
	// the tokens that stand around the text.
	Encode(from, to, text string) ([]int64, error)
	// Forced returns the tokens that such a translation begins with.
	Forced(from, to string) []int64
	// Decode returns the text of a translation's ids without the special ones.
	Decode(ids []int64) string
	// LanguageID returns a language's token, below 0 where it has none.
	LanguageID(code string) (id int64, ok bool)
	// EncodeTarget returns the tokens of a text as a part of a translation.
	EncodeTarget(text string) ([]int64, error)
}

// Engine decodes sentences. It takes the jobs from next, and calls each with the result
// of every job as soon as it is there, one call at a time; see [engine.Engine.Stream]. It
// is safe for concurrent use.
type Engine interface {
	Stream(ctx context.Context, req engine.Request,
		next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error
	// Err is why nothing is decoded any more; nil while something is.
	Err() error
}

// ModelConfig is what a [Model] is made of.
type ModelConfig struct {
	Name, Version string // for details and metrics
	Tokenizer     Tokenizer
	Engine        Engine
	Spec          model.Spec
	// Languages are the codes of the languages that are offered.
	Languages []string
	// Sources and Targets are those that it translates from and into; none: all.
	Sources, Targets []string
	// Search are the settings that every sentence is decoded with.
	Search search.Options
	Limits Limits // of a request's options; Search is within them
	// Identity tells this model's translations from others' in a cache: whatever changes
	// a translation (weights, precision, tokenizer) changes it, as the checksum of
	// the manifest does. "": its translations are not kept.
	Identity string
}

// Model is a model that is loaded. It is safe for concurrent use.
type Model struct {
	ModelConfig
	languages []string // sorted
	styles    []int    // of markers that the tokenizer can write, best first
	prefix    int      // tokens that a translation begins with
}

// NewModel makes a model. It fails where the tokenizer or the search does not fit it.
func NewModel(cfg ModelConfig) (*Model, error) {
	for _, code := range cfg.Languages {
		id, ok := cfg.Tokenizer.LanguageID(code)
		switch {
		case !ok:
			return nil, fmt.Errorf("the model's language %q is none of the tokenizer's", code)
		case id >= int64(cfg.Spec.SourceRows()):
			return nil, fmt.Errorf("the tokenizer gives language %q the id %d, but the model's vocabulary ends at %d: "+
				"the tokenizer's files do not belong to this model", code, id, cfg.Spec.SourceRows()-1)
		}
	}
	if len(cfg.Languages) == 0 {
		return nil, errors.New("the model has no languages")
	}
	if err := cfg.Search.Validate(); err != nil {
		return nil, err
	}
	cfg.Limits.Beams = max(cfg.Limits.Beams, cfg.Search.Beams)
	cfg.Limits.MaxLength = max(cfg.Limits.MaxLength, cfg.Search.MaxLength)
	if limit := cfg.Spec.MaxPositions; cfg.Limits.MaxLength > limit {
		return nil, fmt.Errorf("max length is %d, but the model has %d positions: use at most that", cfg.Limits.MaxLength, limit)
	}
	m := &Model{ModelConfig: cfg, languages: slices.Sorted(slices.Values(cfg.Languages))}
	from, to := m.anyPair()
	if _, err := cfg.Tokenizer.Encode(from, to, ""); err != nil {
		return nil, err
	}
	m.prefix = len(m.prefixOf(from, to))
	m.findStyles()
	return m, nil
}

// anyPair is a language that the model translates from and one that it translates into, which is
// the same only if there is no other.
func (m *Model) anyPair() (from, to string) {
	from, to = m.languages[0], m.languages[len(m.languages)-1]
	if len(m.Sources) > 0 {
		from = slices.Min(m.Sources)
	}
	if len(m.Targets) > 0 {
		if to = slices.Max(m.Targets); to == from {
			to = slices.Min(m.Targets)
		}
	}
	return from, to
}

// framingOf is how many tokens of a source stand around its text. Where the tokenizer does not know the languages, texts will say so.
func (m *Model) framingOf(from, to string) int {
	ids, _ := m.Tokenizer.Encode(from, to, "")
	return len(ids)
}

// prefixOf returns the tokens that the decoder is given at first.
func (m *Model) prefixOf(from, to string) []int64 {
	return append([]int64{m.Spec.DecoderStart}, m.Tokenizer.Forced(from, to)...)
}

// Probe is a short text's job of a few steps, to see with that the model runs. Whether its translation is a good
// one, or ends, does not matter.
func (m *Model) Probe() (engine.Job, error) {
	const steps = 4 // without a bound, a model that does not know the text may go on to its longest translation
	from, to := m.anyPair()
	ids, err := m.Tokenizer.Encode(from, to, "1")
	job := engine.Job{Source: ids, Prefix: m.prefixOf(from, to), Search: m.Search}
	job.Search.MaxLength = min(job.Search.MaxLength, len(job.Prefix)+steps)
	job.Search.MinLength = min(job.Search.MinLength, job.Search.MaxLength)
	return job, err
}

// Healthy fails where translations do not go on.
func (m *Model) Healthy() error { return m.Engine.Err() }

// search returns the model's settings with a request's changes.
func (m *Model) search(o Options) (search.Options, error) {
	options, limits := m.Search, m.Limits
	switch {
	case o.Beams < 0 || o.Beams > limits.Beams:
		return options, invalid(CodeInvalidOption, "options.beams", "beams is %d: use 1 to %d", o.Beams, limits.Beams)
	case o.MaxLength != 0 && (o.MaxLength <= m.prefix || o.MaxLength > limits.MaxLength):
		return options, invalid(CodeInvalidOption, "options.maxLength", "maxLength is %d: use %d to %d",
			o.MaxLength, m.prefix+1, limits.MaxLength)
	}
	if o.Beams > 0 {
		options.Beams = o.Beams
	}
	if o.MaxLength > 0 {
		options.MaxLength = o.MaxLength
		options.MinLength = min(options.MinLength, o.MaxLength)
	}
	if o.LengthPenalty != nil {
		options.LengthPenalty = *o.LengthPenalty
	}
	if o.NoRepeatNgramSize != nil {
		options.NoRepeatNgramSize = *o.NoRepeatNgramSize
	}
	if o.RepetitionPenalty != nil {
		options.RepetitionPenalty = *o.RepetitionPenalty
	}
	if err := options.Validate(); err != nil {
		return options, invalid(CodeInvalidOption, "options", "%s", err)
	}
	return options, nil
}

// findStyles looks which markers the tokenizer can write: a model whose vocabulary has
// no brackets, say, cannot copy any.
func (m *Model) findStyles() {
	ctx := context.Background() // of so short a text
	sample, _ := markup.Parse(ctx, "a {b} c", markup.Text)
	for style := range markup.Styles {
		masked, ok, _ := sample.Mask(ctx, style)
		if !ok {
			continue
		}
		ids, err := m.Tokenizer.EncodeTarget(masked.Text)
		if err == nil && strings.TrimSpace(m.Tokenizer.Decode(ids)) == masked.Text {
			m.styles = append(m.styles, style)
		}
	}
}
