package cpu

import (
	"fmt"

	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model"
)

// step is the decoder bound to its inputs and outputs. A tensor is made anew only
// when its shape has changed, so a steady batch decodes without.
type step struct {
	bound *binding
	arena arena

	rows, sentences, wanted, capacity, k int // of the layout

	ids, pos        buffer // int64 [rows]
	kvRows          buffer // int32 [rows]
	history         buffer // int32 [rows, capacity]
	groups          buffer // int32 [sentences+1]
	slots, lengths  buffer // int32 [sentences]
	want            buffer // int64 [wanted]
	count           buffer // int64 [1]
	logProbs        buffer // float32 [wanted, k]
	best            buffer // int64 [wanted, k]
	logSumExp       buffer // float32 [wanted]
	row, group, out int    // how many of each are filled in
}

// begin lays out a step; its inputs are to be filled in by add.
func (s *step) begin(m *Model, kv, cross *store, rows, sentences, wanted, k int) (err error) {
	if s.bound == nil {
		if s.bound, err = newBinding(m.decoder); err != nil {
			return err
		}
		kv.bind(s.bound, "kv")
		cross.bind(s.bound, "cross")
	}
	s.rows, s.sentences, s.wanted, s.capacity, s.k = rows, sentences, wanted, kv.capacity, k
	s.row, s.group, s.out = 0, 0, 0
	inputs := rows*(8+8+4+4*kv.capacity) + 4*(3*sentences+1) + 8*wanted + 8
	if err := s.arena.begin(inputs+wanted*(12*k+4), 12); err != nil {
		return err
	}
	s.history = s.arena.part(4 * rows * kv.capacity)
	s.ids, s.pos, s.kvRows = s.arena.part(8*rows), s.arena.part(8*rows), s.arena.part(4*rows)
	s.groups = s.arena.part(4 * (sentences + 1))
	s.slots, s.lengths = s.arena.part(4*sentences), s.arena.part(4*sentences)
	s.want, s.count = s.arena.part(8*wanted), s.arena.part(8)
	s.logProbs, s.best, s.logSumExp = s.arena.part(4*wanted*k), s.arena.part(8*wanted*k), s.arena.part(4*wanted)
	view[int32](s.groups, 1)[0] = 0
	view[int64](s.count, 1)[0] = int64(k)
	return nil
}

// addRow adds a row of the next sentence: the token that it is fed, its position,
// the row of the KV cache that it is written to and those of the tokens before it.
// candidates says that the row's candidates are wanted.
func (s *step) addRow(token int64, pos int, kvRow int32, history []int32, candidates bool) {
	r := s.row
	s.row++
	view[int64](s.ids, s.rows)[r], view[int64](s.pos, s.rows)[r] = token, int64(pos)
	view[int32](s.kvRows, s.rows)[r] = kvRow
	copy(view[int32](s.history, s.rows*s.capacity)[r*s.capacity:], history[:pos+1])
	if candidates {
		view[int64](s.want, s.wanted)[s.out] = int64(r)
		s.out++
	}
}

// endSentence says that all rows of a sentence were added, and where its source is.
func (s *step) endSentence(slot int32, length int) {
	g := s.group
	s.group++
	view[int32](s.groups, s.sentences+1)[g+1] = int32(s.row)
	view[int32](s.slots, s.sentences)[g], view[int32](s.lengths, s.sentences)[g] = slot, int32(length)
}

// run runs the step. The candidates hold until the next begin.
func (s *step) run() (model.Candidates, error) {
	const i32, i64 = ort.TensorElementDataTypeInt32, ort.TensorElementDataTypeInt64
	b := s.bound
	b.input("ids", i64, s.ids, s.rows)
	b.input("pos", i64, s.pos, s.rows)
	b.input("rows", i32, s.kvRows, s.rows)
	b.input("history", i32, s.history, s.rows, s.capacity)
	b.input("groups", i32, s.groups, s.sentences+1)
	b.input("slots", i32, s.slots, s.sentences)
	b.input("lengths", i32, s.lengths, s.sentences)
	b.input("wanted", i64, s.want, s.wanted)
	b.input("k", i64, s.count, 1)
	b.output("val", ort.TensorElementDataTypeFloat, s.logProbs, s.wanted, s.k)
	b.output("idx", i64, s.best, s.wanted, s.k)
	b.output("lse", ort.TensorElementDataTypeFloat, s.logSumExp, s.wanted)
	if err := b.run(); err != nil {
		return model.Candidates{}, fmt.Errorf("decoder step of %d rows: %w", s.rows, err)
	}
	n := s.wanted * s.k
	return model.Candidates{
		K: s.k, LogProbs: view[float32](s.logProbs, n), IDs: view[int64](s.best, n),
		LogSumExp: view[float32](s.logSumExp, s.wanted),
	}, nil
}

func (s *step) close() error {
	err := s.bound.close()
	s.arena.close()
	return err
}
