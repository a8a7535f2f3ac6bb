package fleet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/engine"
	"dragoman/model/search"
)

// Messages survive encoding, and their bytes are the same in every version.
func TestMessages(t *testing.T) {
	searching := search.Options{Beams: 5, MaxLength: 200, MinLength: 1, LengthPenalty: 1.5, EarlyStopping: search.StopNever, NoRepeatNgramSize: 3, RepetitionPenalty: 1.1, Hypotheses: 4}
	phrases := []search.Phrase{{Forms: [][]int64{{42, 7}}}}
	w := work{
		Gateway: "G", ID: math.MaxUint64, Deadline: 1_700_000_000_000, Tries: 2, Caller: "c", Priority: -1,
		Source: []int64{128022, 5, 2}, Prefix: []int64{2, 128028}, Options: options{Options: searching}, Phrases: newPhrases(phrases),
	}
	raw := encode(&w)
	assert.Equal(t, "8a61471bffffffffffffffff1b0000018bcfe56800026163208"+
		"31a0001f416050282021a0001f41c880518c801fb3ff8000000000000656e6576657203fb3ff199999999999a0481828182182a07f6", hex.EncodeToString(raw))
	got, err := decode[work](map[string]any{format: string(raw)})
	require.NoError(t, err)
	assert.Equal(t, w, got)
	assert.Equal(t, engine.Job{Source: w.Source, Prefix: w.Prefix, Search: searching, Phrases: phrases}, got.job())

	result := engine.Result{
		Result: search.Result{Tokens: []int64{2, 7}, Score: -1.5, Truncated: true, Others: []search.Result{{Tokens: []int64{7}, Score: -2}, {Truncated: true}}},
		Queued: 3 * time.Millisecond, Computed: 5 * time.Millisecond, Shared: true, First: true,
	}
	r := newReply(result)
	r.ID = 7
	replies, err := decode[[]reply](map[string]any{format: string(encode([]*reply{r, {ID: 8, Fault: dead, Reason: "why"}}))})
	require.NoError(t, err)
	assert.Equal(t, []reply{*r, {ID: 8, Fault: dead, Reason: "why"}}, replies)
	result.Queued = 15 * time.Millisecond
	assert.Equal(t, result, replies[0].result(20*time.Millisecond))
	assert.Zero(t, replies[0].result(time.Millisecond).Queued)
}

func TestDamagedMessages(t *testing.T) {
	good := string(encode(&work{Gateway: "g"}))
	for name, values := range map[string]map[string]any{
		"nothing":          {},
		"another version":  {"1": good},
		"no text":          {format: 1},
		"empty":            {format: ""},
		"cut off":          {format: good[:len(good)-1]},
		"too long":         {format: good + "x"},
		"a map":            {format: "\xa0"},
		"too few fields":   {format: "\x81\x61g"},
		"a huge array":     {format: "\x9b\xff\xff\xff\xff\xff\xff\xff\xff"},
		"a huge text":      {format: "\x89\x7b\x7f\xff\xff\xff\xff\xff\xff\xff"},
		"too many tokens":  {format: string(encode(&work{Source: make([]int64, largest+1)}))},
		"nested":           {format: string(bytes.Repeat([]byte{0x81}, 1000)) + "\x01"},
		"without an end":   {format: "\x9f"},
		"a negative id":    {format: "\x89\x61g\x20\x00\x00\x60\x00\x80\x80\x88\x00\x00\x00\x00\x60\x00\x00\x00"},
		"priority too far": {format: "\x89\x61g\x00\x00\x00\x60\x19\x01\x00\x80\x80\x88\x00\x00\x00\x00\x60\x00\x00\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode[work](values)
			require.ErrorIs(t, err, errFormat)
			_, err = decode[[]reply](values)
			require.ErrorIs(t, err, errFormat)
		})
	}
}

// Decoding never panics, nor takes much more memory than the message has bytes.
func FuzzDecode(f *testing.F) {
	f.Add(encode(&work{Gateway: "g", ID: 1, Source: []int64{1, 2, 3}, Prefix: []int64{2}, Options: options{Options: search.Options{Beams: 5}}}))
	f.Add(encode(&work{Gateway: "g", Phrases: []phrase{{Phrase: search.Phrase{Forms: [][]int64{{1}, nil}, First: [][]int64{{2}}}}, {}}}))
	f.Add(encode([]reply{{ID: 1, Tokens: []int64{1}, Fault: failed}, {Others: []hypothesis{{Tokens: []int64{2}}, {}}}}))
	f.Add([]byte("\x9b\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x9a\x00\x01\xff\xff\xf6"))
	f.Add(bytes.Repeat([]byte{0x81}, 100))
	f.Fuzz(func(t *testing.T, raw []byte) {
		values := map[string]any{format: string(raw)}
		w, err := decode[work](values)
		if err == nil {
			again, err := decode[work](map[string]any{format: string(encode(&w))})
			require.NoError(t, err)
			if w.Options == again.Options { // false for a NaN
				assert.True(t, slices.Equal(w.Source, again.Source) && w.ID == again.ID && w.Gateway == again.Gateway)
			}
			assert.Positive(t, w.rows())
			_ = w.job()
		} else if !errors.Is(err, errFormat) {
			t.Fatal(err)
		}
		replies, err := decode[[]reply](values)
		if err != nil && !errors.Is(err, errFormat) {
			t.Fatal(err)
		}
		assert.LessOrEqual(t, len(replies), len(raw))
		for i := range replies {
			_ = replies[i].result(0)
		}
	})
}
