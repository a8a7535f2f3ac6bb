package spm

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
)

const bundledModel = "../../model/bundled/sentencepiece.bpe.model"

// A reference is a model and texts that SentencePiece has split with it. The variants differ from the bundled model in their
// treatment of spaces and their normalization rules.
type reference struct {
	name    string
	file    []byte
	records []goldentest.Record
}

func references(t testing.TB) []reference {
	bundled, err := os.ReadFile(bundledModel)
	require.NoError(t, err)
	all := []reference{
		{"corpus", bundled, goldentest.Read(t, "../testdata/corpus.jsonl.gz")},
		{"hostile", bundled, goldentest.Read(t, "../testdata/hostile.jsonl.gz")},
	}
	paths, err := filepath.Glob("testdata/*.model.gz")
	require.NoError(t, err)
	require.Len(t, paths, 15)
	for _, path := range paths {
		name := strings.TrimSuffix(path, ".model.gz")
		all = append(all, reference{filepath.Base(name), unzip(t, path), goldentest.Read(t, name+".jsonl.gz")})
	}
	return all
}

func unzip(t testing.TB, path string) []byte {
	zipped, err := os.ReadFile(path)
	require.NoError(t, err)
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	require.NoError(t, err)
	raw, err := io.ReadAll(r)
	require.NoError(t, err)
	return raw
}

// TestGoldens compares with spm_encode and spm_decode.
func TestGoldens(t *testing.T) {
	for _, ref := range references(t) {
		t.Run(ref.name, func(t *testing.T) {
			model, err := Parse(ref.file)
			require.NoError(t, err)
			for _, r := range ref.records {
				pieces := model.Encode(r.Input())
				if !assert.Equal(t, len(r.Pieces), len(pieces), "%.200q", r.Input()) {
					continue
				}
				for i := range pieces {
					require.Equal(t, r.Pieces[i], pieces[i], "piece %d of %.200q", i, r.Input())
				}
				assert.Equal(t, r.Decoded, model.Decode(r.Pieces), "decoding %.200q", r.Pieces)
			}
		})
	}
}

// plainly normalizes without the normalizer's shortcuts.
func plainly(m *Model, text string) string {
	n := *m.normalizer.(*normalizer)
	clear(n.plainASCII[:])
	clear(n.plainBMP[:])
	return string(n.append(nil, text))
}

// TestNormalizerShortcuts checks that the shortcuts change no result.
func TestNormalizerShortcuts(t *testing.T) {
	for _, ref := range references(t) {
		t.Run(ref.name, func(t *testing.T) {
			model, err := Parse(ref.file)
			require.NoError(t, err)
			for _, r := range ref.records {
				require.Equal(t, plainly(model, r.Input()), string(model.AppendNormalized(nil, r.Input())), "%.200q", r.Input())
			}
		})
	}
}

// TestTokensCover checks that the tokens of any text leave no gap.
func TestTokensCover(t *testing.T) {
	model, err := open(bundledModel)
	require.NoError(t, err)
	for _, r := range goldentest.Read(t, "../testdata/hostile.jsonl.gz") {
		// The text itself serves as its normalized form: no caller can break this.
		for _, text := range [][]byte{[]byte(r.Input()), model.AppendNormalized(nil, r.Input())} {
			requireCover(t, model, text)
		}
	}
}

func requireCover(t testing.TB, model *Model, normalized []byte) {
	at, unknown := 0, false
	for _, token := range model.AppendTokens(nil, normalized) {
		require.Equal(t, at, token.Start)
		require.Greater(t, token.End, token.Start)
		if token.ID == model.Unknown() {
			require.False(t, unknown, "two unknown tokens in a row")
		} else if model.kinds[token.ID] == bytePiece {
			require.Equal(t, model.Piece(token.ID), fmt.Sprintf(bytePieceForm, normalized[token.Start]))
			require.Equal(t, token.Start+1, token.End)
		} else {
			require.Equal(t, model.Piece(token.ID), string(normalized[token.Start:token.End]))
			require.Contains(t, []uint8{normalPiece, userPiece}, model.kinds[token.ID])
		}
		at, unknown = token.End, token.ID == model.Unknown()
	}
	require.Equal(t, len(normalized), at)
}

func TestAppendTokensKeepsWhatIsThere(t *testing.T) {
	model, err := open(bundledModel)
	require.NoError(t, err)
	earlier := []Token{{ID: model.Unknown(), Start: 0, End: 7}}
	tokens := model.AppendTokens(earlier, []byte("☃☃"))
	assert.Equal(t, []Token{{model.Unknown(), 0, 7}, {model.Unknown(), 0, 6}}, tokens)
}

func TestConcurrentUse(t *testing.T) {
	for _, ref := range references(t) {
		if ref.name != "hostile" && ref.name != "unigram" {
			continue
		}
		model, err := Parse(ref.file)
		require.NoError(t, err)
		wrong := make([]string, 4)
		var wg sync.WaitGroup
		for worker := range wrong {
			wg.Go(func() {
				for i := range ref.records {
					r := ref.records[(i+worker*100)%len(ref.records)]
					if got := model.Encode(r.Input()); !slices.Equal(got, r.Pieces) {
						wrong[worker] = r.Input()
					}
				}
			})
		}
		wg.Wait()
		assert.Equal(t, make([]string, 4), wrong, ref.name)
	}
}

func open(path string) (*Model, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(file)
}
