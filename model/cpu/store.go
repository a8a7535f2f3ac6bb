package cpu

import (
	"unsafe"

	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// store is memory for attention keys and values: [layers, rows, 2, capacity, token/2], all keys of a row before its values. It
// serves as KV cache, with a row per hypothesis, and as cross-attention memory, with a row per sentence.
//
// Every row has room for the maximum length from the start, so nothing ever grows, moves or is copied. The room costs nothing
// before it is used, because a page takes memory at its first use.
type store struct {
	memory                        buffer
	layers, rows, capacity, token int
}

// keep is the number of tokens whose memory a row keeps for the next sentence. Most sentences are shorter.
const keep = 64

func newStore(layers, rows, capacity, token int) (*store, error) {
	memory, err := newBuffer(layers * rows * capacity * token)
	if err != nil {
		return nil, err
	}
	return &store{memory: memory, layers: layers, rows: rows, capacity: capacity, token: token}, nil
}

// trim gives back the memory of a row whose first used tokens were used.
func (s *store) trim(row int32, used int) {
	if used <= keep {
		return
	}
	half := s.token / 2 // bytes of a token's keys, or of its values
	for part := range 2 * s.layers {
		layer, value := part/2, part%2
		first := (2*(layer*s.rows+int(row)) + value) * s.capacity * half
		s.memory.release(first+keep*half, first+used*half)
	}
}

// keptBytes is the maximum memory that an empty store keeps: without it, a short sentence that comes alone would spend its time
// on new pages.
const keptBytes = 4 << 20

// clear gives back the memory of all rows except the first rows, which the next sentences take. trim has left at most keep tokens
// of these rows.
func (s *store) clear() {
	kept := min(s.rows, keptBytes/(s.layers*keep*s.token))
	row := s.capacity * s.token
	for layer := range s.layers {
		s.memory.release((layer*s.rows+kept)*row, (layer+1)*s.rows*row)
	}
}

// bind binds the store to the input called name.
func (s *store) bind(b *onnxruntime.Binding, name string) {
	b.Input(name, unsafe.Pointer(unsafe.SliceData(s.memory)), onnx.Uint8, s.layers, s.rows, s.capacity, s.token)
}

// close releases the memory. Closing nil does nothing.
func (s *store) close() {
	if s != nil {
		s.memory.free()
		s.memory = nil
	}
}
