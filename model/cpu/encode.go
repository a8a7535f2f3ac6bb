package cpu

import ort "github.com/yalue/onnxruntime_go"

// encoderTokens is how many tokens the encoder takes in one run, but for a single
// sentence that has more. It bounds the memory of activations; more tokens at a time
// are no faster.
const encoderTokens = 1024

// encoding is the encoder bound to the memory of cross attention.
type encoding struct {
	session *ort.DynamicAdvancedSession
	bound   *binding
	arena   arena
}

// run runs the encoder on sources and writes the keys and values of their cross
// attention to the rows of the store that slots names.
func (e *encoding) run(sources [][]int64, slots []int32, tokens int, cross *store) (err error) {
	if e.bound == nil {
		if e.bound, err = newBinding(e.session); err != nil {
			return err
		}
		cross.bind(e.bound, "cross")
	}
	n := len(sources)
	if err := e.arena.begin(16*tokens+4*(n+1)+4*n+4, 5); err != nil {
		return err
	}
	ids, pos := e.arena.part(8*tokens), e.arena.part(8*tokens)
	offsets, rows, stored := e.arena.part(4*(n+1)), e.arena.part(4*n), e.arena.part(4)

	at := 0
	for i, source := range sources {
		view[int32](offsets, n+1)[i] = int32(at)
		copy(view[int64](ids, tokens)[at:], source)
		for j := range source {
			view[int64](pos, tokens)[at+j] = int64(j)
		}
		at += len(source)
	}
	view[int32](offsets, n+1)[n] = int32(at)
	copy(view[int32](rows, n), slots)

	e.bound.input("ids", ort.TensorElementDataTypeInt64, ids, tokens)
	e.bound.input("pos", ort.TensorElementDataTypeInt64, pos, tokens)
	e.bound.input("offsets", ort.TensorElementDataTypeInt32, offsets, n+1)
	e.bound.input("slots", ort.TensorElementDataTypeInt32, rows, n)
	e.bound.output("stored", ort.TensorElementDataTypeInt32, stored, 1)
	return e.bound.run()
}

func (e *encoding) close() error {
	err := e.bound.close()
	e.arena.close()
	return err
}
