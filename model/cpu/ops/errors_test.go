package ops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/x448/float16"

	"dragoman/model/cpu/cputest"
	"dragoman/model/cpu/ops"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// calls returns valid calls of every operator, made anew for each test.
func calls() map[string]call {
	n, s := newNorm(1, 2, 16), newStep(1, heads{2, 8}, true, 10, group{2, 4, false}, group{1, 3, false})
	cross, stored := newSource(1, heads{2, 8}, false, 10, 2, 1), newStore(1, heads{2, 8}, true, 10, 3, 4)
	acc, bias, scale := n.p.args()
	encoded := newProduct(1, 5, 48)
	eAcc, eBias, eScale := encoded.args()
	return map[string]call{
		"Quantize":        {op: "Quantize", inputs: []arg{floats(n.x, 2, 16)}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}},
		"ReluQuantize":    {op: "ReluQuantize", inputs: []arg{acc, bias, scale}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}},
		"AddNorm":         n.call("AddNorm", onnx.Float32, onnx.Float32),
		"AddNormQuantize": n.call("AddNormQuantize", onnx.Float32, onnx.Uint8, onnx.Float32),
		"SelfAttention": {op: "SelfAttention", attrs: heads{2, 8}.attrs(), outputs: []onnx.DataType{onnx.Float32},
			inputs: []arg{eAcc, eBias, int32s(0, 2, 5), eScale}},
		"StoreCross":         stored.call(stored.cross, int32s(1)),
		"CachedAttention":    s.call(s.kv),
		"CrossAttention":     cross.call(),
		"ProductF32":         newMultiplication(1, 2, 16, 40, false, false).call(),
		"ProductF16":         newMultiplication(1, 2, 16, 40, true, false).call(),
		"ProductReluF32":     newMultiplication(1, 2, 16, 40, false, true).call(),
		"EmbedF32":           newEmbedding(1, 2, 16, 40, false).call(),
		"EmbedF16":           newEmbedding(1, 2, 16, 40, true).call(),
		"EmbedRows":          newEmbedding(1, 2, 16, 40, true).rowwise(),
		"PickRows":           {op: "PickRows", inputs: []arg{floats(n.x, 2, 16), int64s(1, 0, 1)}, outputs: []onnx.DataType{onnx.Float32}},
		"BestCandidates":     newHead(1, 2, 20, 3).withTable(1, 5).call(),
		"ProductInt8":        newInt8Product(1, 2, 10, 20, false).call(),
		"BestCandidatesInt8": newInt8Product(1, 2, 10, 20, false).head(newHead(1, 2, 20, 3).withTable(1, 5)),
	}
}

// zeros returns an input of n zeros in any shape.
func zeros(shape ...int) arg {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return floats(make([]float32, n), shape...)
}

