package export_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/export"
	"dragoman/model/family"
	"dragoman/model/modeltest"
)

// The manifest of a model of any family lists all files of its tokenizer: with only these files the same tokenizer can be opened
// elsewhere, as in a fleet's gateway. Different vocabularies have different files, so tokenizers are shared by files.
func TestManifestsListTheFilesOfTokenizers(t *testing.T) {
	checkpoints := map[string]string{"bundled": bundled}
	for name, g := range modeltest.Families(t) {
		checkpoints[name] = g.Dir
	}
	for _, name := range []string{"firefox", "firefox-separate"} {
		dir, err := checkpoint.Convert(filepath.Join("..", "testdata", name), t.TempDir())
		require.NoError(t, err)
		checkpoints[name] = dir
	}
	covered, keys := map[string]bool{}, map[string]string{}
	for name, dir := range checkpoints {
		t.Run(name, func(t *testing.T) {
			f, err := family.Recognize(model.Folder(dir), "")
			require.NoError(t, err)
			between, err := f.Directions(model.Folder(dir), "opus-mt-en-fr", family.Directions{})
			require.NoError(t, err)
			want, err := f.Tokenizer(dir, between.All())
			require.NoError(t, err)
			out, alone := t.TempDir(), t.TempDir()
			m, err := export.Export(t.Context(), dir, out, export.Options{Precision: model.INT8, Family: f.Name, Languages: want.Languages()})
			require.NoError(t, err)
			files := m.TokenizerFiles()
			for file := range files {
				require.NoError(t, model.CopyFile(filepath.Join(out, file), filepath.Join(alone, file)))
			}
			got, err := family.OpenTokenizer(alone, m.Family, m.Languages)
			require.NoError(t, err)
			languages := want.Languages()
			for _, text := range []string{"Hello, \"world\": it's 5.", "你好。"} {
				from, to := languages[0], languages[len(languages)-1]
				if len(between.Sources) > 0 {
					from, to = between.Sources[0], between.Targets[len(between.Targets)-1]
				}
				ids, err := want.Encode(from, to, text)
				require.NoError(t, err)
				again, err := got.Encode(from, to, text)
				require.NoError(t, err)
				assert.Equal(t, ids, again)
				assert.Equal(t, want.Decode(ids), got.Decode(ids))
			}
			for _, graph := range []string{model.WeightsFile, model.EncoderFile, model.DecoderFile} {
				assert.NotContains(t, files, graph)
			}
			key := fmt.Sprint(files)
			assert.Empty(t, keys[key], "its files are those of another model")
			covered[f.Name], keys[key] = true, name
		})
	}
	for _, name := range family.Names() {
		assert.Contains(t, covered, name)
	}
}
