package model

import (
	"context"
	"time"
)

// Model is a loaded encoder/decoder. It is safe for concurrent use; its batches are not.
type Model interface {
	Spec() Spec
	// Footprint returns the memory of decoding with this model.
	Footprint() Footprint
	// NewBatch returns an empty batch with room for limits. The caller must close it.
	NewBatch(limits Limits) (Batch, error)
	// Close releases the model. Every batch must be closed before.
	Close() error
}

// Footprint is the memory, in bytes, of the state of a batch.
type Footprint struct {
	// RowToken is the memory of a token in the KV cache of one row.
	RowToken int64
	// SourceToken is the memory of a source token of one sentence, whose cross-attention keys and values all of the sentence's
	// rows share.
	SourceToken int64
}

// Limits are the capacity of a batch. Memory is reserved for the whole capacity, and taken when it is first used.
type Limits struct {
	Rows      int // of all sentences together
	MaxLength int // decoder tokens of a row, including the forced prefix
}

// Batch is the decoding state (cross-attention keys and values, KV cache) of a changing set of sentences that share every decoder
// step. A sentence occupies a slot, which is a number from 0 to Len()-1, and has a row for each of its hypotheses: one row in
// greedy search and in the sentence's first step, later as many as beams.
//
// Sentences may Join and Leave between any two steps, and rows of different lengths, sentences of different widths decode
// together: continuous batching. A batch must be used by one goroutine. An error from Join or Step that wraps [ErrInput] changes
// nothing; after any other error the batch is broken and can only be closed.
type Batch interface {
	// Len returns the number of sentences.
	Len() int
	// Join encodes the sources, each [srcLen] ids (language token, pieces, </s>), and appends the sentences as slots Len() to
	// Len()+n-1. The new sentences have not been fed a token yet.
	Join(ctx context.Context, sources [][]int64) error
	// Begin begins to encode a source between steps. The source takes the room of a sentence, which is appended to the batch once
	// the source is encoded.
	Begin(ctx context.Context, source []int64) (Encoding, error)
	// Step feeds sentences: feeds has an entry for each slot, the zero Feed for a sentence that does not take part; at least one
	// must take part. Step returns the k best continuations of every row, slot by slot: one row for a sentence that is fed its
	// prefix, len(Tokens) rows for any other.
	Step(ctx context.Context, feeds []Feed, k int) (Candidates, error)
	// Leave removes the sentence in slot i. The sentence in the last slot moves to i.
	Leave(i int)
	// Close releases the batch.
	Close() error
}

// Encoding is a source that is encoded in pieces, between the calls of its batch. An Encoding ends with its batch.
type Encoding interface {
	// Continue continues for about most, and reports whether the sentence has joined the batch. Its errors are like those of
	// Join. After an error, or once done, Continue must not be called again.
	Continue(ctx context.Context, most time.Duration) (done bool, err error)
}

// BeginWhole implements [Batch].Begin by encoding the whole source when Continue is called.
func BeginWhole(b Batch, source []int64) Encoding { return whole{b, source} }

type whole struct {
	batch  Batch
	source []int64
}

func (w whole) Continue(ctx context.Context, _ time.Duration) (bool, error) {
	return true, w.batch.Join(ctx, [][]int64{w.source})
}

// Feed is the input of a sentence in one step.
type Feed struct {
	// Tokens has a token for each of the sentence's rows from now on. The first feed of a sentence is its forced prefix instead:
	// one or more tokens of its only row, which are fed at once.
	Tokens []int64
	// Parents are the rows of the sentence's last step whose state the rows take over before the token is fed. The first feed of
	// a sentence has none.
	Parents []int
}

// Candidates are the best continuations of R rows. The slices belong to the batch and are valid until its next call.
type Candidates struct {
	K        int
	LogProbs []float32 // [R, K], log-probabilities, best first
	IDs      []int64   // [R, K], their token ids
	// LogSumExp is [R]: a logit is its log-probability plus this value.
	LogSumExp []float32
}

// Row has the candidates of one row: K log-probabilities and ids, best first, and the log-sum-exp of the row's logits.
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
