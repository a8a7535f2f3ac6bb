package ops_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/onnx"
)

// bench runs an operator at the sizes of the 418M model and reports its time per row.
func bench(b *testing.B, name string, c call, rows int) {
	b.Run(name, func(b *testing.B) {
		c.run(b)
		for b.Loop() {
			c.run(b)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
	})
}

func BenchmarkRows(b *testing.B) {
	const rows, width = 80, 1024
	quantized := []onnx.DataType{onnx.Uint8, onnx.Float32}
	n := newNorm(1, rows, width)
	bench(b, "Quantize", call{op: "Quantize", inputs: []arg{floats(n.x, rows, width)}, outputs: quantized}, rows)
	acc, bias, scale := newProduct(1, rows, 4*width).args()
	bench(b, "ReluQuantize", call{op: "ReluQuantize", inputs: []arg{acc, bias, scale}, outputs: quantized}, rows)
	bench(b, "AddNorm", n.call("AddNorm", onnx.Float32, onnx.Float32), rows)
	bench(b, "AddNormQuantize", n.call("AddNormQuantize", onnx.Float32, onnx.Uint8, onnx.Float32), rows)
}

func BenchmarkAttention(b *testing.B) {
	const sentences, beams, tokens, capacity = 20, 4, 50, 200
	h := heads{16, 64}
	var groups []group
	var rows, lengths []int
	for range sentences {
		groups, rows, lengths = append(groups, group{beams, tokens - 1, false}), append(rows, beams), append(lengths, tokens)
	}
	for precision, half := range map[string]bool{"half": true, "single": false} {
		s := newStep(1, h, half, capacity, groups...)
		bench(b, "CachedAttention/"+precision, s.call(s.kv), sentences*beams)
		cross := newSource(1, h, half, capacity, rows...)
		for i := range cross.lengths {
			cross.lengths[i] = tokens
		}
		bench(b, "CrossAttention/"+precision, cross.call(), sentences*beams)
	}
	all := lengthsOf(lengths...)
	acc, bias, scale := newProduct(1, sentences*tokens, 3*h.width()).args()
	bench(b, "SelfAttention", call{op: "SelfAttention", attrs: h.attrs(), outputs: []onnx.DataType{onnx.Float32},
		inputs: []arg{acc, bias, int32s(offsets(all)...), scale}}, sentences*tokens)
}

func BenchmarkBestCandidates(b *testing.B) {
	const rows, vocab = 80, 128112
	bench(b, "BestCandidates", newHead(1, rows, vocab, 10).call(), rows)
}

// BenchmarkProduct multiplies by matrices of the 418M model that are not in the CPU cache, and reports G multiply-adds per
// second and GB/s of weights, for comparison with the machine's limits. It uses a thread per processor of Go (-cpu).
func BenchmarkProduct(b *testing.B) {
	for _, shape := range [][2]int{{1024, 3072}, {1024, 1024}, {1024, 4096}, {4096, 1024}, {1024, 128112}} {
		for _, rows := range []int{1, 2, 4, 8, 16, 32, 80, 160, 1000} {
			if rows == 1000 && shape[1] > 4096 {
				continue // the encoder has no head
			}
			for _, kind := range []struct {
				name string
				size int // bytes of a weight
			}{{"int8", 1}, {"fp16", 2}, {"fp32", 4}} {
				b.Run(fmt.Sprintf("%s/%dx%d/rows=%d", kind.name, shape[0], shape[1], rows), func(b *testing.B) {
					if kind.size == 1 {
						p := newInt8Product(1, rows, shape[0], shape[1], false)
						benchmarkProduct(b, p.call(), p.matrix, rows, shape, kind.size)
						return
					}
					m := newMultiplication(1, rows, shape[0], shape[1], kind.size == 2, false)
					benchmarkProduct(b, m.call(), func() []arg { return []arg{m.w.arg()} }, rows, shape, kind.size)
				})
			}
		}
	}
}

// benchmarkProduct runs c on copies of its matrix in turn. The inputs of the matrix follow the first input.
func benchmarkProduct(b *testing.B, c call, matrix func() []arg, rows int, shape [2]int, size int) {
	graph, names, outputs := c.graph()
	_, err := sessionOf(b, graph, names, outputs) // makes the operators
	require.NoError(b, err)
	s, err := newSession(b, graph, names, outputs, runtime.GOMAXPROCS(0))
	require.NoError(b, err)
	defer s.Destroy()
	value := func(a arg) ort.Value {
		v, err := a.value()
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, v.Destroy()) })
		return v
	}
	x, out := value(c.inputs[0]), value(floats(make([]float32, rows*shape[1]), rows, shape[1]))
	const cache = 128 << 20
	weights := shape[0] * shape[1]
	matrices := make([][]ort.Value, 1+cache/(weights*size))
	for i := range matrices {
		for _, a := range matrix() {
			matrices[i] = append(matrices[i], value(a))
		}
	}
	run := func(i int) {
		require.NoError(b, s.Run(append([]ort.Value{x}, matrices[i%len(matrices)]...), []ort.Value{out}))
	}
	run(0)
	for i := 1; b.Loop(); i++ {
		run(i)
	}
	products := float64(weights) * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(products*float64(rows), "G/s")
	b.ReportMetric(products*float64(size), "GB/s")
}
