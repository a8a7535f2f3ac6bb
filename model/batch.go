package model

import "context"

// Model is a loaded encoder/decoder. It is safe for concurrent use; its batches
// are not.
type Model interface {
	Spec() Spec
	// NewBatch makes an empty batch whose sentences decode with width rows
	// (beams) each. The caller closes it.
	NewBatch(width int) (Batch, error)
	// Close releases the model. Every batch must be closed before.
	Close() error
}

// Source is one sentence to decode.
type Source struct {
	// IDs are the encoder's input, [srcLen]: language token, pieces, </s>.
	IDs []int64
	// Prefix are the forced decoder tokens: the decoder start token and the
	// target language token. It is not empty.
	Prefix []int64
}

// Batch is the decoding state (cross-attention keys and values, KV cache) of a
// changing set of sentences that share every decoder step. A sentence occupies
// a slot, 0 to Len()-1; with a batch of width W it owns W rows, one per beam.
//
// Sentences may Join and Leave between any two steps, and rows of different
// lengths decode together: this is what continuous batching needs. A batch is
// used by one goroutine. After an error from Join or Step the batch is broken
// and can only be closed.
type Batch interface {
	// Len is the number of sentences, S.
	Len() int
	// Width is the number of rows of a sentence, W.
	Width() int
	// Join encodes the sources, feeds each its prefix and appends the sentences
	// as slots Len() to Len()+n-1. It returns the k best continuations of each
	// prefix, [n, 1, k]: at first a sentence has one row, and the first Step
	// fans it out to its W rows (parents 0).
	Join(ctx context.Context, sources []Source, k int) (Candidates, error)
	// Step feeds one token to every row and returns the k best continuations of
	// each, [S, W, k]. tokens and parents are [S, W], row by row: before the
	// token is fed, a row takes over the state of row parents[s*W+w] of its own
	// sentence.
	Step(ctx context.Context, tokens []int64, parents []int, k int) (Candidates, error)
	// Leave removes the sentence in slot i. The sentence in the last slot moves
	// to i.
	Leave(i int)
	// Close releases the batch.
	Close() error
}

// Candidates are the best continuations of every row of a batch. The slices
// belong to the batch and hold until its next call.
type Candidates struct {
	Sentences, Width, K int
	LogProbs            []float32 // [Sentences, Width, K], log-probabilities, best first
	IDs                 []int64   // [Sentences, Width, K], their token ids
	// LogSumExp is [Sentences, Width]: a logit is its log-probability plus this.
	LogSumExp []float32
}

// Row is the candidates of one row: K log-probabilities and ids, best first,
// and the log-sum-exp of the row's logits.
type Row struct {
	LogProbs  []float32
	IDs       []int64
	LogSumExp float32
}

// Row returns the candidates of a sentence's row.
func (c Candidates) Row(sentence, row int) Row {
	r := sentence*c.Width + row
	return Row{
		LogProbs:  c.LogProbs[r*c.K : (r+1)*c.K],
		IDs:       c.IDs[r*c.K : (r+1)*c.K],
		LogSumExp: c.LogSumExp[r],
	}
}
