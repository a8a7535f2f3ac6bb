package httpapi

import (
	"math"
	"time"

	"dragoman/app/translate"
)

// recordOutput is a translated record.
type recordOutput struct {
	ID     string        `json:"id"`
	ToLang string        `json:"toLang,omitempty"` // where several languages were asked for
	Text   string        `json:"text"`
	Detail *detailOutput `json:"detail,omitempty"` // where it was asked for
}

// detailOutput says how a translation was made.
type detailOutput struct {
	FromLang     string          `json:"fromLang,omitempty"` // missing where none could be detected
	Detected     bool            `json:"detected"`
	Segments     []segmentOutput `json:"segments"`
	SourceTokens int             `json:"sourceTokens"`
	TargetTokens int             `json:"targetTokens"`
	Score        float64         `json:"score"`
	CacheHit     bool            `json:"cacheHit"`
	QueueMs      float64         `json:"queueMs"`
	ComputeMs    float64         `json:"computeMs"`
	Flags        []string        `json:"flags"`
}

// segmentOutput is a sentence and its translation.
type segmentOutput struct {
	Source string   `json:"source"`
	Text   string   `json:"text"`
	Flags  []string `json:"flags,omitempty"`
}

// output makes the answer's entry of a result.
func (req *translationRequest) output(r translate.Result) recordOutput {
	out := recordOutput{ID: r.ID, Text: r.Text}
	if req.languages {
		out.ToLang = r.To
	}
	if !req.detail {
		return out
	}
	segments := make([]segmentOutput, len(r.Segments))
	for i, s := range r.Segments {
		segments[i] = segmentOutput{Source: s.Source, Text: s.Text, Flags: s.Flags.Names()}
	}
	out.Detail = &detailOutput{
		FromLang: r.From, Detected: r.Detected, Segments: segments,
		SourceTokens: r.SourceTokens, TargetTokens: r.TargetTokens, Score: math.Round(r.Score*1e4) / 1e4,
		CacheHit: r.Cached && !r.Decoded, QueueMs: milliseconds(r.Queued), ComputeMs: milliseconds(r.Computed),
		Flags: r.Flags.Names(),
	}
	return out
}

// milliseconds has microseconds as its smallest unit.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
