package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/model"
	"dragoman/model/repository"
)

// checkingLoader compares files as the real loader does, and opens models that decode nothing.
type checkingLoader struct{ *fakeLoader }

func (l checkingLoader) Check(ctx context.Context, s Source) error {
	_ = l.fakeLoader.Check(ctx, s)
	return s.Manifest.Check(ctx, s.Dir, model.VerifyChanged)
}

func (l checkingLoader) Load(ctx context.Context, s Source, state engine.Pool) (Instance, error) {
	if err := s.Manifest.Check(ctx, s.Dir, model.VerifyChanged); err != nil {
		return nil, err
	}
	return l.fakeLoader.Load(ctx, s, state)
}

// exportTo makes an exported folder with small files.
func exportTo(t *testing.T, dir string) {
	require.NoError(t, os.MkdirAll(dir, 0o755))
	small := model.Spec{
		Encoder: model.Stack{Layers: 1, Heads: 1, FFN: 1}, Decoder: model.Stack{Layers: 1, Heads: 1, FFN: 1},
		DModel: 4, VocabSize: 300, MaxPositions: 100, EmbedScale: 1, Pad: 1, EOS: 2, DecoderStart: 2,
	}
	m := model.Manifest{Format: model.ManifestFormat, Precision: model.FP32, Family: "m2m100", Spec: small, Languages: []string{"de", "en", "fr"}, Files: map[string]model.File{}}
	for _, name := range []string{model.WeightsFile, model.EncoderFile, model.DecoderFile, model.VocabFile} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("the bytes of "+name), 0o600))
		var err error
		m.Files[name], err = model.HashFile(t.Context(), path)
		require.NoError(t, err)
	}
	require.NoError(t, m.Write(dir))
}

// If any file of a copy of a loaded model is changed in any way, the copy is never served, and the model continues. Intact
// copies are served, and unchanged files are read once.
func TestAnyDamageOfACopy(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	damages := map[string]func(path string) error{
		"a bit": func(path string) error {
			raw, err := os.ReadFile(path)
			raw[random.IntN(len(raw))] ^= 1 << random.IntN(8)
			return errorsOf(err, os.WriteFile(path, raw, 0o600))
		},
		"cut off": func(path string) error { return os.Truncate(path, int64(random.IntN(5))) },
		"longer":  func(path string) error { return os.Truncate(path, 1000) },
		"missing": os.Remove,
		"another": func(path string) error {
			return errorsOf(os.WriteFile(path+"~", []byte("other bytes"), 0o600), os.Rename(path+"~", path))
		},
		"a folder": func(path string) error { return errorsOf(os.Remove(path), os.Mkdir(path, 0o700)) },
		"none":     func(string) error { return nil },
		"a bit, at the same time": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			raw, err := os.ReadFile(path)
			raw[random.IntN(len(raw))] ^= 1
			return errorsOf(err, os.WriteFile(path, raw, 0o600), os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
	}
	files := []string{model.ManifestFile, model.WeightsFile, model.EncoderFile, model.DecoderFile, model.VocabFile}
	for _, name := range slices.Sorted(maps.Keys(damages)) {
		for _, file := range files {
			for _, copied := range []string{"a/2", "b/1"} {
				for _, late := range []bool{false, true} { // the copy was intact at first
					dir := t.TempDir()
					exportTo(t, filepath.Join(dir, "a", "1"))
					damage := func() {
						require.NoError(t, damages[name](filepath.Join(dir, copied, file)))
					}
					synctest.Test(t, func(t *testing.T) {
						c := start(t, Config{})
						c.cfg.Loader = checkingLoader{c.loader}
						scanner := repository.NewScanner([]string{dir})
						c.Update(scanner.Scan())
						c.touch("a")
						if late && copied == "a/2" { // the copy shares the loaded instance, so its own files do not matter
							return
						}
						require.NoError(t, os.CopyFS(filepath.Join(dir, copied), os.DirFS(filepath.Join(dir, "a", "1"))))
						if late {
							c.Update(scanner.Scan())
							synctest.Wait()
							require.Equal(t, Ready, c.states()["b:1"])
						}
						damage()
						for range 3 {
							c.Update(scanner.Scan())
							synctest.Wait()
						}
						state := c.statusOfVersion(map[string]string{"a/2": "a", "b/1": "b"}[copied], int(copied[2]-'0'))
						if name == "none" {
							assert.Equal(t, Ready, state.State)
						} else if !late {
							assert.Equal(t, Broken, state.State, "%s of %s in %s", name, file, copied)
						}
						assert.Equal(t, name != "none", state.Reason != "", "%s of %s in %s: %+v", name, file, copied, state)
						c.touch("a")
						c.loader.set(func() { assert.LessOrEqual(t, len(c.loader.checks), 2, "what has not changed is not read again") })
						time.Sleep(time.Hour) // tries by itself
						synctest.Wait()
						assert.Equal(t, name == "none" || late, c.states()[state.Name+":"+state.Version] == Ready)
					})
				}
			}
		}
	}
}

// If a model's files are overwritten during use, its requests fail, and it is loaded again if the files are then intact. The
// process needs no restart, unless it has no other model. A loss for other reasons does need one.
func TestFilesChangeInUse(t *testing.T) {
	lose := func(c *tested, identity string, err error) {
		c.loader.set(func() {
			for i := range c.loader.open {
				if i.identity == identity {
					i.lost = err
				}
			}
		})
	}
	damaged := fmt.Errorf("%w: %w", model.ErrLost, model.ErrDamaged)
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Config{}, plain("a", "b")...)
		c.touch("b")
		first, second := c.mustUse("a"), c.mustUse("a")
		lose(c, "a", damaged)
		require.NoError(t, c.Healthy())
		first()
		assert.Equal(t, map[string]State{"a:1": Draining, "b:1": Ready}, c.states())
		waits := c.background(t.Context(), "a")
		c.touch("b")
		second()
		o := <-waits
		require.NoError(t, o.err)
		assert.Equal(t, 2, c.loader.count("a"), "its files are sound again")
		c.loader.set(func() { c.loader.broken["a"] = model.ErrDamaged })
		lose(c, "a", damaged)
		o.release()
		_, _, err := c.use(t.Context(), "a")
		_, broken := errors.AsType[*BrokenError](err)
		assert.True(t, broken, err)
		assert.Equal(t, map[string]State{"a:1": Broken, "b:1": Ready}, c.states())
		require.NoError(t, c.Healthy())

		release := c.mustUse("b")
		lose(c, "b", model.ErrLost)
		require.Error(t, c.Healthy())
		release()
		assert.Equal(t, Ready, c.states()["b:1"])
	})
	synctest.Test(t, func(t *testing.T) {
		single := named("a", "a")
		single.Versions[0].Fingerprint = "" // as [repository.Single] has it
		c := start(t, Config{}, single)
		release := c.mustUse("a")
		lose(c, "a", damaged)
		release()
		assert.Equal(t, map[string]State{"a:1": Ready}, c.states())
		assert.Error(t, c.Healthy())
	})
}

// errorsOf returns the first non-nil error.
func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
