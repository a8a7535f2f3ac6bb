package engine

import (
	"encoding/binary"
	"slices"
	"time"

	"dragoman/model"
	"dragoman/model/search"
)

// sequence is one sentence on its way from the queue through the batch to its
// result. It belongs to the loop.
type sequence struct {
	key     key
	job     Job // with ids of its own
	cost    cost
	waiters []waiter // who gets the result; when none is left, it is not needed

	// Its place in the queue, see queue.go.
	due    time.Time
	number uint64
	index  int // in the heap, outside while it does not wait

	// Its place in the batch.
	admitted time.Time
	slot     int              // outside until it has joined
	decoding *search.Sequence // nil until it is admitted
}

// outside is the index or slot of a sequence that has none.
const outside = -1

// waiter is a job of a call that waits for a sequence.
type waiter struct {
	call *call
	job  int
}

func newSequence(job Job, footprint model.Footprint) *sequence {
	ids := slices.Concat(job.Source, job.Prefix)
	job.Source, job.Prefix = ids[:len(job.Source):len(job.Source)], ids[len(job.Source):]
	return &sequence{
		key:   keyOf(job),
		job:   job,
		cost:  costOf(job.Search.Beams, job.Search.MaxLength, len(job.Source), footprint),
		index: outside,
		slot:  outside,
	}
}

// waits says whether the sequence is in the queue.
func (s *sequence) waits() bool { return s.index != outside }

// key is equal for jobs that have the same result. Valid options hold no NaN in
// any field, so a key equals itself.
type key struct {
	search search.Options
	ids    string
}

func keyOf(job Job) key {
	raw := make([]byte, 0, 3*(len(job.Prefix)+len(job.Source))+1)
	raw = binary.AppendUvarint(raw, uint64(len(job.Prefix)))
	for _, ids := range [][]int64{job.Prefix, job.Source} {
		for _, id := range ids {
			raw = binary.AppendUvarint(raw, uint64(id))
		}
	}
	return key{job.Search, string(raw)}
}
