package checkpoint

import (
	"path/filepath"
	"strings"
	"testing"
)

// A name from an index is a plain name or is refused, whatever the index says.
func FuzzShards(f *testing.F) {
	for _, seed := range []string{
		`{"weight_map": {"a": "model-1.safetensors"}}`,
		`{"weight_map": {"a": "../x.safetensors"}}`,
		`{"weight_map": {"a": "\u0000.safetensors", "b": 3}}`,
		`{"weight_map": []}`, `[`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		names, err := Shards(index, ".safetensors")
		if err != nil {
			return
		}
		for _, name := range names {
			if filepath.Base(name) != name || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\/\x00") || name[0] == '.' {
				t.Fatalf("shard %q is not a plain name", name)
			}
		}
	})
}
