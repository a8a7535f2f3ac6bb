// Package modeltest reads the goldens made by Hugging Face transformers for the bundled checkpoint and for small random
// checkpoints, of odd shapes and of other families.
//
// scripts/goldens/models.py writes them below model/testdata; the header of the script says how. Every golden names the versions
// that made it and the checksums of the checkpoint's files. Only tests use this package.
package modeltest

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dragoman/model"
)

// Goldens are the reference's outputs for one checkpoint.
type Goldens struct {
	// Dir is the checkpoint's folder on this machine.
	Dir string `json:"-"`
	// Checkpoint is the same folder relative to the module's root.
	Checkpoint string `json:"checkpoint"`
	// Files has the sha256 of the checkpoint's files at the time of making the goldens.
	Files    map[string]string `json:"files"`
	MadeWith Versions          `json:"made_with"`
	// Settings are the searches that were run, by name. "greedy" and "beam5" are always present; "defaults" has the settings of
	// the checkpoint's own files.
	Settings map[string]model.Generation `json:"settings"`
	Cases    []Case                      `json:"cases"`
	Traces   []Trace                     `json:"traces"`
	// Padded has, by setting, the outputs, without margins, of all cases decoded as one padded batch. The bundled checkpoint's
	// goldens have no such outputs.
	Padded map[string][]Output `json:"padded"`
}

// Versions are the versions of the software that made the goldens.
type Versions struct {
	Attention     string `json:"attention"`   // transformers' implementation of attention
	CTranslate2   string `json:"ctranslate2"` // for models in its format, which it ran
	DType         string `json:"dtype"`       // of the reference's computation
	Machine       string `json:"machine"`
	PEFT          string `json:"peft"` // for adapters, which it merged
	Python        string `json:"python"`
	SentencePiece string `json:"sentencepiece"`
	Torch         string `json:"torch"`
	Transformers  string `json:"transformers"`
}

// Case is a source with the outputs of every search run on it.
type Case struct {
	// Set is the origin of the source: "held-out" are Tatoeba sentences that the checkpoint did not see in training, "odd" are
	// hostile texts, "random" are random ids.
	Set string `json:"set"`
	// From, To, Text and Reference are empty in random cases; Reference, a human translation, is empty if the corpus has none.
	From      string `json:"from"`
	To        string `json:"to"`
	Text      string `json:"text"`
	Reference string `json:"reference"`

	Source  []int64           `json:"source"`  // encoder input, [srcLen]
	Prefix  []int64           `json:"prefix"`  // decoder start and forced tokens, such as the target language
	Outputs map[string]Output `json:"outputs"` // by setting; "defaults" only in random cases
}

// Output is the output of one search.
type Output struct {
	// IDs are all decoder tokens: the prefix, the translation and, unless
	// Truncated and not forced, the end token.
	IDs []int64 `json:"ids"`
	// Text is IDs decoded without special tokens; empty in random cases.
	Text      string `json:"text"`
	Truncated bool   `json:"truncated"` // cut at the setting's MaxLength, or forced to end there
	// Score is the best hypothesis's: its summed log-probability divided by (len(IDs)-1)^LengthPenalty. It is 0 in greedy
	// searches.
	Score float64 `json:"score"`
	// Margin is the smallest difference of two scores on whose comparison the search depended; nil if the search compared no
	// scores or the margin was not measured.
	Margin *float64 `json:"margin"`
}

// NearTie reports whether some decision of the search depended on a difference below tolerance, so that another correct
// implementation may produce another output.
func (o Output) NearTie(tolerance float64) bool {
	return o.Margin != nil && *o.Margin < tolerance
}

// Trace has the intermediate values of one search.
type Trace struct {
	Case    int    `json:"case"`    // index into Goldens.Cases
	Setting string `json:"setting"` // key of Goldens.Settings
	// Steps has an entry for each token of the output except the first: Steps[i] follows IDs[:i+1]. Steps[0] comes before the
	// language is forced.
	Steps []Step `json:"steps"`
	// Encoder and Cross are present in some traces only.
	Encoder *Encoder `json:"encoder"`
	Cross   []Cross  `json:"cross"`
}

