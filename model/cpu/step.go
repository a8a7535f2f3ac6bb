package cpu

import (
	"unsafe"

	"dragoman/model"
	"dragoman/model/batch"
	"dragoman/model/onnxruntime"
)

// step is the decoder bound to its inputs and outputs.
type step struct {
	session *onnxruntime.Session
	*tensors
	// histories [2·rows, positions] are two histories for each row of the KV cache: for each position of a hypothesis, the row
	// that has its token.
	histories buffer
	positions int
}

func newStep(session *onnxruntime.Session, limits model.Limits) (step, error) {
	histories, err := newBuffer(2 * limits.Rows * limits.MaxLength * 4)
	return step{session: session, histories: histories, positions: limits.MaxLength}, err
}

// history returns the history with index i.
func (s *step) history(i int32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(&s.histories[4*int(i)*s.positions])), s.positions)
}

// close frees the memory; the step must not be used afterwards.
func (s *step) close() {
	s.tensors.close()
	s.histories.free()
}

// run runs a step. The candidates are valid until the next step.
func (s *step) run(rows []batch.Row, k int, kv, cross *store, allowed *allowed) (_ model.Candidates, err error) {
	if s.tensors == nil {
		if s.tensors, err = newTensors(s.session); err != nil {
			return model.Candidates{}, err
		}
		kv.bind(s.binding, "kv")
		cross.bind(s.binding, "cross")
		allowed.bind(s.binding, false)
	}
	sentences, wanted := 0, 0
	for i, row := range rows {
		if endsSentence(rows, i) {
			sentences++
		}
		if row.Wanted {
			wanted++
		}
	}
	s.fill(rows, sentences, wanted, kv.capacity)
	input[int64](s.tensors, "k", 1)[0] = int64(k)
	c := model.Candidates{
		K: k, LogProbs: output[float32](s.tensors, "val", wanted, k), IDs: output[int64](s.tensors, "idx", wanted, k),
		LogSumExp: output[float32](s.tensors, "lse", wanted),
	}
	return c, s.tensors.run()
}

// fill updates the histories and fills the inputs. sentences is the number of sentences, wanted the number of rows with Wanted
// set.
func (s *step) fill(rows []batch.Row, sentences, wanted, capacity int) {
	ids, positions := input[int64](s.tensors, "ids", len(rows)), input[int64](s.tensors, "pos", len(rows))
	kvRows, histories := input[int32](s.tensors, "rows", len(rows)), input[int32](s.tensors, "history", len(rows), capacity)
	groups := input[int32](s.tensors, "groups", sentences+1)
	slots, lengths := input[int32](s.tensors, "slots", sentences), input[int32](s.tensors, "lengths", sentences)
	want := input[int64](s.tensors, "wanted", wanted)

	groups[0] = 0
	group, out := 0, 0
	for r, row := range rows {
		history := s.history(row.To)
		if row.From != row.To {
			copy(history, s.history(row.From)[:row.Position])
		}
		history[row.Position] = row.KV
		copy(histories[r*capacity:], history[:row.Position+1])

		ids[r], positions[r], kvRows[r] = int64(row.Token), int64(row.Position), row.KV
		if row.Wanted {
			want[out] = int64(r)
			out++
		}
		if endsSentence(rows, r) {
			groups[group+1], slots[group], lengths[group] = int32(r+1), row.Slot, row.Length
			group++
		}
	}
}

// endsSentence reports whether row i is the last one of its sentence.
func endsSentence(rows []batch.Row, i int) bool {
	return i+1 == len(rows) || rows[i+1].Slot != rows[i].Slot
}
