package server

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/checkpoint/safetensorstest"
	"dragoman/model/cpu/cputest"
	"dragoman/model/modeltest"
	"dragoman/tokenizer/spm"
)

// TestServiceTranslatesWithNLLB serves the bundled model in the form of NLLB-200. The translations must be those of the bundled
// model.
func TestServiceTranslatesWithNLLB(t *testing.T) {
	translations := func(r *running) (texts []string) {
		for _, test := range []struct{ from, to, text string }{
			{"en", "ja", "Where is the station?"}, {"en", "fr", "I like to read books."}, {"fr", "de", "Où est la gare ?"},
			{"ja", "en", "駅はどこですか。"}, {"zh", "en", "你好。"}, {"en", "de", "Hello {name}, I have 3 cats."},
		} {
			result, err := r.translated(test.from, test.to, []record{{"1", test.text}})
			require.NoError(t, err)
			texts = append(texts, result[0].Text)
		}
		return texts
	}
	var want []string
	t.Run("bundled", func(t *testing.T) { want = translations(service(t, "NUM_BEAMS=1")) }) // a process has one runtime
	nllb := service(t, "MODEL_WEIGHTS="+nllbForm(t), "SAVE_WEIGHTS="+t.TempDir(), "NUM_BEAMS=1")
	assert.Equal(t, want, translations(nllb))

	for from, to := range map[string]string{"eng_Latn": "fra_Latn", "en-GB": "fr-CA"} {
		result, err := nllb.translated(from, to, []record{{"1", "I like to read books."}})
		require.NoError(t, err)
		assert.Equal(t, want[1], result[0].Text, from)
	}

	resp, err := http.Get(nllb.url + "/languages")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var languages []struct{ Code string }
	require.NoError(t, json.Unmarshal(body, &languages))
	assert.Len(t, languages, 202)
}

// nllbForm writes a checkpoint of NLLB-200's form into a folder. Its weights are those of the bundled model, with the rows of
// the embedding in the order of NLLB's ids: special tokens, SentencePiece's pieces, 202 languages, <mask>.
func nllbForm(t *testing.T) string {
	const languages = 202
	from, dir := cputest.Bundled(), t.TempDir()
	read := func(name string, into any) {
		raw, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, into))
	}
	write := func(name string, value any) {
		raw, err := json.Marshal(value)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o644))
	}
	raw, err := os.ReadFile(filepath.Join(from, model.PieceModelFile))
	require.NoError(t, err)
	pieces, err := spm.Parse(raw)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, model.PieceModelFile), raw, 0o644))
	write(model.TokenizerConfigFile, map[string]string{"tokenizer_class": "NllbTokenizer"})

	var vocabulary map[string]int
	read(model.VocabFile, &vocabulary)
	rows := []int{vocabulary["<s>"], vocabulary["<pad>"], vocabulary["</s>"], vocabulary["<unk>"]} // rows of the bundled model, by NLLB's ids
	for id := 3; id < pieces.Size(); id++ {
		row, ok := vocabulary[pieces.Piece(int32(id))]
		if !ok {
			row = vocabulary["<unk>"]
		}
		rows = append(rows, row)
	}
	first := len(rows)
	rows = append(rows, slices.Repeat([]int{vocabulary["<unk>"]}, languages+1)...)
	// The places of English, French, German, Japanese and Chinese in FLORES-200's list, and M2M100's ids of them.
	for flores, m2m100 := range map[int]int{46: 18, 56: 24, 41: 16, 78: 42, 199: 98} {
		rows[first+flores] = len(vocabulary) + m2m100
	}

	var config map[string]any
	read("config.json", &config)
	config["vocab_size"] = len(rows)
	write("config.json", config)
	c, err := checkpoint.Open(from)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	var tensors []safetensorstest.Tensor
	for _, name := range tensorNames(t, filepath.Join(from, "model.safetensors")) {
		tensor, err := c.Tensor(name)
		require.NoError(t, err)
		source := safetensorstest.Tensor{Name: name, Shape: tensor.Shape, DType: safetensorstest.F16, Values: tensor.ReadFloat32}
		if name == "model.shared.weight" {
			width := tensor.Shape[1]
			source.Shape = []int{len(rows), width}
			source.Values = func(dst []float32, offset int) error {
				for i := 0; i < len(dst); i += width { // blocks have whole rows
					if err := tensor.ReadFloat32(dst[i:i+width], rows[(offset+i)/width]*width); err != nil {
						return err
					}
				}
				return nil
			}
		}
		tensors = append(tensors, source)
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	require.NoError(t, err)
	require.NoError(t, safetensorstest.Write(f, tensors))
	require.NoError(t, f.Close())
	return dir
}

