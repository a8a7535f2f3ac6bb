package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/x448/float16"
	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/cpu/cputest"
	"dragoman/model/cpu/ops"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// arg is an input of an operator; the zero arg omits an optional one.
type arg struct {
	kind  onnx.DataType
	shape []int64
	value func() (ort.Value, error)
}

func newArg[T float32 | uint8 | int8 | int32 | int64](kind onnx.DataType, values []T, shape []int) arg {
	a := arg{kind: kind}
	for _, n := range shape {
		a.shape = append(a.shape, int64(n))
	}
	if len(values) == 0 {
		values = make([]T, 1) // onnxruntime_go takes the address of the first element
	}
	a.value = func() (ort.Value, error) { return ort.NewTensor(a.shape, values) }
	return a
}

func floats(x []float32, shape ...int) arg { return newArg(onnx.Float32, x, shape) }
func octets(x []uint8, shape ...int) arg   { return newArg(onnx.Uint8, x, shape) }
func int8s(x []int8, shape ...int) arg     { return newArg(onnx.Int8, x, shape) }
func int32s(x ...int32) arg                { return newArg(onnx.Int32, x, []int{len(x)}) }
func int64s(x ...int64) arg                { return newArg(onnx.Int64, x, []int{len(x)}) }

func halves(x []float16.Float16, shape ...int) arg {
	a := newArg[float32](onnx.Float16, nil, shape)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
	a.value = func() (ort.Value, error) {
		return ort.NewCustomDataTensor(a.shape, bytes, ort.TensorElementDataTypeFloat16)
	}
	return a
}

// call is an operator with all its arguments.
type call struct {
	op      string
	attrs   []onnx.Attr
	inputs  []arg
	outputs []onnx.DataType
}

// shared holds ONNX Runtime's sessions, one per different graph of one node.
var shared struct {
	sync.Mutex
	api       *onnxruntime.API
	operators *ops.Operators
	sessions  map[string]*ort.DynamicAdvancedSession
}

// graph returns a model with only the call's node.
func (c call) graph() (graph []byte, inputs, outputs []string) {
	g := onnx.NewGraph("test")
	names := make([]string, len(c.inputs))
	for i, in := range c.inputs {
		if in.kind == 0 {
			continue
		}
		names[i] = fmt.Sprintf("input%d", i)
		inputs = append(inputs, g.Input(names[i], in.kind, anyDims(names[i], len(in.shape))...))
	}
	outputs = g.Node(onnx.Dragoman, c.op, names, len(c.outputs), c.attrs...)
	for i, kind := range c.outputs {
		rank := 2
		if kind == onnx.Int32 || (kind == onnx.Float32 && i > 0 && c.outputs[i-1] != onnx.Float32) {
			rank = 1 // the output done, and outputs with a number per row
		}
		g.Output(outputs[i], kind, anyDims(outputs[i], rank)...)
	}
	return g.Marshal(), inputs, outputs
}

func anyDims(name string, rank int) []onnx.Dim {
	dims := make([]onnx.Dim, rank)
	for i := range dims {
		dims[i] = onnx.Named(fmt.Sprintf("%s_%d", name, i))
	}
	return dims
}

// sessionOf returns the session of a graph, and makes it at the first use.
func sessionOf(t testing.TB, graph []byte, inputs, outputs []string) (*ort.DynamicAdvancedSession, error) {
	cputest.Environment(t)
	shared.Lock()
	defer shared.Unlock()
	if s := shared.sessions[string(graph)]; s != nil {
		return s, nil
	}
	if shared.operators == nil {
		api, err := onnxruntime.Load(cputest.Library())
		require.NoError(t, err)
		shared.api, shared.operators, shared.sessions = api, ops.New(api), map[string]*ort.DynamicAdvancedSession{}
	}
	s, err := newSession(t, graph, inputs, outputs, 3)
	if err == nil {
		shared.sessions[string(graph)] = s
	}
	return s, err
}

// newSession makes a session with n threads.
func newSession(t testing.TB, graph []byte, inputs, outputs []string, threads int) (*ort.DynamicAdvancedSession, error) {
	options, err := ort.NewSessionOptions()
	require.NoError(t, err)
	defer options.Destroy()
	setup, err := shared.operators.Setup(graph, threads)
	if err != nil {
		return nil, err
	}
	cputest.Register(t, shared.api, options, setup)
	return ort.NewDynamicAdvancedSessionWithONNXData(setup.Graph, inputs, outputs, options)
}

// try runs the operator. The outputs are slices of float32, uint8, int32 or int64.
func (c call) try(t testing.TB) ([]any, error) {
	graph, inputs, outputs := c.graph()
	session, err := sessionOf(t, graph, inputs, outputs)
	if err != nil {
		return nil, err
	}
	return runSession(t, session, c.inputs, len(outputs))
}

func runSession(t testing.TB, session *ort.DynamicAdvancedSession, args []arg, count int) ([]any, error) {
	var inputs []ort.Value
	for _, in := range args {
		if in.kind != 0 {
			value, err := in.value()
			require.NoError(t, err)
			defer func() { require.NoError(t, value.Destroy()) }()
			inputs = append(inputs, value)
		}
	}
	values, outputs := make([]ort.Value, count), make([]any, count)
	if err := session.Run(inputs, values); err != nil {
		return nil, err
	}
	for i, value := range values {
		switch v := value.(type) {
		case *ort.Tensor[float32]:
			outputs[i] = append([]float32{}, v.GetData()...)
		case *ort.Tensor[uint8]:
			outputs[i] = append([]uint8{}, v.GetData()...)
		case *ort.Tensor[int32]:
			outputs[i] = append([]int32{}, v.GetData()...)
		case *ort.Tensor[int64]:
			outputs[i] = append([]int64{}, v.GetData()...)
		}
		require.NoError(t, value.Destroy())
	}
	return outputs, nil
}

// run is try that must succeed.
func (c call) run(t testing.TB) []any {
	t.Helper()
	outputs, err := c.try(t)
	require.NoError(t, err)
	return outputs
}

// random returns a source of random numbers, the same in every run.
func random(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 9527)) }

// normal returns n normally distributed numbers.
func normal(r *rand.Rand, n int, deviation float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * deviation)
	}
	return x
}

// positive returns n numbers from 0.5 to 1.5, for use as scales.
func positive(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 0.5 + r.Float32()
	}
	return x
}

// filled returns n numbers x.
func filled(n int, x float32) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = x
	}
	return values
}

// requireNear checks element i of the result called name. It is called a million times, and require.InDelta takes a microsecond.
func requireNear(t testing.TB, want float64, got float32, delta float64, name string, i int) {
	if !(math.Abs(want-float64(got)) <= delta) {
		t.Helper()
		require.FailNow(t, "too far off", "%s %d is %g, not %g ± %g", name, i, got, want, delta)
	}
}
