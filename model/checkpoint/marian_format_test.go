package checkpoint

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const firefoxFolder = "../testdata/firefox"

func modelFile(t testing.TB) []byte {
	raw, err := os.ReadFile(firefoxFolder + "/model.enfr.intgemm.alphas.bin")
	require.NoError(t, err)
	return raw
}

// put changes the number of 8 bytes at an offset.
func put(raw []byte, at int, v uint64) []byte {
	raw = bytes.Clone(raw)
	binary.LittleEndian.PutUint64(raw[at:], v)
	return raw
}

func TestMarianRefuses(t *testing.T) {
	whole := modelFile(t)
	const first = 16 // the header of the first item: lengths of its name, type, rank, bytes
	for name, test := range map[string]struct {
		raw     []byte
		message string
	}{
		"empty":           {nil, "not a model in Marian's binary format"},
		"another version": {put(whole, 0, 2), "not a model in Marian's binary format"},
		"many items":      {put(whole, 8, 1<<40), "not a model in Marian's binary format"},
		"more items":      {put(whole, 8, 1<<13), "damaged"},
		"long name":       {put(whole, first, 1<<60), "has a name of 1152921504606846976 bytes"},
		"rank":            {put(whole, first+16, 1<<50), "dimensions"},
		"much data":       {put(whole, first+24, math.MaxUint64), "bytes of data"},
		"a little more":   {put(whole, first+24, uint64(len(whole))), "cut off or damaged"},
		"less data":       {put(whole, first+24, 1), "but 1 bytes"},
		"cut":             {whole[:len(whole)/2], "cut off or damaged"},
		"header cut":      {whole[:100], "cut off or damaged"},
		"a model of HF's": {[]byte("PK\x03\x04 and so on, longer than a header"), "not a model in Marian's binary format"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseMarian(bytes.NewReader(test.raw), int64(len(test.raw)))
			assert.ErrorContains(t, err, test.message)
		})
	}
}

// A folder that is not that of a student whose network is supported is refused, and says why.
func TestFirefoxRefuses(t *testing.T) {
	vocab, err := os.ReadFile(firefoxFolder + "/vocab.enfr.spm")
	require.NoError(t, err)
	other, err := os.ReadFile("../testdata/firefox-separate/srcvocab.enfr.spm")
	require.NoError(t, err)
	swap := func(old, new string) []byte {
		require.Len(t, new, len(old))
		return bytes.Replace(modelFile(t), []byte(old), []byte(new), 1)
	}
	const name, pieces = "model.enfr.intgemm.alphas.bin", "vocab.enfr.spm"
	for title, test := range map[string]struct {
		files   map[string][]byte
		message string
	}{
		"self-attention":   {map[string][]byte{name: swap("autoreg: rnn", "autoreg: sat"), pieces: vocab}, `transformer-decoder-autoreg is "sat"`},
		"another norm":     {map[string][]byte{name: swap("process: dan", "process: dnn"), pieces: vocab}, `transformer-postprocess is "dnn"`},
		"not YAML":         {map[string][]byte{name: swap("type: trans", "type: [{]}:"), pieces: vocab}, "special:model.yml"},
		"many layers":      {map[string][]byte{name: swap("enc-depth: 2", "enc-depth: 9"), pieces: vocab}, "the model has no"},
		"no layers":        {map[string][]byte{name: swap("dec-depth: 2", "dec-depth: 0"), pieces: vocab}, "dec-depth is 0"},
		"heads":            {map[string][]byte{name: swap("heads: 4", "heads: x"), pieces: vocab}, "transformer-heads is x"},
		"no settings":      {map[string][]byte{name: swap("special:model.yml", "special:model.yaa"), pieces: vocab}, "does not say what it is"},
		"no table":         {map[string][]byte{name: swap("Wemb\x00", "Wemc\x00"), pieces: vocab}, "decoder_Wemb"},
		"no alphas":        {map[string][]byte{name: swap("none_QuantMultA", "none_QuantMultB"), pieces: vocab}, "only those with alphas"},
		"an alpha missing": {map[string][]byte{name: swap("rnn_Wf_QuantMultA", "rnn_Wf_QuantMultB"), pieces: vocab}, "rnn_Wf_QuantMultA"},
		"no vocabulary":    {map[string][]byte{name: modelFile(t)}, "there is no vocab.*.spm"},
		"another's":        {map[string][]byte{name: modelFile(t), pieces: other}, "do not belong together"},
		"no SentencePiece": {map[string][]byte{name: modelFile(t), pieces: []byte("abc")}, pieces},
		"two models":       {map[string][]byte{name: modelFile(t), "model.fren.intgemm.alphas.bin": nil, pieces: vocab}, "a folder of its own"},
		"not gzip":         {map[string][]byte{name + ".gz": modelFile(t), pieces: vocab}, "gzip"},
		"not zstd":         {map[string][]byte{name + ".zst": modelFile(t), pieces: vocab}, "magic"},
		"metadata":         {map[string][]byte{name: modelFile(t), pieces: vocab, "metadata.json": []byte("{")}, "metadata.json"},
	} {
		t.Run(title, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range test.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), content, 0o644))
			}
			_, err := Convert(dir, t.TempDir())
			if err == nil && title == "another's" {
				t.Skip("both have as many pieces")
			}
			require.ErrorContains(t, err, test.message)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