func TestRefused(t *testing.T) {
	const far = math.MaxInt32
	memory := func(layers, rows, capacity, token int) arg {
		return octets(make([]uint8, layers*rows*capacity*token), layers, rows, capacity, token)
	}
	for _, test := range []struct {
		op    string
		input int
		arg   arg
		want  string
	}{
		{"Quantize", 0, zeros(16), "input 0 has 1 dimensions: 2 are wanted"},
		{"Quantize", 0, zeros(1, 2, 16), "input 0 has 3 dimensions: 2 are wanted"},
		{"ReluQuantize", 0, zeros(16), "1 dimensions"},
		{"ReluQuantize", 1, zeros(15), "dimension 0 of input 1 is 15: 16 is wanted"},
		{"ReluQuantize", 1, zeros(1, 16), "input 1 has 2 dimensions"},
		{"ReluQuantize", 2, zeros(1), "dimension 0 of input 2 is 1: 2 is wanted"},
		{"AddNorm", 0, zeros(2, 3, 4), "3 dimensions"},
		{"AddNorm", 1, zeros(8), "input 1 is 8: 16 is wanted"},
		{"AddNorm", 2, zeros(8), "input 2 is 8: 16 is wanted"},
		{"AddNorm", 3, zeros(2, 8), "dimension 1 of input 3 is 8: 16 is wanted"},
		{"AddNorm", 3, zeros(1, 16), "dimension 0 of input 3 is 1: 2 is wanted"},
		{"AddNorm", 4, zeros(17), "input 4 is 17: 16 is wanted"},
		{"AddNorm", 4, arg{}, "a product needs a bias"},
		{"AddNorm", 5, zeros(3), "input 5 is 3: 2 is wanted"},
		{"AddNormQuantize", 4, arg{}, "a product needs a bias"},
		{"ProductInt8", 0, octets(make([]uint8, 26), 2, 13), "dimension 1 of input 1 is 3: 4 is wanted"},
		{"ProductInt8", 0, octets(make([]uint8, 20), 20), "1 dimensions"},
		{"ProductInt8", 1, int8s(make([]int8, 192), 1, 3, 16, 4), "20 outputs are in 1 panels: 2 are wanted"},
		{"ProductInt8", 1, int8s(make([]int8, 192), 2, 3, 8, 4), "dimension 2 of input 1 is 8: 16 is wanted"},
		{"ProductInt8", 2, int32s(make([]int32, 19)...), "dimension 0 of input 3 is 20: 19 is wanted"},
		{"ProductInt8", 3, zeros(21), "input 3 is 21: 20 is wanted"},
		{"BestCandidatesInt8", 4, zeros(3), "input 4 is 3: 2 is wanted"},
		{"BestCandidatesInt8", 5, int64s(0), "0 candidates are wanted of 20 tokens"},
		{"BestCandidatesInt8", 5, int64s(21), "21 candidates are wanted of 20 tokens"},
		{"BestCandidatesInt8", 6, arg{}, "embeddings need hidden states"},
		{"BestCandidatesInt8", 7, arg{}, "the matrix is no table of embeddings of 5 numbers"},
		{"SelfAttention", 0, zeros(5, 47), "dimension 1 of input 0 is 47: 48 is wanted"},
		{"SelfAttention", 0, zeros(4, 48), "dimension 0 of input 3 is 5: 4 is wanted"},
		{"SelfAttention", 1, zeros(16), "input 1 is 16: 48 is wanted"},
		{"SelfAttention", 2, int32s(0, 2, 6), "do not rise"},
		{"SelfAttention", 2, int32s(-1, 2, 5), "do not rise"},
		{"SelfAttention", 2, int32s(1, 2, 5), "do not rise"},
		{"SelfAttention", 2, int32s(0, 2, 4), "do not rise"},
		{"SelfAttention", 2, int32s(0, 6, 5), "do not rise"},
		{"SelfAttention", 2, int32s(0, far, math.MinInt32, 5), "do not rise"},
		{"SelfAttention", 2, int32s(), "do not rise"},
		{"SelfAttention", 3, zeros(4), "input 3 is 4: 5 is wanted"},
		{"SelfAttention", 4, zeros(2, 4), "4 distances are not as many on both sides"},
		{"SelfAttention", 4, zeros(3, 5), "dimension 0 of input 4 is 3: 2 is wanted"},
		{"StoreCross", 0, zeros(7, 48), "dimension 1 of input 0 is 48: 32 is wanted"},
		{"StoreCross", 1, zeros(16), "input 1 is 16: 32 is wanted"},
		{"StoreCross", 2, int32s(0, 7), "dimension 0 of input 2 is 2: 3 is wanted"},
		{"StoreCross", 2, int32s(0, 8, 7), "do not rise"},
		{"StoreCross", 3, int32s(0, 4), "no room for 4 tokens in row 4: the memory has 4 rows of 10"},
		{"StoreCross", 3, int32s(-1, 0), "no room for 3 tokens in row -1"},
		{"StoreCross", 3, int32s(0, far), "no room"},
		{"StoreCross", 4, memory(2, 4, 3, 64), "no room for 4 tokens in row"},
		{"StoreCross", 4, memory(1, 4, 10, 64), "the memory has 1 layers, layer 1 is wanted"},
		{"StoreCross", 4, memory(2, 4, 10, 66), "66 bytes per token: 64 in half or 128 in single precision are wanted"},
		{"StoreCross", 4, octets(make([]uint8, 4096), 64, 64), "input 4 has 2 dimensions: 4 are wanted"},
		{"StoreCross", 5, zeros(6), "input 5 is 6: 7 is wanted"},
		{"CachedAttention", 0, zeros(3, 16), "dimension 1 of input 0 is 16: 48 is wanted"},
		{"CachedAttention", 1, zeros(16), "input 1 is 16"},
		{"CachedAttention", 2, int32s(0, 1), "dimension 0 of input 2 is 2: 3 is wanted"},
		{"CachedAttention", 2, int32s(0, 1, 5), "no room for token 3 in row 5: the memory has 5 rows of 10, the history 13"},
		{"CachedAttention", 2, int32s(0, 1, -1), "no room for token 3 in row -1"},
		{"CachedAttention", 3, int64s(4, 4), "input 3 is 2: 3 is wanted"},
		{"CachedAttention", 3, int64s(4, 4, 10), "no room for token 10"},
		{"CachedAttention", 3, int64s(4, 4, -1), "no room for token -1"},
		{"CachedAttention", 3, int64s(4, 4, math.MaxInt64), "no room"},
		{"CachedAttention", 3, int64s(4, 4, math.MinInt64), "no room"},
		{"CachedAttention", 4, newArg(onnx.Int32, make([]int32, 9), []int{3, 3}), "no room for token 4 in row"},
		{"CachedAttention", 4, newArg(onnx.Int32, make([]int32, 26), []int{2, 13}), "dimension 0 of input 4 is 2: 3 is wanted"},
		{"CachedAttention", 4, newArg(onnx.Int32, []int32{0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []int{3, 5}), "history of row 0 leaves the 5 rows"},
		{"CachedAttention", 4, newArg(onnx.Int32, []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0}, []int{3, 5}), "history of row 2 leaves"},
		{"CachedAttention", 5, int32s(0, 2, 2), "do not rise from 0 to 3"},
		{"CachedAttention", 5, int32s(0), "do not rise from 0 to 3"},
		{"CachedAttention", 5, int32s(), "do not rise from 0 to 3"},
		{"CachedAttention", 6, memory(1, 5, 10, 64), "1 layers, layer 1 is wanted"},
		{"CachedAttention", 6, memory(2, 5, 10, 32), "32 bytes per token"},
		{"CachedAttention", 6, memory(0, 0, 0, 64), "0 layers"},
		{"CachedAttention", 7, zeros(1), "input 7 is 1: 3 is wanted"},
		{"CachedAttention", 8, zeros(0, 2), "there are no distances"},
		{"CachedAttention", 8, zeros(4, 3), "dimension 1 of input 8 is 3: 2 is wanted"},
		{"CrossAttention", 0, zeros(3, 48), "dimension 1 of input 0 is 48: 16 is wanted"},
		{"CrossAttention", 1, zeros(17), "input 1 is 17"},
		{"CrossAttention", 2, int32s(0, 3), "input 2 is 2: 3 is wanted"},
		{"CrossAttention", 2, int32s(0, 4, 3), "do not rise"},
		{"CrossAttention", 3, int32s(0, 3), "in row 3: the memory has 3 rows of 10"},
		{"CrossAttention", 3, int32s(-1, 0), "in row -1"},
		{"CrossAttention", 4, int32s(11, 1), "no source of 11 tokens"},
		{"CrossAttention", 4, int32s(1, 0), "no source of 0 tokens"},
		{"CrossAttention", 4, int32s(1, -5), "no source of -5 tokens"},
		{"CrossAttention", 4, int32s(1, 1, 1), "input 4 is 3: 2 is wanted"},
		{"CrossAttention", 5, memory(2, 3, 10, 128), "2 layers, layer 2 is wanted"},
		{"CrossAttention", 6, zeros(2), "input 6 is 2: 3 is wanted"},
		{"ProductF32", 0, zeros(16), "1 dimensions"},
		{"ProductF32", 0, zeros(2, 17), "dimension 1 of input 1 is 16: 17 is wanted"},
		{"ProductF32", 1, zeros(40, 16), "input 1 has 2 dimensions: 3 are wanted"},
		{"ProductF32", 1, zeros(2, 16, 31), "dimension 2 of input 1 is 31: 32 is wanted"},
		{"ProductF32", 1, zeros(1, 16, 32), "input 1 has 1 panels: they do not make 40 columns"},
		{"ProductF32", 1, zeros(3, 16, 32), "input 1 has 3 panels"},
		{"ProductF16", 1, halves(make([]float16.Float16, 512), 1, 16, 32), "input 1 has 1 panels"},
		{"ProductReluF32", 2, zeros(64), "dimension 0 of input 2 is 64: 40 is wanted"},
		{"EmbedF32", 0, zeros(1, 16, 32), "input 0 has 1 panels"},
		{"EmbedF32", 1, int64s(0), "dimension 0 of input 3 is 2: 1 is wanted"},
		{"EmbedF32", 1, int64s(0, 40), "no embedding of token 40 at position"},
		{"EmbedF32", 1, int64s(-1, 0), "no embedding of token -1"},
		{"EmbedF32", 2, zeros(10, 15), "dimension 1 of input 2 is 15: 16 is wanted"},
		{"EmbedF32", 3, int64s(0, 10), "at position 10: there are 40 tokens, 10 positions"},
		{"EmbedF32", 2, arg{}, "positions and their table need each other"},
		{"EmbedF16", 3, int64s(math.MinInt64, 0), "no embedding"},
		{"EmbedRows", 0, halves(make([]float16.Float16, 40*15), 40, 15), "dimension 1 of input 0 is 15: 16 is wanted"},
		{"EmbedRows", 1, int64s(0, 40), "no embedding of token 40 at position"},
		{"PickRows", 1, int64s(0, 2), "row 2 is none of 2"},
		{"PickRows", 1, int64s(-1), "row -1 is none of 2"},
		{"BestCandidates", 0, zeros(20), "1 dimensions"},
		{"BestCandidates", 1, int64s(0), "0 candidates are wanted of 20 tokens"},
		{"BestCandidates", 1, int64s(21), "21 candidates are wanted of 20 tokens"},
		{"BestCandidates", 1, int64s(-1), "-1 candidates"},
		{"BestCandidates", 1, int64s(math.MaxInt64), "candidates are wanted"},
		{"BestCandidates", 1, int64s(), "input 1 is 0: 1 is wanted"},
		{"BestCandidates", 2, zeros(1), "input 2 is 1: 2 is wanted"},
		{"BestCandidates", 3, zeros(1, 5), "dimension 0 of input 3 is 1: 2 is wanted"},
		{"BestCandidates", 3, zeros(2, 6), "dimension 1 of input 4 is 5: 6 is wanted"},
		{"BestCandidates", 3, arg{}, "hidden states and embeddings need each other"},
		{"BestCandidates", 4, halves(newHead(1, 1, 19, 1).withTable(1, 5).table, 19, 5), "dimension 0 of input 4 is 19: 20 is wanted"},
		{"BestCandidates", 4, arg{}, "hidden states and embeddings need each other"},
	} {
		t.Run(test.op+" "+test.want, func(t *testing.T) {
			c := calls()[test.op]
			c.run(t)
			if test.input == len(c.inputs) { // an optional input, at the end
				c.inputs = append(c.inputs, arg{})
			}
			c.inputs[test.input] = test.arg
			_, err := c.try(t)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestAttributesRefused(t *testing.T) {
	for name, attrs := range map[string][]onnx.Attr{
		"no heads":       heads{0, 8}.attrs(1),
		"heads below 0":  heads{-2, 8}.attrs(1),
		"no columns":     heads{2, 0}.attrs(1),
		"layer below 0":  heads{2, 8}.attrs(-1),
		"no layer given": heads{2, 8}.attrs(),
		"nothing given":  nil,
	} {
		t.Run(name, func(t *testing.T) {
			c := calls()["CrossAttention"]
			c.attrs = attrs
			_, err := c.try(t)
			require.Error(t, err)
		})
	}
	c := calls()["ProductF32"]
	c.attrs = []onnx.Attr{onnx.Int("width", 0)}
	_, err := c.try(t)
	require.ErrorContains(t, err, "width 0")
	c = calls()["BestCandidates"]
	c.attrs = []onnx.Attr{onnx.Int("spare", -1)}
	_, err = c.try(t)
	require.ErrorContains(t, err, "-1 spare")
	c.attrs = []onnx.Attr{onnx.Int("spare", math.MaxInt64)}
	c.run(t)
}

// A step may have no rows, and a join no tokens.
func TestNoRows(t *testing.T) {
	none := product{acc: []float32{}, bias: filled(48, 1), scale: []float32{}, width: 48}
	acc, bias, scale := none.args()
	kv := newMemory(random(1), 2, 3, 4, 16, true)
	attrs, one := heads{2, 8}.attrs(0), []onnx.DataType{onnx.Float32}
	for _, c := range []call{
		{op: "Quantize", inputs: []arg{acc}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}},
		{op: "ReluQuantize", inputs: []arg{acc, bias, scale}, outputs: []onnx.DataType{onnx.Uint8, onnx.Float32}},
		{op: "AddNorm", inputs: []arg{acc, bias, bias, acc, bias, scale}, outputs: []onnx.DataType{onnx.Float32, onnx.Float32}},
		{op: "SelfAttention", attrs: heads{2, 8}.attrs(), inputs: []arg{acc, bias, int32s(0), scale}, outputs: one},
		{op: "CachedAttention", attrs: attrs, outputs: one, inputs: []arg{acc, bias, int32s(), int64s(),
			newArg(onnx.Int32, []int32{}, []int{0, 4}), int32s(0), kv.arg(), scale}},
		{op: "CrossAttention", attrs: attrs, outputs: one, inputs: []arg{zeros(0, 16), zeros(16), int32s(0), int32s(), int32s(), kv.arg(), scale}},
		{op: "CrossAttention", attrs: attrs, outputs: one, inputs: []arg{zeros(0, 16), zeros(16), int32s(0, 0), int32s(1), int32s(2), kv.arg(), scale}},
		{op: "StoreCross", attrs: attrs, outputs: []onnx.DataType{onnx.Int32}, inputs: []arg{zeros(0, 32), zeros(32), int32s(0), int32s(), kv.arg(), scale}},
		newMultiplication(1, 0, 48, 40, false, true).call(),
		newEmbedding(1, 0, 16, 40, false).call(),
		{op: "BestCandidates", attrs: []onnx.Attr{onnx.Int("spare", 8)}, inputs: []arg{acc, int64s(3), scale},
			outputs: []onnx.DataType{onnx.Float32, onnx.Int64, onnx.Float32}},
	} {
		t.Run(c.op, func(t *testing.T) {
			for _, out := range c.run(t) {
				if c.op != "StoreCross" { // its output is always one number
					require.Empty(t, out)
				}
			}
		})
	}
}

func TestCloseTwice(t *testing.T) {
	api, err := onnxruntime.Load(cputest.Library())
	require.NoError(t, err)
	defer api.Close()
	o := ops.New(api)
	o.Close()
	o.Close()
}
