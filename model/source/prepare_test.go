package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/checkpoint"
	"dragoman/model/export"
	"dragoman/model/modeltest"
	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

// fixture prepares models and counts the exports.
type fixture struct {
	source.Config
	mu      sync.Mutex
	exports []export.Options
}

func newFixture(t *testing.T, change func(*source.Config)) *fixture {
	f := &fixture{}
	f.Config = source.Config{Cache: t.TempDir(), Offline: true, Export: f.exportStub}
	if change != nil {
		change(&f.Config)
	}
	return f
}

func (f *fixture) count(opts export.Options) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exports = append(f.exports, opts)
}

// real makes a fixture export what a service needs.
func (f *fixture) real() *fixture {
	f.Export = func(ctx context.Context, checkpoint, out string, opts export.Options) (*model.Manifest, error) {
		f.count(opts)
		return export.Export(ctx, checkpoint, out, opts)
	}
	return f
}

// exportStub exports a few bytes, which depend on those of the checkpoint: what this
// package does with an export does not depend on how large it is.
func (f *fixture) exportStub(ctx context.Context, from, out string, opts export.Options) (*model.Manifest, error) {
	f.count(opts)
	spec, err := checkpoint.ReadSpec(from)
	if err != nil {
		return nil, err
	}
	source, err := model.HashFile(ctx, filepath.Join(from, "model.safetensors"))
	if err != nil {
		return nil, err
	}
	m := &model.Manifest{Format: model.ManifestFormat, Source: opts.Source, Revision: opts.Revision, Precision: opts.Precision,
		Spec: spec, Files: map[string]model.File{}}
	for _, name := range []string{model.WeightsFile, model.DecoderFile, model.VocabFile} {
		path := filepath.Join(out, name)
		if err := os.WriteFile(path, []byte(name+source.SHA256), 0o644); err != nil {
			return nil, err
		}
		if m.Files[name], err = model.HashFile(ctx, path); err != nil {
			return nil, err
		}
	}
	return m, m.Write(out)
}

func (f *fixture) prepare(t *testing.T) string {
	t.Helper()
	dir, err := prepare(t.Context(), f.Config)
	require.NoError(t, err)
	m, err := model.ReadManifest(dir)
	require.NoError(t, err)
	modeltest.CheckFiles(t, dir, m)
	return dir
}

// preparer makes a preparer.
func preparer(t *testing.T, cfg source.Config) *source.Preparer {
	t.Helper()
	p, err := source.NewPreparer(cfg)
	require.NoError(t, err)
	return p
}

// prepare prepares a folder.
func prepare(ctx context.Context, cfg source.Config) (string, error) {
	p, err := source.NewPreparer(cfg)
	if err != nil {
		return "", err
	}
	return p.Prepare(ctx)
}

func TestBundled(t *testing.T) {
	f := newFixture(t, nil).real()
	dir := f.prepare(t)
	assert.Equal(t, f.Cache, filepath.Dir(dir))
	require.Len(t, f.exports, 1)
	assert.Equal(t, []string{"de", "en", "fr", "ja", "zh"}, f.exports[0].Languages)
	assert.Equal(t, model.FP32, f.exports[0].Precision, "small models gain nothing from 8 bits")
	assert.Empty(t, leftovers(t, dir))

	assert.Equal(t, dir, f.prepare(t))
	assert.Len(t, f.exports, 1, "nothing to do the second time")

	f.Precision = model.INT8
	assert.NotEqual(t, dir, f.prepare(t), "precisions do not displace each other in the cache")
	assert.Len(t, f.exports, 2)
}

func TestDamagedManifestIsExportedAgain(t *testing.T) {
	f := newFixture(t, nil)
	dir := f.prepare(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.ManifestFile), []byte("{"), 0o644))
	f.prepare(t)
	assert.Len(t, f.exports, 2)
}

func TestSaveWeights(t *testing.T) {
	out := filepath.Join(t.TempDir(), "not", "yet", "there")
	f := newFixture(t, func(c *source.Config) { c.SaveWeights, c.Cache = out, "" })
	assert.Equal(t, out, f.prepare(t))
	f.Precision = model.INT8
	assert.Equal(t, out, f.prepare(t))
	require.Len(t, f.exports, 2, "another precision is another export")
	f.Precision = ""
	f.prepare(t)
	assert.Len(t, f.exports, 3, "what size decides is not what was asked for by name")
}

