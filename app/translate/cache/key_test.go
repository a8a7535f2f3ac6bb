package cache

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decode decodes a key. Since every key can be decoded, no two keys share an encoding.
func decode(t *testing.T, raw []byte) Key {
	var k Key
	for _, field := range []*string{&k.Model, &k.From, &k.To, &k.Options, &k.Text, &k.Spans, &k.Told} {
		length, n := binary.Uvarint(raw)
		require.Positive(t, n)
		require.LessOrEqual(t, length, uint64(len(raw)-n))
		*field, raw = string(raw[n:n+int(length)]), raw[n+int(length):]
	}
	require.Empty(t, raw)
	return k
}

func FuzzKeyEncoding(f *testing.F) {
	f.Add("m", "en", "fr", "beams=5", "Hello.", uint8(1))
	f.Add("", "", "", "", "", uint8(0))
	f.Add("\x00", "\x01\x00", "", "\xff\xff", strings.Repeat("x", 300), uint8(200))
	f.Fuzz(func(t *testing.T, model, from, to, options, text string, cut uint8) {
		k := Key{Model: model, From: from, To: to, Options: options, Text: text}
		raw := k.encode(nil)
		assert.Equal(t, k, decode(t, raw))
		assert.Equal(t, append([]byte("before"), raw...), k.encode([]byte("before")))

		// The same bytes, divided differently among the fields.
		moved := k
		n := min(int(cut), len(text))
		moved.Options, moved.Text = options+text[:n], text[n:]
		assert.Equal(t, n == 0, moved.digest() == k.digest())
		swapped := k
		swapped.From, swapped.To = to, from
		assert.Equal(t, from == to, swapped.digest() == k.digest())
	})
}

// A change of any field, or of any byte of it, changes the key.
func TestKeyFieldsMatter(t *testing.T) {
	base := Key{Model: "m", From: "en", To: "fr", Options: "o", Text: "a"}
	keys := []Key{
		base,
		{Model: "M", From: "en", To: "fr", Options: "o", Text: "a"},
		{Model: "m", From: "de", To: "fr", Options: "o", Text: "a"},
		{Model: "m", From: "en", To: "de", Options: "o", Text: "a"},
		{Model: "m", From: "fr", To: "en", Options: "o", Text: "a"},
		{Model: "m", From: "en", To: "fr", Options: "O", Text: "a"},
		{Model: "m", From: "en", To: "fr", Options: "o", Text: "A"},
		{Model: "m", From: "en", To: "fr", Options: "o", Text: "a "},
		{Model: "m", From: "en", To: "fr", Options: "o", Text: "a\x00"},
		{Model: "m", From: "en", To: "fr", Options: "oa"},
		{Model: "me", From: "n", To: "fr", Options: "o", Text: "a"},
		{Model: "m", From: "en", To: "fr", Options: "o", Text: strings.Repeat("a", 5000)},
		{Model: "m", From: "en", To: "fr", Options: "o", Text: "\u00e9"},  // composed
		{Model: "m", From: "en", To: "fr", Options: "o", Text: "e\u0301"}, // decomposed
	}
	seen := map[digest]Key{}
	for _, k := range keys {
		d := k.digest()
		assert.Zero(t, seen[d], "%+v", k)
		assert.Equal(t, d, k.digest())
		seen[d] = k
	}
}

func TestDigestDoesNotAllocate(t *testing.T) {
	k := Key{Model: strings.Repeat("f", 64), From: "en", To: "fr", Options: strings.Repeat("o", 150), Text: strings.Repeat("x", 500)}
	assert.Zero(t, testing.AllocsPerRun(100, func() { k.digest() }))
}
