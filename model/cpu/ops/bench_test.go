package ops_test

import (
	"testing"

	"dragoman/model/onnx"
)

// bench runs an operator at the sizes of the 418M model and reports the time that it
// takes for a row.
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