// tensorNames returns the sorted names in the header of a safetensors file.
func tensorNames(t *testing.T, path string) []string {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var header map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw[8:8+binary.LittleEndian.Uint64(raw)], &header))
	delete(header, "__metadata__")
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestServiceTranslatesOneWay serves random models of Opus-MT and mBART-50, and a Firefox model from an index. The folder's name
// or the user gives the languages.
func TestServiceTranslatesOneWay(t *testing.T) {
	named := func(kind, name string) string {
		dir := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.CopyFS(dir, os.DirFS("../../model/testdata/families/"+kind)))
		return dir
	}
	for name, test := range map[string]struct {
		folder    string
		environ   []string
		languages []string
		to        string
	}{
		"one pair":         {named("marian", "opus-mt-en-fr"), nil, []string{"en", "fr"}, "fr"},
		"several targets":  {named("marian-many", "opus-mt-en-mul"), nil, []string{"de", "en", "fr", "zh-Hant"}, "zh-Hant"},
		"as the user says": {named("marian-many", "x"), []string{"MODEL_LANGUAGES=en,nl:de,fr"}, []string{"de", "en", "fr", "nl"}, "de"},
		"Firefox":          {"firefox:en-fr", []string{"FIREFOX_MODELS=" + firefoxMirror(t)}, []string{"en", "fr"}, "fr"},
		"told in words":    {named("t5-words", "x"), nil, []string{"de", "en", "fr", "ro"}, "de"},
		"mBART-50":         {named("mbart", "x"), []string{"MODEL_LANGUAGES=en,fr:de,uk"}, []string{"de", "en", "fr", "uk"}, "uk"},
	} {
		t.Run(name, func(t *testing.T) {
			r := service(t, append(test.environ, "MODEL_WEIGHTS="+test.folder, "SAVE_WEIGHTS="+t.TempDir())...)
			status, body := r.get(t, "/languages")
			require.Equal(t, http.StatusOK, status)
			var languages []struct{ Code string }
			require.NoError(t, json.Unmarshal([]byte(body), &languages))
			var codes []string
			for _, l := range languages {
				codes = append(codes, l.Code)
			}
			assert.Equal(t, test.languages, codes)
			texts, err := r.translated("en", test.to, []record{{"1", "I like to read books."}})
			require.NoError(t, err)
			assert.NotEmpty(t, texts[0].Text)
			_, short, err := r.translate("en", test.to, []record{{"1", "a"}})
			require.NoError(t, err)
			assert.NotContains(t, string(short), `"text":"a"`, "what stands around a text is told from it")
			status, answer, err := r.translate(test.to, "en", []record{{"1", "x"}})
			require.NoError(t, err)
			assert.Equal(t, http.StatusBadRequest, status, string(answer))
		})
	}
}

// TestServiceTranslatesAsOpusMT serves a small trained Opus-MT model: its translations equal those of transformers, with the
// search settings of the checkpoint.
func TestServiceTranslatesAsOpusMT(t *testing.T) {
	goldens := modeltest.Families(t)["marian-trained"]
	r := service(t, "MODEL_WEIGHTS="+goldens.Dir, "SAVE_WEIGHTS="+t.TempDir())
	for _, c := range goldens.Cases {
		want := c.Outputs["beam4"]
		if want.Truncated { // the sentence is retried
			continue
		}
		got, err := r.translated(c.From, c.To, []record{{"1", c.Text}})
		require.NoError(t, err, c.Text)
		assert.Equal(t, want.Text, got[0].Text, c.Text)
	}
}
