package engine

import (
	"container/list"
	"encoding/binary"
	"slices"
	"time"

	"dragoman/app/schedule"
	"dragoman/model"
	"dragoman/model/search"
)

// sequence is one sentence on its way from the queue through the batch to its result. It belongs to the loop.
type sequence struct {
	schedule.Sentence
	key     key
	job     Job           // with its own copy of the ids
	took    float64       // actual cost so far: weight of its steps, and source tokens
	by      *local        // the session that its tokens count for
	waiters []*waiter     // receivers of the result; without any, the sequence is not needed
	arrival *list.Element // arrival time, among the loop's arrivals

	// Its place in the batch.
	admitted time.Time
	number   uint64           // number of the admission
	encoding model.Encoding   // nil unless the source is being encoded between the steps
	fed      int              // number of fed tokens
	rests    bool             // does not take part in this step
	slot     int              // outside until the sequence has joined
	first    bool             // whether it is the first of the sequences that joined together
	decoding *search.Sequence // nil until admission
}

// outside is the value of slot of a sequence that has no slot.
const outside = -1

func newSequence(job Job, k key, m model.Model) *sequence {
	ids := slices.Concat(job.Source, job.Prefix)
	job.Source, job.Prefix = ids[:len(job.Source):len(job.Source)], ids[len(job.Source):]
	job.Phrases = search.ClonePhrases(job.Phrases)
	return &sequence{
		Sentence: sizeOf(job.Search.Beams, job.Search.MaxLength, len(job.Source), m.Footprint()),
		key:      k,
		job:      job,
		slot:     outside,
	}
}

// join adds a call to the waiters.
func (s *sequence) join(c *call) *waiter {
	w := &waiter{call: c, index: len(s.waiters)}
	s.waiters = append(s.waiters, w)
	c.waits[s] = w
	return w
}

// leave removes a waiter.
func (s *sequence) leave(w *waiter) {
	last := len(s.waiters) - 1
	s.waiters[w.index] = s.waiters[last]
	s.waiters[w.index].index = w.index
	s.waiters[last] = nil
	s.waiters = s.waiters[:last]
}

// key is equal for jobs that have the same result. Valid options have no NaN in any field, so a key equals itself.
type key struct {
	search search.Options
	source int // number of source ids
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
	for _, phrase := range job.Phrases {
		raw = appendForms(appendForms(raw, phrase.Forms), phrase.First)
	}
	return key{job.Search, len(job.Source), string(raw)}
}

func appendForms(raw []byte, forms [][]int64) []byte {
	raw = binary.AppendUvarint(raw, uint64(len(forms)))
	for _, form := range forms {
		raw = binary.AppendUvarint(raw, uint64(len(form)))
		for _, id := range form {
			raw = binary.AppendUvarint(raw, uint64(id))
		}
	}
	return raw
}
