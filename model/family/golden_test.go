package family

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/modeltest"
)

// TestGoldens demands the sources, beginnings and texts of the reference.
func TestGoldens(t *testing.T) {
	for name, g := range modeltest.Families(t) {
		t.Run(name, func(t *testing.T) {
			for file, want := range g.Files {
				got, err := model.HashFile(t.Context(), g.Dir+"/"+file)
				require.NoError(t, err)
				require.Equal(t, want, got.SHA256, "%s is not that of the goldens", file)
			}
			f, err := Recognize(model.Folder(g.Dir), "")
			require.NoError(t, err)
			assert.Contains(t, name, f.Name)
			between, err := f.Directions(model.Folder(g.Dir), g.Checkpoint, Directions{})
			require.NoError(t, err)
			tok, err := f.Tokenizer(g.Dir, between.All())
			require.NoError(t, err)
			for _, c := range g.Cases {
				if f.directions != nil {
					assert.Contains(t, between.Sources, c.From)
					assert.Contains(t, between.Targets, c.To)
				}
				ids, err := tok.Encode(c.From, c.To, c.Text)
				require.NoError(t, err)
				assert.Equal(t, c.Source, ids, "%s-%s %q", c.From, c.To, c.Text)
				assert.Equal(t, c.Prefix[1:], append([]int64{}, tok.Forced(c.From, c.To)...))
				for setting, out := range c.Outputs {
					assert.Equal(t, out.Text, tok.Decode(out.IDs), "%s of %q", setting, c.Text)
				}
			}
		})
	}
}
