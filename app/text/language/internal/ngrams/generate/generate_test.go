package main

import (
	"archive/zip"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dragoman/app/text/language/internal/ngrams"
)

// message writes a model as lingua does, a set for each probability.
func message(sets map[float64][]string) []byte {
	data := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1)
	for probability, sequences := range sets {
		set := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(probability))
		for _, sequence := range sequences {
			set = protowire.AppendString(protowire.AppendTag(set, 2, protowire.BytesType), sequence)
		}
		data = protowire.AppendBytes(protowire.AppendTag(data, 4, protowire.BytesType), set)
	}
	return data
}

// writeModel writes the five files of a language, each with the same content.
func writeModel(t *testing.T, data []byte) (dir string) {
	dir = t.TempDir()
	for _, name := range []string{"unigrams", "bigrams", "trigrams", "quadrigrams", "fivegrams"} {
		file, err := os.Create(filepath.Join(dir, name+".pb.bin.zip"))
		require.NoError(t, err)
		archive := zip.NewWriter(file)
		w, err := archive.Create(name + ".pb.bin")
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, archive.Close())
		require.NoError(t, file.Close())
	}
	return dir
}

func TestReadModel(t *testing.T) {
	m, err := readModel(writeModel(t, message(map[float64][]string{0.5: {"a", "é"}, 0.25: {"b", "ж"}})), unicode.Latin)
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"a": 0.5, "é": 0.5, "b": 0.25}, m[1])
	assert.Equal(t, m[1], m[5])
	assert.Equal(t, 15, m.size())

	_, err = readModel(t.TempDir(), unicode.Latin)
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = readModel(writeModel(t, []byte{0xff}), unicode.Latin)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = readModel(writeModel(t, message(map[float64][]string{1: {"a"}})[:12]), unicode.Latin)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestDistil(t *testing.T) {
	var m model
	m[1] = map[string]float64{"a": 0.5, "b": 0.25, "q": 1e-9}
	standIn := math.Exp2(-2 - ngrams.Backoff) // what the table gives for ab without a record
	m[2] = map[string]float64{"ab": standIn, "ba": 0.9, "qa": 0.9}
	m[3] = map[string]float64{"aba": 0.9, "bab": math.Exp2(-2 - 2*ngrams.Backoff)}
	assert.ElementsMatch(t, []record{
		{ngrams.Hash("a"), 7, 16},
		{ngrams.Hash("b"), 7, 32},
		{ngrams.Hash("q"), 7, 255}, // as rare as letters get
		{ngrams.Hash("ba"), 7, 2},
		{ngrams.Hash("aba"), 7, 2}, // ba stands in badly: it costs Backoff more
	}, distil(&m, 1e-3, 7))
	assert.Len(t, distil(&m, 1, 7), 3, "single letters stay")
	assert.Len(t, distil(&m, 0, 7), m.size())
}

func TestAddSerbianLatin(t *testing.T) {
	m := model{1: {"ж": 0.1, "љ": 0.2}, 2: {"да": 0.3, "ањ": 0.4, "ћу": 0.5}}
	addSerbianLatin(&m)
	assert.Equal(t, map[string]float64{"ж": 0.1, "љ": 0.2, "ž": 0.1}, m[1])
	assert.Equal(t, map[string]float64{"да": 0.3, "ањ": 0.4, "ћу": 0.5, "da": 0.3, "ću": 0.5}, m[2])
}

func TestEncode(t *testing.T) {
	table := encode([]string{"xx", "yy"}, []record{{0x01020304, 1, 9}, {0x01020304, 0, 8}, {0x01020304, 0, 7}, {1, 0, 5}})
	assert.Equal(t, "ngrams1 xx yy\n\x00\x00\x00\x01\x00\x05\x01\x02\x03\x04\x00\x07\x01\x02\x03\x04\x01\x09", string(table))
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{}, {"-keep", "1"}, {"-out", "x", "y"}, {"-keep", "x"}, {"-unknown"}} {
		assert.Error(t, run(args, io.Discard), args)
	}
}
