package checkpoint

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Parts of a file in the old format with {"a": tensor} of storage "0".
const (
	magicPickle   = "\x80\x02" + legacyMagic
	versionPickle = "\x80\x02M\xe9\x03."
	machinePickle = "\x80\x02}X\x0d\x00\x00\x00little_endian\x88s."
	keysPickle    = "\x80\x02]X\x01\x00\x00\x000a."
	fourOnes      = "\x04\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f\x00\x00\x80\x3f"
)

func parseLegacyFile(raw string) (map[string]Tensor, error) {
	return parseTorch(strings.NewReader(raw), int64(len(raw)))
}

func TestLegacy(t *testing.T) {
	start := magicPickle + versionPickle + machinePickle
	tensors, err := parseLegacyFile(start + vector(1, 2, 4) + keysPickle + fourOnes)
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 1}, read(t, tensors["a"]))

	// Two tensors of one storage, which they say is of two sizes.
	one := vector(0, 2, 4)
	two := strings.Replace(strings.Replace(one[3:len(one)-2], "a", "b", 1), "K\x04tQ", "K\x05tQ", 1)
	disagree := "\x80\x02}(" + one[3:len(one)-2] + two + "u."

	for name, test := range map[string]struct{ raw, want string }{
		"magic only":          {magicPickle, "version: pickle has no end"},
		"other version":       {magicPickle + "\x80\x02M\xea\x03.", "version 1002 of torch's old format, only 1001"},
		"no version":          {magicPickle + machinePickle, "version 0 of torch's old format"},
		"no machine":          {magicPickle + versionPickle, "system information: pickle has no end"},
		"another machine":     {magicPickle + versionPickle + "\x80\x02]." + one, "system information is not a dict"},
		"big endian":          {magicPickle + versionPickle + strings.Replace(machinePickle, "\x88", "\x89", 1) + one, "does not say little_endian"},
		"unknown endian":      {magicPickle + versionPickle + "\x80\x02}." + one, "does not say little_endian"},
		"no state dict":       {start, "state dict: pickle has no end"},
		"cut in the dict":     {start + one[:40], "state dict: pickle opcode"},
		"system call":         {start + "cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "state dict: malformed pickle: os.system is not allowed"},
		"a call in the keys":  {start + one + "cos\nsystem\nX\x02\x00\x00\x00ls\x85R.", "keys of storages: malformed pickle: os.system is not allowed"},
		"no keys":             {start + one, "keys of storages: pickle has no end"},
		"keys in a dict":      {start + one + "\x80\x02}.", "keys of storages are not a list"},
		"number as a key":     {start + one + "\x80\x02]K\x00a.", `key "" is that of no tensor's storage`},
		"other key":           {start + one + strings.Replace(keysPickle, "0a", "1a", 1) + fourOnes, `key "1" is that of no tensor's storage`},
		"key twice":           {start + one + "\x80\x02](X\x01\x00\x00\x000X\x01\x00\x00\x000e." + fourOnes + fourOnes, `key "0" is that of no tensor's storage, or there twice`},
		"storage without key": {start + one + "\x80\x02]." + fourOnes, `tensor "a": storage "0" is not in the file`},
		"no storage":          {start + one + keysPickle, `storage "0" at byte`},
		"cut in the count":    {start + one + keysPickle + fourOnes[:7], "unexpected EOF"},
		"cut in the storage":  {start + one + keysPickle + fourOnes[:23], "lies beyond the file's"},
		"other count":         {start + one + keysPickle + "\x05" + fourOnes[1:], `storage "0" has 5 elements, its tensors say 4`},
		"huge count":          {start + one + keysPickle + strings.Repeat("\xff", 24), `storage "0" has 18446744073709551615 elements`},
		"two sizes":           {start + disagree + keysPickle + fourOnes, "elsewhere"},
		"beyond storage":      {start + vector(3, 2, 4) + keysPickle + fourOnes, "2 elements from element 3 lie beyond its storage of 4"},
		"huge pickle":         {start + strings.Repeat("N0", maxPickleSize) + one, "state dict: pickle opcode 0x30"},
		"endless pickle":      {start + strings.Repeat("N", maxPickleSize) + one, "state dict: pickle has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseLegacyFile(test.raw)
			assert.ErrorContains(t, err, test.want)
		})
	}
	t.Run("shrinks while it is read", func(t *testing.T) {
		_, err := parseTorch(strings.NewReader(start), 1<<40)
		assert.ErrorContains(t, err, "unexpected EOF")
	})
}

// TestLegacyCut cuts a whole file off at each byte.
func TestLegacyCut(t *testing.T) {
	raw, err := os.ReadFile("testdata/pickles/legacy_views.bin")
	require.NoError(t, err)
	for n := range raw {
		_, err := parseTorch(bytes.NewReader(raw[:n]), int64(n))
		assert.Error(t, err, "the first %d of %d bytes", n, len(raw))
	}
}

// FuzzLegacy reads files in the old format.
func FuzzLegacy(f *testing.F) {
	paths, err := filepath.Glob("testdata/pickles/legacy*.bin")
	require.NoError(f, err)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(raw[bytes.Index(raw, []byte(legacyMagic))+len(legacyMagic):])
	}
	f.Add([]byte(versionPickle + machinePickle + vector(1, 2, 4) + keysPickle + fourOnes))
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = append([]byte(magicPickle), raw...)
		tensors, err := parseTorch(bytes.NewReader(raw), int64(len(raw)))
		if err == nil {
			readAll(t, tensors, len(raw))
		}
	})
}