// Step is the model's output for one decoder input, before any penalty: the best tokens, best first, and the log-sum-exp of all
// logits.
type Step struct {
	IDs       []int64   `json:"ids"`
	LogProbs  []float64 `json:"log_probs"`
	LogSumExp float64   `json:"log_sum_exp"`
}

// Encoder describes the encoder's output after its last LayerNorm.
type Encoder struct {
	Norms []float64   `json:"norms"` // Euclidean length by position, [srcLen]
	Heads [][]float64 `json:"heads"` // first values by position, [srcLen, 8]
}

// Cross describes the cross-attention input of one decoder layer.
type Cross struct {
	Layer  int    `json:"layer"`
	Keys   Matrix `json:"keys"`
	Values Matrix `json:"values"`
}

// Matrix describes keys or values of shape [heads, srcLen, headDim].
type Matrix struct {
	MeanAbs []float64     `json:"mean_abs"` // mean magnitude by head, [heads]
	Heads   [][][]float64 `json:"heads"`    // first values, [heads, srcLen, 8]
}

// Bundled returns the goldens of the bundled checkpoint.
func Bundled(t testing.TB) *Goldens {
	t.Helper()
	return Load(t, filepath.Join(root(t), "model", "testdata", "bundled.json.gz"))
}

// Sample returns every n-th case with -short, which "make test" sets, and otherwise all.
func Sample(n int, all []Case) []Case {
	if !testing.Short() {
		return all
	}
	var some []Case
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

// Odd returns the goldens of every random checkpoint of an odd shape, by name.
func Odd(t testing.TB) map[string]*Goldens {
	t.Helper()
	return all(t, "odd")
}

// Families returns the goldens of the checkpoints of families beside M2M100, by family. Their cases have texts and translations.
func Families(t testing.TB) map[string]*Goldens {
	t.Helper()
	return all(t, "families")
}

// Adapters returns the goldens of random checkpoints with an adapter beside them, which peft merged, by name.
func Adapters(t testing.TB) map[string]*Goldens {
	t.Helper()
	return all(t, "adapters")
}

// Converted returns the goldens of every random model in CTranslate2's format, by name.
func Converted(t testing.TB) map[string]*Goldens {
	t.Helper()
	return all(t, "ctranslate2")
}

// all returns the goldens in the subfolders of a folder of model/testdata, by name.
func all(t testing.TB, folder string) map[string]*Goldens {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(t), "model", "testdata", folder, "*", "goldens.json.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens of %s: %v: make them with scripts/goldens", folder, err)
	}
	found := make(map[string]*Goldens, len(paths))
	for _, path := range paths {
		found[filepath.Base(filepath.Dir(path))] = Load(t, path)
	}
	return found
}

// Load reads a file of goldens. It ends the test on an error.
func Load(t testing.TB, path string) *Goldens {
	t.Helper()
	g, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	g.Dir = filepath.Join(root(t), filepath.FromSlash(g.Checkpoint))
	return g
}

// Read reads a file of goldens, without Dir. It fails on fields unknown to Goldens: then the file and this package do not match.
func Read(path string) (*Goldens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open goldens: %w: make them with scripts/goldens/models.py", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read goldens %s: %w", path, err)
	}
	var g Goldens
	d := json.NewDecoder(z)
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return nil, fmt.Errorf("read goldens %s: %w", path, err)
	}
	return &g, nil
}

// Root returns the module's root, where go.mod is, above the working directory: tests may have been built on another machine.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); !errors.Is(err, os.ErrNotExist) {
			return dir, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory: run tests inside the module")
		}
		dir, err = parent, nil
	}
	return "", err
}

// Library returns the path of ONNX Runtime's library: ONNXRUNTIME_LIB or, by default, the path to which `make runtime` downloads
// it. It panics outside the module.
func Library() string {
	if path := os.Getenv("ONNXRUNTIME_LIB"); path != "" {
		return path
	}
	dir, err := Root()
	if err != nil {
		panic(err)
	}
	return filepath.Join(dir, "build", "onnxruntime", "libonnxruntime.so")
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
