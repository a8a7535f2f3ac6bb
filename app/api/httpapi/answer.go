package httpapi

import (
	"math"
	"time"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// recordOutput is a translated record.
type recordOutput struct {
	ID     string `json:"id"`
	ToLang string `json:"toLang,omitempty"` // if several languages were requested
	Text   string `json:"text"`
	// Error is present if the record alone failed: then there is no text. Requests for details get what there is, with flags.
	Error *errorDetail `json:"error,omitempty"`
	// Alternatives are present if requested.
	Alternatives []alternativeOutput `json:"alternatives,omitempty"`
	Detail       *detailOutput       `json:"detail,omitempty"` // if requested
}

// alternativeOutput is one of the best translations of a text; the first is the best.
type alternativeOutput struct {
	Text  string  `json:"text"`
	Score float64 `json:"score"`
	// Memory is present if the text is the translation of a similar sentence in the translation memory.
	Memory *matchOutput `json:"memory,omitempty"`
}

// matchOutput is an entry of a translation memory.
type matchOutput struct {
	Source     string  `json:"source"`
	Similarity float64 `json:"similarity"`
}

func matchOf(m *translate.MemoryMatch) *matchOutput {
	if m == nil {
		return nil
	}
	return &matchOutput{m.Source, math.Floor(m.Similarity*100) / 100}
}

// detailOutput tells how a translation was made.
type detailOutput struct {
	Model        string          `json:"model,omitempty"` // missing if no model was needed
	Version      string          `json:"version,omitempty"`
	InsteadOf    string          `json:"insteadOf,omitempty"` // the preferred model, if its server is away
	FromLang     string          `json:"fromLang,omitempty"`  // missing if no language was detected
	Detected     bool            `json:"detected"`
	Segments     []segmentOutput `json:"segments"`
	SourceTokens int             `json:"sourceTokens"`
	TargetTokens int             `json:"targetTokens"`
	Score        float64         `json:"score"`
	CacheHit     bool            `json:"cacheHit"`
	Memory       *memoryUse      `json:"memory,omitempty"` // if the request names a translation memory
	QueueMs      float64         `json:"queueMs"`
	ComputeMs    float64         `json:"computeMs"`
	Flags        []string        `json:"flags"`
}

// memoryUse tells how many segments have their translation from the translation memory.
type memoryUse struct {
	Segments int `json:"segments"`
}

// segmentOutput is a sentence and its translation.
type segmentOutput struct {
	Source string   `json:"source"`
	Text   string   `json:"text"`
	Flags  []string `json:"flags,omitempty"`
	// Alternatives are present if requested.
	Alternatives []alternativeOutput `json:"alternatives,omitempty"`
	Steps        []stepOutput        `json:"steps,omitempty"` // if there are several
	Memory       *matchOutput        `json:"memory,omitempty"`
}

// stepOutput is the output of one step of a pipeline for a sentence.
type stepOutput struct {
	Model    string   `json:"model"`
	Version  string   `json:"version"`
	FromLang string   `json:"fromLang"`
	ToLang   string   `json:"toLang"`
	Text     string   `json:"text"`
	Score    float64  `json:"score"`
	CacheHit bool     `json:"cacheHit"`
	Flags    []string `json:"flags,omitempty"`
}

// output returns a result's entry in the answer.
func (req *translationRequest) output(r translate.Result) recordOutput {
	out := recordOutput{ID: r.ID, Text: r.Text, Alternatives: alternativesOf(r.Alternatives)}
	if req.languages {
		out.ToLang = r.To
	}
	if !req.detail {
		if r.Flags.Has(translate.Truncated) {
			f := unfinished("")
			out.Text, out.Alternatives, out.Error = "", nil, &errorDetail{Code: f.Code(), Message: f.Message}
		}
		return out
	}
	segments := make([]segmentOutput, len(r.Segments))
	for i, s := range r.Segments {
		segments[i] = segmentOutput{Source: s.Source, Text: s.Text, Flags: s.Flags.Names(), Alternatives: alternativesOf(s.Alternatives), Steps: stepsOf(s), Memory: matchOf(s.Memory)}
	}
	out.Detail = &detailOutput{
		Model: r.Model, Version: r.Version, InsteadOf: r.InsteadOf,
		FromLang: r.From, Detected: r.Detected, Segments: segments,
		SourceTokens: r.SourceTokens, TargetTokens: r.TargetTokens, Score: rounded(r.Score),
		CacheHit: r.Cached && !r.Decoded, QueueMs: milliseconds(r.Queued), ComputeMs: milliseconds(r.Computed),
		Flags: r.Flags.Names(),
	}
	if req.Memory != nil {
		out.Detail.Memory = &memoryUse{r.Remembered}
	}
	return out
}

// unfinished returns the failure of a record.
func unfinished(field string) *fault.Failure {
	return fault.New(fault.Unfinished, field, "the translation reached the limit of tokens before its end: send shorter sentences, or set payload.detail to get what there is")
}

func alternativesOf(list []translate.Alternative) []alternativeOutput {
	var alternatives []alternativeOutput
	for _, a := range list {
		alternatives = append(alternatives, alternativeOutput{a.Text, rounded(a.Score), matchOf(a.Memory)})
	}
	return alternatives
}

// stepsOf returns the steps of a sentence, if there are several.
func stepsOf(s translate.Segment) []stepOutput {
	var steps []stepOutput
	for _, step := range s.Steps {
		steps = append(steps, stepOutput{
			Model: step.Model, Version: step.Version, FromLang: step.From, ToLang: step.To,
			Text: step.Text, Score: rounded(step.Score), CacheHit: step.Cached, Flags: step.Flags.Names(),
		})
	}
	return steps
}

// rounded returns a score rounded to its significant digits.
func rounded(score float64) float64 { return math.Round(score*1e4) / 1e4 }

// milliseconds returns d in milliseconds, with microsecond resolution.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
