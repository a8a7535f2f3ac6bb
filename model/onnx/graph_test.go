package onnx_test

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/modeltest"
	"dragoman/model/onnx"
)

// TestGraphRuns has ONNX Runtime read a graph that uses every kind of part:
// y = flatten(Gather(weight, ids) + constant), and a com.microsoft operator.
func TestGraphRuns(t *testing.T) {
	dir := t.TempDir()
	weight := sharedWeight(t, dir)
	g := onnx.NewGraph("test")
	ids := g.Input("ids", onnx.Int64, onnx.Named("N"))
	sum := g.Op("Add", []string{g.Op("Gather", []string{g.Weight(weight), ids}, onnx.Int("axis", 0)), g.Floats("ten", []float32{10})})
	product := g.Node(onnx.Microsoft, "FusedMatMul", []string{sum, g.Weight(weight)}, 1, onnx.Int("transB", 1), onnx.Float("alpha", 0.5))
	g.NamedNode("", "Transpose", product, []string{"y"}) // Transpose reverses the dimensions
	g.Output("y", onnx.Float32, onnx.Fixed(2), onnx.Named("N"))
	path := filepath.Join(dir, "test.onnx")
	require.NoError(t, os.WriteFile(path, g.Marshal(), 0o644))

	ort.SetSharedLibraryPath(modeltest.Library())
	require.NoError(t, ort.InitializeEnvironment(ort.WithLogLevelFatal()))
	inputs, outputs, err := ort.GetInputOutputInfo(path)
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	require.Len(t, outputs, 1)
	assert.Equal(t, ort.NewShape(-1), inputs[0].Dimensions)
	assert.Equal(t, ort.NewShape(2, -1), outputs[0].Dimensions)

	in, err := ort.NewTensor(ort.NewShape(3), []int64{1, 0, 1})
	require.NoError(t, err)
	defer in.Destroy()
	out, err := ort.NewEmptyTensor[float32](ort.NewShape(2, 3))
	require.NoError(t, err)
	defer out.Destroy()
	session, err := ort.NewDynamicAdvancedSession(path, []string{"ids"}, []string{"y"}, nil)
	require.NoError(t, err)
	defer session.Destroy()
	require.NoError(t, session.Run([]ort.Value{in}, []ort.Value{out}))
	// weight = [[1 2] [3 4]]; row i of sum is weight[i]+10; y = ½ · weight · sumᵀ.
	assert.Equal(t, []float32{20.5, 17.5, 20.5, 47.5, 40.5, 47.5}, out.GetData())
}

// TestMarshalIsDeterministic: equal checksums show that graphs are equal.
func TestMarshalIsDeterministic(t *testing.T) {
	build := func() []byte {
		g := onnx.NewGraph("same")
		x := g.Input("x", onnx.Float32, onnx.Fixed(1))
		g.NamedNode("", "Sum", []string{x, g.Floats("a", []float32{0}), g.Floats("a", []float32{0})}, []string{"y"})
		return g.Marshal()
	}
	assert.Equal(t, build(), build())
}

func sharedWeight(t *testing.T, dir string) onnx.Weight {
	t.Helper()
	d, err := onnx.CreateData(filepath.Join(dir, "weights.bin"))
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Add("before", onnx.Int8, []int{1}, bytesOf(7)) // so that the offset is not 0
	require.NoError(t, err)
	w, err := d.Add("w", onnx.Float32, []int{2, 2}, func(out io.Writer) error {
		var raw []byte
		for _, v := range []float32{1, 2, 3, 4} {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		_, err := out.Write(raw)
		return err
	})
	require.NoError(t, err)
	_, _, err = d.Finish()
	require.NoError(t, err)
	return w
}