func TestCheckpointFolder(t *testing.T) {
	dir := checkpointFolder(t)
	f := newFixture(t, func(c *source.Config) { c.Weights = dir })
	exported := f.prepare(t)
	require.Len(t, f.exports, 1)
	assert.Len(t, f.exports[0].Languages, 100)
	f.prepare(t)
	assert.Len(t, f.exports, 1)

	touch(t, filepath.Join(dir, "model.safetensors"))
	assert.Equal(t, exported, f.prepare(t))
	assert.Len(t, f.exports, 2, "a changed checkpoint is exported again")
	_, err := os.Stat(filepath.Join(dir, "config.json"))
	assert.NoError(t, err, "the user's own folder is left alone")
}

func TestExportedFolderIsServedAsItIs(t *testing.T) {
	exported := newFixture(t, nil).prepare(t)
	f := newFixture(t, func(c *source.Config) { c.Weights = exported })
	assert.Equal(t, exported, f.prepare(t))
	assert.Empty(t, f.exports)
}

func TestRepository(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	f := newFixture(t, func(c *source.Config) { c.Weights, c.Endpoint, c.Offline = repo, server.Endpoint, false })
	dir := f.prepare(t)
	require.Len(t, f.exports, 1)
	assert.Equal(t, repo+"@main", f.exports[0].Source)
	assert.NotEmpty(t, f.exports[0].Revision, "the commit is known")
	assert.Empty(t, leftovers(t, dir), "the download is gone")

	asked := len(server.Requests())
	f.prepare(t)
	assert.Len(t, server.Requests(), asked, "a prepared model needs no network")
	assert.Len(t, f.exports, 1)

	commit := f.exports[0].Revision
	f.Revision = commit
	f.prepare(t)
	require.Len(t, f.exports, 2, "another revision is another source, even if it is the same commit")
	assert.Equal(t, repo+"@"+commit, f.exports[1].Source)
}

func TestKeepCheckpoint(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	f := newFixture(t, func(c *source.Config) {
		c.Weights, c.Endpoint, c.Offline, c.KeepCheckpoint, c.SaveWeights = repo, server.Endpoint, false, true, t.TempDir()
	})
	f.prepare(t)
	sent := server.Sent("model.safetensors")
	f.Precision = model.INT8
	f.prepare(t)
	assert.Len(t, f.exports, 2)
	assert.Equal(t, sent, server.Sent("model.safetensors"), "the second precision needs no second download")
}

func TestFailedExportKeepsTheDownload(t *testing.T) {
	server := hubtest.New(t, repo, bundledFiles(t))
	f := newFixture(t, func(c *source.Config) { c.Weights, c.Endpoint, c.Offline = repo, server.Endpoint, false })
	broken := errors.New("disk full")
	f.Export = func(context.Context, string, string, export.Options) (*model.Manifest, error) { return nil, broken }
	_, err := prepare(t.Context(), f.Config)
	require.ErrorIs(t, err, broken)

	f.Export = f.exportStub
	f.prepare(t)
	assert.EqualValues(t, len(bundledFiles(t)["model.safetensors"]), server.Sent("model.safetensors"))
}

