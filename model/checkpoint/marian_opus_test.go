package checkpoint_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/cpu/cputest"
	"dragoman/model/family"
	"dragoman/model/modeltest"
)

const opusFolder = "../testdata/opus"

// Models of Opus-MT in Marian's form write what ctranslate2 4.8.5 makes of them.
func TestGoldensOfOpus(t *testing.T) {
	for _, kind := range []string{"shared", "separate"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(opusFolder, kind)
			g := modeltest.Load(t, filepath.Join(dir, "goldens.json.gz"))
			converted, err := checkpoint.Convert(dir, t.TempDir())
			require.NoError(t, err)
			f, err := family.Recognize(model.Folder(converted), "")
			require.NoError(t, err)
			set, err := family.ParseDirections("en:fr")
			require.NoError(t, err)
			d, err := f.Directions(model.Folder(converted), kind, set)
			require.NoError(t, err)
			if kind == "shared" {
				d, err = f.Directions(model.Folder(converted), kind, family.Directions{Sources: []string{"en"}})
				require.NoError(t, err)
				assert.Equal(t, []string{"de", "fr"}, d.Targets)
			}
			tok, err := f.Tokenizer(converted, d.All())
			require.NoError(t, err)
			m := cputest.Open(t, converted, model.FP32)
			assert.Equal(t, 6, m.Spec().Generation.Beams)
			for _, c := range g.Cases {
				ids, err := tok.Encode(c.From, c.To, c.Text)
				require.NoError(t, err)
				assert.Equal(t, c.Source, ids, c.Text)
				for _, output := range c.Outputs {
					assert.Equal(t, output.Text, tok.Decode(output.IDs))
				}
			}
			g.Check(t, m, g.Cases, 0)
		})
	}
}

// opusWith is a copy of a model whose file is changed.
func opusWith(t *testing.T, file string, change func([]byte) []byte) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(opusFolder+"/shared")))
	raw, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	if changed := change(raw); changed == nil {
		require.NoError(t, os.Remove(filepath.Join(dir, file)))
	} else {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), changed, 0o600))
	}
	return dir
}

func TestOpusRefuses(t *testing.T) {
	replace := func(old, replacement string) func([]byte) []byte {
		return func(raw []byte) []byte {
			require.Contains(t, string(raw), old)
			return bytes.ReplaceAll(raw, []byte(old), []byte(replacement))
		}
	}
	for name, test := range map[string]struct {
		file   string
		change func([]byte) []byte
		want   string
	}{
		"no decoder.yml":    {"decoder.yml", func([]byte) []byte { return nil }, "whose decoder.yml says which files belong to it"},
		"broken":            {"decoder.yml", replace("models:", "models: ["), "whose decoder.yml says which files belong to it: yaml"},
		"an ensemble":       {"decoder.yml", replace("  - opus.npz", "  - opus.npz\n  - other.npz"), "decoder.yml has 2 models and 2 vocabularies: one and two are supported"},
		"beams":             {"decoder.yml", replace("beam-size: 6", "beam-size: 65"), `"beam-size" is 65: 1 to 64 are supported`},
		"elsewhere":         {"decoder.yml", replace("- opus.npz", "- ../opus.npz"), `decoder.yml names "../opus.npz": only files beside it are read`},
		"other vocabulary":  {"decoder.yml", replace("vocabs:\n  - opus.vocab.yml", "vocabs:\n  - other.yml"), "two vocabularies, other.yml and opus.vocab.yml, but the model one table"},
		"no model":          {"decoder.yml", replace("opus.npz", "other.npz"), "other.npz: no such file"},
		"no pieces":         {"source.spm", func([]byte) []byte { return nil }, "source.spm: no such file"},
		"no vocabulary":     {"opus.vocab.yml", func([]byte) []byte { return nil }, "opus.vocab.yml: "},
		"a list":            {"opus.vocab.yml", func([]byte) []byte { return []byte("- a\n- b\n") }, "it is no list of tokens and their numbers"},
		"no number":         {"opus.vocab.yml", replace("\"</s>\": 0", "\"</s>\": x"), "opus.vocab.yml: line 1: a token that is not there yet and its number are wanted"},
		"twice":             {"opus.vocab.yml", replace("\"<unk>\": 1", "\"</s>\": 1"), "opus.vocab.yml: line 2: a token that is not there yet"},
		"a key of many":     {"opus.vocab.yml", replace("\"<unk>\": 1", "? [a, b]\n: 1"), "line 2: a token that is not there yet"},
		"too few":           {"opus.vocab.yml", replace("\"<unk>\": 1\n", ""), "these files do not belong together"},
		"no end":            {"opus.vocab.yml", replace("</s>", "<end>"), "opus.vocab.yml has no entry </s>"},
		"no zip":            {"opus.npz", func([]byte) []byte { return []byte("abc") }, "opus.npz: this is not a file of numpy's arrays"},
		"cut":               {"opus.npz", func(raw []byte) []byte { return raw[:len(raw)/2] }, "opus.npz: this is not a file of numpy's arrays"},
		"no array":          {"opus.npz", replace("\x93NUMPY", "\x93numpy"), "this is not an array in numpy's format, version 1"},
		"64 bits":           {"opus.npz", replace("<f4", "<f8"), "Wemb has the type 0x0"},
		"Fortran's order":   {"opus.npz", replace("'fortran_order': False", "'fortran_order': True "), "only arrays in C's order are supported"},
		"a huge shape":      {"opus.npz", replace("'shape': (32, 64)", "'shape': (99, 99)"), "the file is damaged"},
		"an odd shape":      {"opus.npz", replace("'shape': (32, 64)", "'shape': (64, 32)"), "has the shape [64 32], [32 0] is wanted"},
		"pre-norm":          {"opus.npz", replace("postprocess: dan\n", "postprocess: da\n\n"), `transformer-postprocess is "da"`},
		"recurrent":         {"opus.npz", replace("self-attention\n", "rnn           \n"), `transformer-decoder-autoreg is "rnn"`},
		"another unit":      {"opus.npz", replace("activation: swish", "activation: gelu "), `transformer-ffn-activation is "gelu"`},
		"not that network":  {"opus.npz", replace("decoder_l1_context_Wq", "decoder_l1_context_Wz"), "the model has no decoder_l1_context_Wq"},
		"a head of its own": {"opus.npz", replace("decoder_ff_logit_out_b", "decoder_ff_logit_out_W"), "the LM head is a matrix of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := checkpoint.Convert(opusWith(t, test.file, test.change), t.TempDir())
			assert.ErrorContains(t, err, test.want)
		})
	}

	// What is packed can be neither mapped nor bounded.
	packed := opusWith(t, "opus.npz", func([]byte) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		f, err := w.Create("Wemb.npy")
		require.NoError(t, err)
		_, err = fmt.Fprint(f, strings.Repeat("a", 1000))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	})
	_, err := checkpoint.Convert(packed, t.TempDir())
	assert.ErrorContains(t, err, `"Wemb.npy": the array is compressed`)

	// A checkpoint of Hugging Face's that has such a file beside it is what it was.
	dir := opusWith(t, "decoder.yml", func([]byte) []byte { return nil })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte("{}"), 0o600))
	same, err := checkpoint.Convert(dir, t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, dir, same)
}
