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

// Tokenizer converts text to token ids and back. It is safe for concurrent use.
type Tokenizer interface {
	// Encode returns the source of a translation from one language into another, with the special tokens around the text.
	Encode(from, to, text string) ([]int64, error)
	// Forced returns the tokens with which a translation from one language into another begins.
	Forced(from, to string) []int64
	// Decode returns the text of a translation's ids, without special tokens.
	Decode(ids []int64) string
	// LanguageID returns the token of a language, below 0 if it has none.
	LanguageID(code string) (id int64, ok bool)
	// EncodeTarget returns the tokens of a text as part of a translation.
	EncodeTarget(text string) ([]int64, error)
}

// Engine decodes sentences. It takes jobs from next, and calls each with every result as soon as it is available, one call at a
// time; see [engine.Engine.Stream]. It is safe for concurrent use.
type Engine interface {
	Stream(ctx context.Context, req engine.Request,
		next func() (job engine.Job, ok bool, err error), each func(job int, r engine.Result) error) error
	// Err returns the reason why decoding has stopped, or nil while it continues.
	Err() error
}

// ModelConfig is the configuration of a [Model].
type ModelConfig struct {
	Name, Version string // for details and metrics
	Tokenizer     Tokenizer
	Engine        Engine
	Spec          model.Spec
	// Languages are the codes of the offered languages.
	Languages []string
	// Sources and Targets are the languages from and into which the model translates; empty means all.
	Sources, Targets []string
	// Search are the default search settings.
	Search search.Options
	Limits Limits // limits of a request's options, including Search
	// Prompted is set for a language model.
	Prompted *Prompted
	// Identity distinguishes this model's translations in a cache: it must change with everything that changes a translation
	// (weights, precision, tokenizer), as the checksum of the manifest does. With "", translations are not cached.
	Identity string
}

// Prompted describes how a language model is asked.
type Prompted struct {
	Paragraphs bool // paragraphs are translated in one piece
	Neighbours int  // number of sentences before a sentence that the model is told
}

// Model is a loaded model. It is safe for concurrent use.
type Model struct {
	ModelConfig
	languages []string // sorted
	styles    []int    // styles of markers that the tokenizer can write, best first
	prefix    int      // number of tokens with which a translation begins
}

// NewModel returns a model. It fails if the tokenizer or the search does not fit the model.
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

// anyPair returns a source and a target language of the model, which differ unless it has only one.
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

// framingOf returns the number of special tokens around the text of a source. A tokenizer that lacks the languages fails on
// texts.
func (m *Model) framingOf(from, to string) int {
	ids, _ := m.Tokenizer.Encode(from, to, "")
	return len(ids)
}

// prefixOf returns the first tokens given to the decoder.
func (m *Model) prefixOf(from, to string) []int64 {
	return append([]int64{m.Spec.DecoderStart}, m.Tokenizer.Forced(from, to)...)
}

// Probe returns a job of a few steps with a short text, to test that the model runs. The quality of the translation, or its end,
// does not matter.
func (m *Model) Probe() (engine.Job, error) {
	const steps = 4 // otherwise a model may go on to its maximum length
	from, to := m.anyPair()
	ids, err := m.Tokenizer.Encode(from, to, "1")
	job := engine.Job{Source: ids, Prefix: m.prefixOf(from, to), Search: m.Search}
	job.Search.MaxLength = min(job.Search.MaxLength, len(job.Prefix)+steps)
	job.Search.MinLength = min(job.Search.MinLength, job.Search.MaxLength)
	return job, err
}

// Healthy fails if decoding has stopped.
func (m *Model) Healthy() error { return m.Engine.Err() }

// search returns the model's search settings with a request's changes.
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

// findStyles determines the styles of markers that the tokenizer can write: a model whose vocabulary lacks brackets, for
// instance, cannot copy them.
func (m *Model) findStyles() {
	ctx := context.Background() // not a request's, because the text is very short
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
