package engine

import (
	"dragoman/app/schedule"
	"dragoman/model"
)

// sizeOf returns the size of a sentence in the batch at its full length.
func sizeOf(beams, maxLength, sourceTokens int, f model.Footprint) schedule.Sentence {
	return schedule.Sentence{
		Tokens: sourceTokens, Rows: beams,
		Bytes: int64(beams)*int64(maxLength)*f.RowToken + int64(sourceTokens)*f.SourceToken,
	}
}

// costsOf estimates costs by counting multiply-adds.
func costsOf(s model.Spec) schedule.Costs {
	d, inner, matrices := float64(s.DModel), float64(s.Decoder.Inner(s.DModel)), float64(s.FFNMatrices())
	row := float64(s.Decoder.Layers)*(6*d*inner+matrices*d*float64(s.Decoder.FFN)) + float64(s.VocabSize)*d
	return schedule.Costs{
		Attended: max(1, row/max(1, 2*inner*float64(s.Decoder.Layers))),
		Quadrat:  max(1, 2*d+matrices/2*float64(s.Encoder.FFN)),
	}
}

// Pool is memory for decoding state that the engines of several models share. It is safe for concurrent use.
type Pool interface {
	// Take takes some bytes if that many are left, or in any case if must is set.
	Take(bytes int64, must bool) (ok bool)
	// Give returns bytes that were taken.
	Give(bytes int64)
}
