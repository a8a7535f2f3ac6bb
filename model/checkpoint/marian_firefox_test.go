package checkpoint_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/checkpoint"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
	"dragoman/model/family"
	"dragoman/model/modeltest"
	"dragoman/model/search"
)

// firefoxGoldens are what fxtranslate makes of texts.
type firefoxGoldens struct {
	Cases []struct {
		Text        string `json:"text"`
		Translation string `json:"translation"`
	} `json:"cases"`
}

func readGoldens(t *testing.T, dir string) (g firefoxGoldens) {
	f, err := os.Open(filepath.Join(dir, "goldens.json.gz"))
	require.NoError(t, err)
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(unpacked).Decode(&g))
	return g
}

var bytePieces = regexp.MustCompile(`(<0x[0-9A-F]{2}>)+`)

// withBytes is a translation with the bytes for which fxtranslate writes the names of their pieces.
func withBytes(text string) string {
	return strings.TrimSpace(bytePieces.ReplaceAllStringFunc(text, func(run string) string {
		raw, _ := hex.DecodeString(strings.NewReplacer("<0x", "", ">", "").Replace(run))
		return string(raw)
	}))
}

// In 8 bits, as the models are, translations are those of fxtranslate.
func TestGoldensOfFirefox(t *testing.T) {
	// Sums between matrix products are added up in another order than there, so that now and then one of the numbers that are
	// rounded to 8 bits is the next one. That decides where two tokens are almost as likely: seldom, but random weights, the
	// others', write long texts of such tokens. A run of unknown characters is one piece, as SentencePiece has it, and for
	// fxtranslate one each: "firefox" has one text with such a run, "firefox-separate" 34 of 350.
	for kind, least := range map[string]float64{"firefox": 0.96, "firefox-separate": 0.87, "firefox-trained": 0.99} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join("..", "testdata", kind)
			converted, err := checkpoint.Convert(dir, t.TempDir())
			require.NoError(t, err)
			tok, err := family.OpenTokenizer(converted, "firefox", []string{"en", "fr"})
			require.NoError(t, err)
			m := cputest.Open(t, converted, model.INT8)
			g := readGoldens(t, dir)
			var jobs []modeltest.Job
			for _, c := range g.Cases {
				ids, err := tok.Encode("en", "fr", c.Text)
				require.NoError(t, err)
				job := modeltest.Job{Case: modeltest.Case{Source: ids, Prefix: []int64{m.Spec().DecoderStart}}, Search: search.DefaultOptions(m.Spec().Generation)}
				job.Search.MaxLength = min(2*len(ids)+4, 256) + 1 // as fxtranslate has it
				jobs = append(jobs, job)
			}
			results, err := modeltest.Decode(m, jobs, 0, func(running int) int { return 16 - running })
			require.NoError(t, err)
			same := 0
			for i, c := range g.Cases {
				if tok.Decode(results[i].Tokens) == withBytes(c.Translation) {
					same++
				}
			}
			assert.Greater(t, float64(same), least*float64(len(g.Cases)), "%d of %d are the same", same, len(g.Cases))
			t.Logf("%d of %d are the same", same, len(g.Cases))
		})
	}
}

// Layers that take the same numbers quantize them once, whatever their alphas.
func TestAlphasThatDiffer(t *testing.T) {
	dir, name := t.TempDir(), "model.enfr.intgemm.alphas.bin"
	require.NoError(t, os.CopyFS(dir, os.DirFS("../testdata/firefox")))
	raw, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	for _, swap := range []string{"Wk Wx", "Wo Wk", "Wx Wo"} { // Wo has another alpha
		from, to, _ := strings.Cut(swap, " ")
		alpha := func(layer string) []byte { return []byte("encoder_l1_self_" + layer + "_QuantMultA") }
		raw = bytes.ReplaceAll(raw, alpha(from), alpha(to))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	converted, err := checkpoint.Convert(dir, t.TempDir())
	require.NoError(t, err)
	cputest.Export(t, converted, model.INT8)
}

// Without its shortlist a model writes other tokens too.
func TestNoShortlist(t *testing.T) {
	converted, err := checkpoint.Convert("../testdata/firefox", t.TempDir())
	require.NoError(t, err)
	tok, err := family.OpenTokenizer(converted, "firefox", []string{"en", "fr"})
	require.NoError(t, err)
	ids, err := tok.Encode("en", "fr", "I like to read books.")
	require.NoError(t, err)
	exported := cputest.Export(t, converted, model.INT8)
	var texts []string
	for _, off := range []bool{false, true} {
		m, err := cputest.Runtime(t).Open(t.Context(), exported, cpu.Options{NoShortlist: off})
		require.NoError(t, err)
		job := modeltest.Job{Case: modeltest.Case{Source: ids, Prefix: []int64{m.Spec().DecoderStart}}, Search: search.DefaultOptions(m.Spec().Generation)}
		job.Search.MaxLength, job.Search.MinLength, job.Search.Beams = 40, 40, 4
		results, err := modeltest.Decode(m, []modeltest.Job{job}, 0, func(int) int { return 1 })
		require.NoError(t, err)
		texts = append(texts, tok.Decode(results[0].Tokens))
		require.NoError(t, m.Close())
	}
	assert.NotEqual(t, texts[0], texts[1])
}

// BenchmarkFirefox decodes the sentences of FIREFOX_TEXTS, one in each line, with the model in the folder FIREFOX_MODEL, which
// never ends one: each has as many tokens as fxtranslate then writes. See scripts/bench/firefox.py.
func BenchmarkFirefox(b *testing.B) {
	dir, texts := os.Getenv("FIREFOX_MODEL"), os.Getenv("FIREFOX_TEXTS")
	if dir == "" || texts == "" {
		b.Skip("FIREFOX_MODEL and FIREFOX_TEXTS name none")
	}
	raw, err := os.ReadFile(texts)
	require.NoError(b, err)
	converted, err := checkpoint.Convert(dir, b.TempDir())
	require.NoError(b, err)
	tok, err := family.OpenTokenizer(converted, "firefox", []string{"en", "fr"})
	require.NoError(b, err)
	m, err := cputest.Runtime(b).Open(b.Context(), cputest.Export(b, converted, model.INT8), cpu.Options{Threads: runtime.GOMAXPROCS(0)})
	require.NoError(b, err)
	defer func() { _ = m.Close() }()
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for name, together := range map[string]int{"one": 1, "together": 64} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var jobs []modeltest.Job
				for _, text := range lines {
					ids, err := tok.Encode("en", "fr", text)
					require.NoError(b, err)
					job := modeltest.Job{Case: modeltest.Case{Source: ids, Prefix: []int64{m.Spec().DecoderStart}}, Search: search.DefaultOptions(m.Spec().Generation)}
					job.Search.MaxLength = min(2*len(ids)+4, 256) + 1
					jobs = append(jobs, job)
				}
				results, err := modeltest.Decode(m, jobs, together, func(running int) int { return together - running })
				require.NoError(b, err)
				for _, r := range results {
					_ = tok.Decode(r.Tokens)
				}
			}
			b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "sentences/s")
		})
	}
}
