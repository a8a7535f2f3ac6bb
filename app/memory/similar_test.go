package memory

import (
	"math/rand/v2"
	"testing"

	"github.com/hbollon/go-edlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The distance is that of go-edlib 1.7.0, wherever it is not above the bound.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcdé日")
	text := func(n int) []rune {
		list := make([]rune, n)
		for i := range list {
			list[i] = letters[r.IntN(len(letters))]
		}
		return list
	}
	for range 5000 {
		a := text(r.IntN(12))
		b := text(r.IntN(len(a) + 1))
		if r.IntN(2) == 0 && len(a) > 0 { // similar ones
			b = append([]rune(nil), a[:len(a)-r.IntN(len(a))]...)
			for range r.IntN(3) {
				if len(b) > 0 {
					b[r.IntN(len(b))] = 'x'
				}
			}
		}
		most := r.IntN(8)
		want := edlib.LevenshteinDistance(string(a), string(b))
		if want > most {
			require.Greater(t, distance(a, b, most), most, "%s %s", string(a), string(b))
		} else {
			require.Equal(t, want, distance(a, b, most), "%s %s", string(a), string(b))
		}
	}
}

func TestSimilarity(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want float64
	}{
		{"The cat sat.", "The cat sat.", 1}, {"", "", 1}, {"abcd", "abcx", 0.75}, {"abcx", "abcd", 0.75}, {"abc", "abx", 0}, {"a", "", 0},
		{"日本語文", "日本語分", 0.75},
	} {
		assert.InDelta(t, test.want, similarity([]rune(test.a), []rune(test.b), NearLeast), 1e-9, "%+v", test)
	}
}

func TestGrams(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcdef": 1, "abcdefg": 2, "日本": 1, "日本語": 1, "日本語文": 2, "a日本語": 2} {
		assert.Len(t, gramsOf(text), want, text)
	}
	assert.Nil(t, gramsOf(string(make([]byte, longest+1))))
	assert.Equal(t, []uint64{5, 9}, rarest([]uint64{9, 5}, func(uint64) int { return 1 }))
	assert.Empty(t, rarest(nil, nil))
	list := make([]uint64, 100)
	for i := range list {
		list[i] = uint64(i)
	}
	for _, gram := range rarest(list, func(gram uint64) int { return int(gram % 10) }) {
		assert.True(t, gram%10 < 3 || gram > 90, gram)
	}
}

// Blocks hold what was put into them; damaged ones are errors.
func TestBlocks(t *testing.T) {
	entries := []stored{{1, "a", "b"}, {1, "c", ""}, {7, "日本", "d"}}
	block := encodeEntries(entries)
	got, err := decodeEntries(block, nil)
	require.NoError(t, err)
	assert.Equal(t, entries, got)
	got, err = decodeEntries(block, func(ref uint32) bool { return ref == 1 })
	require.NoError(t, err)
	assert.Equal(t, entries[:2], got)
	got, err = decodeEntries(block, func(uint32) bool { return false })
	require.NoError(t, err)
	assert.Empty(t, got)

	pointers := []pointer{{0, 4}, {0, 5}, {3, 1}, {1 << 31, 9}}
	refs := encodePointers(pointers)
	list, err := decodePointers(refs)
	require.NoError(t, err)
	assert.Equal(t, pointers, list)
	for i := range block {
		_, err := decodeEntries(block[:i], nil)
		assert.ErrorIs(t, err, errBlock, i)
	}
	var many []pointer
	for i := range uint32(1000) {
		many = append(many, pointer{8, i})
	}
	list, err = decodePointers(encodePointers(many))
	require.NoError(t, err)
	assert.Equal(t, many[:mostReferences], list)
}

func FuzzBlocks(f *testing.F) {
	f.Add(encodeEntries([]stored{{1, "a", "b"}}), encodePointers([]pointer{{1, 2}}))
	f.Fuzz(func(t *testing.T, entries, pointers []byte) {
		_, _ = decodeEntries(entries, nil)
		_, _ = decodePointers(pointers)
	})
}
