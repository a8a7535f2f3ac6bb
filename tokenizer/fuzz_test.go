package tokenizer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/tokenizer/internal/goldentest"
	"dragoman/tokenizer/moses"
)

// FuzzEncode checks that no text gives a special token, a language or an id out of range, and that the decoded text encodes and
// decodes to itself.
func FuzzEncode(f *testing.F) {
	for _, r := range goldentest.Read(f, "testdata/hostile.jsonl.gz") {
		if len(r.Input()) < 100 {
			f.Add(r.Input())
		}
	}
	tok := open(f)
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := tok.Encode("ja", "en", text)
		require.NoError(t, err)
		requireText(t, tok, ids)
		first := tok.Decode(ids)
		if strings.Contains(text, "\u2581") {
			return // decodes to a space, which may be surplus
		}
		for _, id := range ids {
			if id == tok.source.vocab.unknown {
				return // left out, which may change the text beside it
			}
		}
		again, err := tok.Encode("ja", "en", first)
		require.NoError(t, err)
		require.Equal(t, first, tok.Decode(again))
	})
}

// FuzzDecode decodes arbitrary bytes as ids.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 0x1f, 0x59, 0xff, 0xff})
	tok := open(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var ids []int64
		for i := 0; i+1 < len(raw); i += 2 {
			ids = append(ids, int64(int16(raw[i])<<8|int16(raw[i+1])))
		}
		text := tok.Decode(ids)
		require.Equal(t, text, strings.TrimFunc(text, moses.IsSpace))
		require.NotContains(t, text, "\u2581")
	})
}