// A shortlist is that of the model, or refused.
func TestShortlistRefuses(t *testing.T) {
	whole, err := os.ReadFile(firefoxFolder + "/lex.50.50.enfr.s2t.bin")
	require.NoError(t, err)
	items, err := parseMarian(bytes.NewReader(modelFile(t)), int64(len(modelFile(t))))
	require.NoError(t, err)
	s, err := newNetwork(items)
	require.NoError(t, err)
	require.NoError(t, s.shortlist(bytes.NewReader(whole), int64(len(whole))))
	assert.Equal(t, 20, s.list.First)
	assert.Equal(t, s.sources, s.list.Words)
	assert.Equal(t, 30*s.sources, s.list.Targets)
	last := len(whole) - 4
	for name, test := range map[string]struct {
		raw     []byte
		message string
	}{
		"empty":          {nil, "not a lexical shortlist"},
		"another file":   {put(whole, 0, 1), "not a lexical shortlist"},
		"cut":            {whole[:last], "damaged"},
		"longer":         {append(bytes.Clone(whole), 0, 0, 0, 0), "damaged"},
		"many first":     {put(whole, 16, 1<<40), "do not belong together"},
		"many offsets":   {put(whole, 32, math.MaxUint64/8+3), "do not belong together"},
		"many targets":   {put(whole, 40, math.MaxUint64/4+3), "do not belong together"},
		"no targets":     {put(whole, 40, 0), "do not belong together"},
		"a list of more": {put(whole, shortlistHeader+8, math.MaxUint64), "do not follow each other"},
		"backwards":      {put(whole, shortlistHeader+16, 0), "do not follow each other"},
		"unknown token":  {put(whole, last-4, uint64(s.targets)<<32), "lists token"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorContains(t, s.shortlist(bytes.NewReader(test.raw), int64(len(test.raw))), test.message)
		})
	}
}

// A model with a damaged shortlist is refused, and its files are closed.
func TestRefusedModelIsClosed(t *testing.T) {
	dir, err := Convert(firefoxFolder, t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, shortlistFile), []byte("damaged"), 0o600))
	_, err = openWeights(dir)
	require.ErrorContains(t, err, "not a lexical shortlist")
	descriptors, err := filepath.Glob("/proc/self/fd/*") // none outside Linux
	require.NoError(t, err)
	for _, descriptor := range descriptors {
		file, _ := os.Readlink(descriptor)
		assert.NotContains(t, file, dir)
	}
}

// What is no model of another program is a checkpoint already.
func TestCheckpointIsLeftAlone(t *testing.T) {
	dir := "../testdata/families/marian"
	got, err := Convert(dir, t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, dir, got)
	_, err = Convert("../testdata/nowhere", t.TempDir())
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzMarian has files of Marian's format be refused, or be models that are converted.
func FuzzMarian(f *testing.F) {
	whole := modelFile(f)
	f.Add(whole[:4096])
	f.Add(put(whole, 24, 0x404)[:20000])
	f.Fuzz(func(t *testing.T, raw []byte) {
		items, err := parseMarian(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for _, item := range items {
			_, _ = item.number()
			_, _ = item.multiplier()
			_, err := io.Copy(io.Discard, item.data)
			require.NoError(t, err)
		}
		s, err := newNetwork(items)
		if err != nil {
			return
		}
		_ = s.shortlist(bytes.NewReader(raw), int64(len(raw)))
		if err := s.readTensors(); err == nil {
			readAll(t, s.tensors, 2*len(raw))
		}
		assert.False(t, strings.HasPrefix(s.target, "special:"))
	})
}
