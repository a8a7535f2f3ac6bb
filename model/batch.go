package model

import (
	"context"
	"time"
)

// Model is a loaded encoder/decoder. It is safe for concurrent use; its batches
// are not.
type Model interface {
	Spec() Spec
	// Footprint is what decoding on this model takes of memory.
	Footprint() Footprint
	// NewBatch makes an empty batch with room for limits. The caller closes it.
	NewBatch(limits Limits) (Batch, error)
	// Close releases the model. Every batch must be closed before.
	Close() error
}

// Footprint is the memory, in bytes, that the state of a batch takes.
type Footprint struct {
	// RowToken is a token in the KV cache of one row.
	RowToken int64
	// SourceToken is a source token of one sentence, whose cross-attention keys
	// and values all of the sentence's rows share.
	SourceToken int64
}

// Limits are what a batch has room for. Memory is reserved for all of it and
// taken when it is used first.
type Limits struct {
	Rows      int // of all sentences together
	MaxLength int // decoder tokens of a row, the forced prefix included
}

// Batch is the decoding state (cross-attention keys and values, KV cache) of a
// changing set of sentences that share every decoder step. A sentence occupies a
// slot, 0 to Len()-1, and has one row for each of its hypotheses: one in greedy
// search and in its first step, as many as there are beams later.
//
// Sentences may Join and Leave between any two steps, and rows of different
// lengths, sentences of different widths decode together: this is what continuous
// batching needs. A batch is used by one goroutine. An error from Join or Step
// that wraps [ErrInput] changes nothing; after any other the batch is broken and
// can only be closed.
type Batch interface {
	// Len is the number of sentences.
	Len() int
	// Join encodes the sources, each [srcLen] ids (language token, pieces, </s>),
	// and appends the sentences as slots Len() to Len()+n-1. None of them has been
	// fed a token.
	Join(ctx context.Context, sources [][]int64) error
	// Begin begins to encode a source beside the steps. It takes the place of a sentence, and
	// is appended when it has been encoded.
	Begin(ctx context.Context, source []int64) (Encoding, error)
	// Step feeds sentences: feeds has an entry for each slot, the zero Feed for one that
	// rests; one takes part at least. It returns the k best continuations of every row, slot
	// by slot: one row for a sentence that is fed its prefix, len(Tokens) rows for any other.
	Step(ctx context.Context, feeds []Feed, k int) (Candidates, error)
	// Leave removes the sentence in slot i. The sentence in the last slot moves
	// to i.
	Leave(i int)
	// Close releases the batch.
	Close() error
}

// Encoding is a source that is encoded bit by bit, between the calls of its batch. The batch's
// end is its own.
type Encoding interface {
	// Continue goes on for about so long, or a little, and says whether the sentence has joined
	// the batch. Its errors are as those of Join; after one, or done, it is not called again.
	Continue(ctx context.Context, most time.Duration) (done bool, err error)
}

// BeginWhole is a [Batch]'s Begin that encodes the source as a whole, when Continue is called.
func BeginWhole(b Batch, source []int64) Encoding { return whole{b, source} }

type whole struct {
	batch  Batch
	source []int64
}

func (w whole) Continue(ctx context.Context, _ time.Duration) (bool, error) {
	return true, w.batch.Join(ctx, [][]int64{w.source})
}

// Feed is what a sentence is fed in one step.
type Feed struct {
	// Tokens has a token for each of the rows that the sentence has from now on.
	// The first feed of a sentence is its forced prefix instead: one or more tokens
	// of its only row, which are fed at once.
	Tokens []int64
	// Parents are the rows of the sentence's last step whose state the rows take
	// over before the token is fed. The first feed of a sentence has none.
	Parents []int
}

// Candidates are the best continuations of R rows. The slices belong to the batch
// and hold until its next call.
type Candidates struct {
	K        int
	LogProbs []float32 // [R, K], log-probabilities, best first
	IDs      []int64   // [R, K], their token ids
	// LogSumExp is [R]: a logit is its log-probability plus this.
	LogSumExp []float32
}

// Row is the candidates of one row: K log-probabilities and ids, best first,
// and the log-sum-exp of the row's logits.
type Row struct {
	LogProbs  []float32
	IDs       []int64
	LogSumExp float32
}

// Row returns the candidates of row r.
func (c Candidates) Row(r int) Row {
	return Row{
		LogProbs:  c.LogProbs[r*c.K : (r+1)*c.K],
		IDs:       c.IDs[r*c.K : (r+1)*c.K],
		LogSumExp: c.LogSumExp[r],
	}
}
