package access

import (
	"encoding/base32"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewKey(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		key := NewKey()
		require.Regexp(t, `^dgm_[A-Z2-7]{56}$`, key)
		require.True(t, wellFormed(key))
		require.False(t, seen[key])
		seen[key] = true
	}
}

// A letter that is wrong, missing, doubled or swapped is noticed.
func TestWellFormedNoticesTypos(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	key := NewKey()
	for i := len(keyPrefix); i < len(key); i++ {
		for _, letter := range letters {
			wrong := key[:i] + string(letter) + key[i+1:]
			assert.Equal(t, wrong == key, wellFormed(wrong), wrong)
		}
		assert.False(t, wellFormed(key[:i]+key[i+1:]))
		assert.False(t, wellFormed(key[:i+1]+key[i:]))
		if i+1 < len(key) && key[i] != key[i+1] {
			assert.False(t, wellFormed(key[:i]+key[i+1:i+2]+key[i:i+1]+key[i+2:]))
		}
		assert.False(t, wellFormed(key[:i]+"\n"+key[i+1:]), "the decoder skips line breaks")
		assert.False(t, wellFormed(key[:i]+"="+key[i+1:]))
	}
	for _, s := range []string{
		"", "dgm_", key + "\n", "\n" + key, " " + key, key + " ", strings.ToLower(key), "DGM_" + key[4:], "xxx_" + key[4:],
		strings.Repeat("A", keyLength), "dgm_" + strings.Repeat("=", keyLength-4), strings.Repeat("\x00", keyLength),
	} {
		assert.False(t, wellFormed(s), "%q", s)
	}
}

func FuzzWellFormed(f *testing.F) {
	for _, s := range []string{"", "dgm_", NewKey(), "dgm_" + strings.Repeat("A", 56)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if wellFormed(s) { // there is one way only to write it
			raw, err := base32.StdEncoding.DecodeString(s[len(keyPrefix):])
			require.NoError(t, err)
			assert.Equal(t, s, keyPrefix+base32.StdEncoding.EncodeToString(raw))
		}
	})
}

func TestLine(t *testing.T) {
	key := NewKey()
	for _, options := range [][]string{nil, {"rate=10/s"}, {"rate=10/s", "burst=20", "chars=100000/m"}, {"rate=unlimited"}, {"admin"}, {"admin", "rate=1/s"}} {
		line, err := Line("alice", key, options...)
		require.NoError(t, err)
		assert.NotContains(t, line, key)
		accounts, err := parseAccounts([]byte(line), Limits{})
		require.NoError(t, err)
		require.Len(t, accounts, 1)
		assert.Equal(t, "alice", accounts[0].name)
		assert.Equal(t, slices.Contains(options, "admin"), accounts[0].admin)
		assert.Equal(t, []digest{digestOf(key)}, accounts[0].digests)
	}
	for _, test := range []struct {
		name, key string
		options   []string
		want      string
	}{
		{"", key, nil, "use a name"},
		{"a b", key, nil, "use a name"},
		{"a#b", key, nil, "use a name"},
		{"-a", key, nil, "a line begins with a name"},
		{"ä", key, nil, "a line begins with a name"},
		{strings.Repeat("a", 64), key, nil, "a line begins with a name"},
		{key, key, nil, "this is a key itself"},
		{"alice", "", nil, "not one that this program makes"},
		{"alice", "hunter2", nil, "not one that this program makes"},
		{"alice", key, []string{""}, "limits such as"},
		{"alice", key, []string{"sha256:00"}, "limits such as"},
		{"alice", key, []string{"rate=1/s burst=3"}, "limits such as"},
		{"alice", key, []string{"rate=1/s#"}, "limits such as"},
		{"alice", key, []string{"rate=1/s\nbob"}, "limits such as"},
		{"alice", key, []string{"rate=1"}, "is not a rate"},
		{"alice", key, []string{"speed=1"}, "rate=, burst=, chars= or tokens="},
	} {
		_, err := Line(test.name, test.key, test.options...)
		require.ErrorContains(t, err, test.want, "%+v", test)
	}
}