// TestTwoAtOnce has two processes' worth of preparers use one folder.
func TestTwoAtOnce(t *testing.T) {
	f := newFixture(t, nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := prepare(t.Context(), f.Config)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Len(t, f.exports, 1)
}

func TestRefuses(t *testing.T) {
	foreign := checkpointFolder(t)
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "config.json"), []byte(`{"model_type":"bert"}`), 0o644))
	mixed := checkpointFolder(t)
	require.NoError(t, os.WriteFile(filepath.Join(mixed, model.VocabFile), bigVocabulary(t), 0o644))
	doubtful := t.TempDir() // in CTranslate2's form, of two layers in the encoder and one in the decoder
	require.NoError(t, os.CopyFS(doubtful, os.DirFS("../testdata/ctranslate2/few-biases")))
	tokens, err := json.Marshal(append([]string{"<unk>", "<s>", "</s>", "__en__", "__fr__"}, make([]string, 75)...))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(doubtful, "shared_vocabulary.json"), tokens, 0o644))
	require.NoError(t, model.CopyFile("../testdata/families/ctranslate2-argos/sentencepiece.model", filepath.Join(doubtful, "sentencepiece.model")))
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		change func(*source.Config)
		want   string
	}{
		"no such folder":     {t.Context(), func(c *source.Config) { c.Weights = "./absent" }, "absent"},
		"not a name":         {t.Context(), func(c *source.Config) { c.Weights = "a b c" }, "a b c"},
		"another model":      {t.Context(), func(c *source.Config) { c.Weights = foreign }, "model_type"},
		"foreign vocabulary": {t.Context(), func(c *source.Config) { c.Weights = mixed }, "the tokenizer has 17100 tokens, the model's vocab_size is 16116"},
		"maybe SMaLL-100":    {t.Context(), func(c *source.Config) { c.Weights = doubtful }, "MODEL_FAMILY=ctranslate2 has the model read as M2M100"},
		"said not to be it":  {t.Context(), func(c *source.Config) { c.Weights, c.Family = doubtful, "ctranslate2" }, "model.safetensors"}, // goes on to the export
		"said to be it":      {t.Context(), func(c *source.Config) { c.Weights, c.Family = doubtful, "small100" }, "vocab.json"},
		"hub fails":          {t.Context(), func(c *source.Config) { c.Weights = repo }, "offline mode"},
		"no cache":           {t.Context(), func(c *source.Config) { c.Cache = "" }, "set SAVE_WEIGHTS"},
		"folder is a file":   {t.Context(), func(c *source.Config) { c.SaveWeights = blocked }, "set SAVE_WEIGHTS to a folder that can be written"},
		"an archive":         {t.Context(), func(c *source.Config) { c.Weights = blocked }, "is a file: name the folder of a model, of an archive the one that it is unpacked to"},
		"cancelled":          {cancelled, func(*source.Config) {}, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(c.ctx, newFixture(t, c.change).Config)
			require.Error(t, err)
			assert.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestAcceptConfig(t *testing.T) {
	files := bundledFiles(t)
	accept := preparer(t, source.Config{}).AcceptConfig
	most, err := accept(files["config.json"], nil)
	require.NoError(t, err)
	assert.Greater(t, most, int64(len(files["model.safetensors"])))
	for config, want := range map[string]string{`{"model_type":"bert"}`: "config.json: \"model_type\"", `{`: "config.json"} {
		_, err = accept([]byte(config), nil)
		assert.ErrorContains(t, err, want)
	}
	_, err = accept(files["config.json"], []byte(`{"min_length": 30, "max_length": 20}`))
	assert.ErrorContains(t, err, "generation_config.json: min length is 30: use 0 to the max length, 20")

	refused := errors.New("no such network")
	_, err = preparer(t, source.Config{Accept: func(model.Spec) error { return refused }}).AcceptConfig(files["config.json"], nil)
	assert.ErrorIs(t, err, refused)
}

func TestLanguagesAreKnownBeforeWeights(t *testing.T) {
	for _, test := range []struct{ name, family, languages, want string }{
		{"opus-mt-en-mul", "", "", ""}, {"any", "", "en:fr", ""}, {"any", "", "en:it", `"it"`}, {"any", "", "en-fr", "MODEL_LANGUAGES"},
		{"any", "nobody", "", "unknown family"},
	} {
		err := preparer(t, source.Config{Family: test.family, Languages: test.languages}).Check(model.Folder("../testdata/families/marian-many"), test.name)
		if test.want == "" {
			require.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, test.want)
	}
}

// leftovers are the entries of an exported folder that do not belong there.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	m, err := model.ReadManifest(dir)
	require.NoError(t, err)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if _, ok := m.Files[e.Name()]; !ok && e.Name() != model.ManifestFile && e.Name() != ".dragoman.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func checkpointFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, bundled.WriteTo(dir))
	return dir
}

func bundledFiles(t *testing.T) map[string][]byte {
	t.Helper()
	dir := checkpointFolder(t)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, e := range entries {
		files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return files
}

// touch makes a file a microsecond younger.
func touch(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	later := info.ModTime().Add(1000)
	require.NoError(t, os.Chtimes(path, later, later))
}

// bigVocabulary has more tokens than the bundled model has embeddings.
func bigVocabulary(t *testing.T) []byte {
	t.Helper()
	ids := map[string]int{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
	for len(ids) < 17000 {
		ids[fmt.Sprintf("piece%d", len(ids))] = len(ids)
	}
	raw, err := json.Marshal(ids)
	require.NoError(t, err)
	return raw
}
