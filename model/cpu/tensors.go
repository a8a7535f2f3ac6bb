package cpu

import (
	"unsafe"

	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// tensors are the small inputs and outputs of a session. Each has its own memory, which grows and is kept between runs.
type tensors struct {
	binding *onnxruntime.Binding
	memory  map[string]buffer
	small   buffer // a page shared by small tensors
	used    int    // bytes used of it
	err     error  // the first error
}

func newTensors(session *onnxruntime.Session) (*tensors, error) {
	binding, err := session.NewBinding()
	if err != nil {
		return nil, err
	}
	return &tensors{binding: binding, memory: map[string]buffer{}}, nil
}

// input returns the input called name, for the caller to fill. A new tensor is made only if the shape has changed.
func input[T number](t *tensors, name string, shape ...int) []T {
	values := room[T](t, name, shape)
	t.binding.Input(name, unsafe.Pointer(unsafe.SliceData(values)), typeOf[T](), shape...)
	return values
}

// output returns the output called name, which the next run fills.
func output[T number](t *tensors, name string, shape ...int) []T {
	values := room[T](t, name, shape)
	t.binding.Output(name, unsafe.Pointer(unsafe.SliceData(values)), typeOf[T](), shape...)
	return values
}

// number is an element type of a tensor.
type number interface{ int32 | int64 | float32 }

func typeOf[T number]() onnx.DataType {
	switch any(T(0)).(type) {
	case int32:
		return onnx.Int32
	case int64:
		return onnx.Int64
	default:
		return onnx.Float32
	}
}

// room returns memory for a tensor.
func room[T number](t *tensors, name string, shape []int) []T {
	n := 1
	for _, d := range shape {
		n *= d
	}
	bytes := n * int(unsafe.Sizeof(T(0)))
	memory := t.memory[name]
	if bytes > len(memory) || memory == nil {
		grown, err := t.reserve(bytes * 3 / 2)
		if err != nil {
			if t.err == nil {
				t.err = err
			}
			return make([]T, n) // after an error, no run reads this memory
		}
		t.free(memory)
		t.memory[name], memory = grown, grown
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), n)
}

// Tensors below part bytes share the small page, because a process may have thousands of such tensors.
const (
	part      = 128
	smallPage = 32 * part
)

// reserve returns memory for at least n bytes.
func (t *tensors) reserve(n int) (b buffer, err error) {
	if n > part || t.used == smallPage {
		return newBuffer(max(n, part+1)) // the length distinguishes this memory from a part of the small page
	}
	if t.small == nil {
		if t.small, err = newBuffer(smallPage); err != nil {
			return nil, err
		}
	}
	t.used += part
	return t.small[t.used-part : t.used : t.used], nil
}

// free frees memory from reserve; parts of the small page are not reused.
func (t *tensors) free(b buffer) {
	if len(b) != part {
		b.free()
	}
}

func (t *tensors) run() error {
	if t.err != nil {
		return t.err
	}
	return t.binding.Run()
}

// close releases the tensors and their memory. Closing nil does nothing.
func (t *tensors) close() {
	if t == nil {
		return
	}
	t.binding.Close()
	for _, memory := range t.memory {
		t.free(memory)
	}
	t.small.free()
	t.memory, t.small = nil, nil
}
