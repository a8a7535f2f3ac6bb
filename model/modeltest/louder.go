package modeltest

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/x448/float16"
)

// intoStream matches T5's weights whose outputs are added to the residual stream.
var intoStream = regexp.MustCompile(`^shared\.|\.(o|wo)\.weight$`)

// Louder returns the goldens of a T5 in half precision whose residual stream is larger by the factor times, as in real models.
// The norms divide by that factor again, so the outputs are the same.
func Louder(t testing.TB, g *Goldens, times float32) *Goldens {
	t.Helper()
	louder := *g
	louder.Dir = t.TempDir()
	require.NoError(t, os.CopyFS(louder.Dir, os.DirFS(g.Dir)))
	path := filepath.Join(louder.Dir, "model.safetensors")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	data := 8 + binary.LittleEndian.Uint64(raw)
	var tensors map[string]struct {
		DType   string    `json:"dtype"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	header := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(raw[8:data], &header))
	delete(header, "__metadata__")
	rest, err := json.Marshal(header)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(rest, &tensors))
	for name, tensor := range tensors {
		if !intoStream.MatchString(name) {
			continue
		}
		require.Equal(t, "F16", tensor.DType)
		for at := data + tensor.Offsets[0]; at < data+tensor.Offsets[1]; at += 2 {
			value := float16.Frombits(binary.LittleEndian.Uint16(raw[at:])).Float32() * times
			require.Less(t, max(value, -value), float32(65504), name)
			binary.LittleEndian.PutUint16(raw[at:], float16.Fromfloat32(value).Bits())
		}
	}
	require.NoError(t, os.WriteFile(path, raw, 0o644))
	return &louder
}
