package cpu

import (
	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model"
	"dragoman/model/batch"
)

// step is the decoder bound to its inputs and outputs. A tensor is made again only
// when its shape has changed, so a steady batch decodes without.
type step struct {
	session *ort.DynamicAdvancedSession
	bound   *binding
	arena   arena
	// histories holds two histories for each row of the KV cache: the rows in which a
	// hypothesis finds its tokens, by position.
	histories [][]int32
	layout
}

// layout is where a step's inputs and outputs lie, and their sizes.
type layout struct {
	rows, sentences, wanted, k int

	ids, pos       buffer // int64 [rows]
	kvRows         buffer // int32 [rows]
	history        buffer // int32 [rows, capacity]
	groups         buffer // int32 [sentences+1]
	slots, lengths buffer // int32 [sentences]
	want           buffer // int64 [wanted]
	count          buffer // int64 [1]
	logProbs       buffer // float32 [wanted, k]
	best           buffer // int64 [wanted, k]
	logSumExp      buffer // float32 [wanted]
}

func newStep(session *ort.DynamicAdvancedSession, limits model.Limits) step {
	s := step{session: session, histories: make([][]int32, 2*limits.Rows)}
	all := make([]int32, len(s.histories)*limits.MaxLength)
	for i := range s.histories {
		s.histories[i] = all[i*limits.MaxLength:][:limits.MaxLength]
	}
	return s
}

// run runs a step. The candidates hold until the next one.
func (s *step) run(rows []batch.Row, k int, kv, cross *store) (_ model.Candidates, err error) {
	if s.bound == nil {
		if s.bound, err = newBinding(s.session); err != nil {
			return model.Candidates{}, err
		}
		kv.bind(s.bound, "kv")
		cross.bind(s.bound, "cross")
	}
	if err := s.begin(rows, k, kv.capacity); err != nil {
		return model.Candidates{}, err
	}
	s.fill(rows, kv.capacity)
	s.bind(kv.capacity)
	if err := s.bound.run(); err != nil {
		return model.Candidates{}, err
	}
	n := s.wanted * k
	return model.Candidates{
		K: k, LogProbs: view[float32](s.logProbs, n), IDs: view[int64](s.best, n),
		LogSumExp: view[float32](s.logSumExp, s.wanted),
	}, nil
}

// begin lays out a step.
func (s *step) begin(rows []batch.Row, k, capacity int) error {
	l := layout{rows: len(rows), k: k}
	for i, row := range rows {
		if endsSentence(rows, i) {
			l.sentences++
		}
		if row.Wanted {
			l.wanted++
		}
	}
	inputs := l.rows*(8+8+4+4*capacity) + 4*(3*l.sentences+1) + 8*l.wanted + 8
	if err := s.arena.begin(inputs+l.wanted*(12*k+4), 12); err != nil {
		return err
	}
	l.history = s.arena.part(4 * l.rows * capacity)
	l.ids, l.pos, l.kvRows = s.arena.part(8*l.rows), s.arena.part(8*l.rows), s.arena.part(4*l.rows)
	l.groups = s.arena.part(4 * (l.sentences + 1))
	l.slots, l.lengths = s.arena.part(4*l.sentences), s.arena.part(4*l.sentences)
	l.want, l.count = s.arena.part(8*l.wanted), s.arena.part(8)
	l.logProbs, l.best, l.logSumExp = s.arena.part(4*l.wanted*k), s.arena.part(8*l.wanted*k), s.arena.part(4*l.wanted)
	s.layout = l
	return nil
}

// fill brings the histories up to date and fills in the inputs.
func (s *step) fill(rows []batch.Row, capacity int) {
	view[int32](s.groups, 1)[0] = 0
	view[int64](s.count, 1)[0] = int64(s.k)
	group, out := 0, 0
	for r, row := range rows {
		history := s.histories[row.To]
		if row.From != row.To {
			copy(history, s.histories[row.From][:row.Position])
		}
		history[row.Position] = row.KV
		copy(view[int32](s.history, s.rows*capacity)[r*capacity:], history[:row.Position+1])

		view[int64](s.ids, s.rows)[r], view[int64](s.pos, s.rows)[r] = int64(row.Token), int64(row.Position)
		view[int32](s.kvRows, s.rows)[r] = row.KV
		if row.Wanted {
			view[int64](s.want, s.wanted)[out] = int64(r)
			out++
		}
		if endsSentence(rows, r) {
			view[int32](s.groups, s.sentences+1)[group+1] = int32(r + 1)
			view[int32](s.slots, s.sentences)[group], view[int32](s.lengths, s.sentences)[group] = row.Slot, row.Length
			group++
		}
	}
}

// bind binds the inputs and outputs to where they lie.
func (s *step) bind(capacity int) {
	const i32, i64, f32 = ort.TensorElementDataTypeInt32, ort.TensorElementDataTypeInt64, ort.TensorElementDataTypeFloat
	b := s.bound
	b.input("ids", i64, s.ids, s.rows)
	b.input("pos", i64, s.pos, s.rows)
	b.input("rows", i32, s.kvRows, s.rows)
	b.input("history", i32, s.history, s.rows, capacity)
	b.input("groups", i32, s.groups, s.sentences+1)
	b.input("slots", i32, s.slots, s.sentences)
	b.input("lengths", i32, s.lengths, s.sentences)
	b.input("wanted", i64, s.want, s.wanted)
	b.input("k", i64, s.count, 1)
	b.output("val", f32, s.logProbs, s.wanted, s.k)
	b.output("idx", i64, s.best, s.wanted, s.k)
	b.output("lse", f32, s.logSumExp, s.wanted)
}

func (s *step) close() error {
	err := s.bound.close()
	s.arena.close()
	return err
}

// endsSentence says that row i is the last one of its sentence.
func endsSentence(rows []batch.Row, i int) bool {
	return i+1 == len(rows) || rows[i+1].Slot != rows[i].Slot
}
