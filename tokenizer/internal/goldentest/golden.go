// Package goldentest reads the reference outputs that testdata/make_goldens.py wrote.
// It serves tests only.
package goldentest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Record is one text and what the reference makes of it, or a sequence of ids
// and what it decodes to.
type Record struct {
	Text      string   `json:"text"`
	Bytes     []byte   `json:"bytes"` // instead of Text, where that is not UTF-8
	Pieces    []string `json:"pieces"`
	Decoded   string   `json:"decoded"` // by spm_decode, from Pieces
	IDs       []int64  `json:"ids"`     // by Hugging Face; French, special tokens split
	HFDecoded string   `json:"hf_decoded"`
}

// Input is the text, UTF-8 or not.
func (r Record) Input() string {
	if r.Bytes != nil {
		return string(r.Bytes)
	}
	return r.Text
}

// Read returns the records of a file, without the first line, which names the
// reference.
func Read(t testing.TB, path string) []Record {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewReader(unzipped)
	head, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(head, `{"reference":`), "%s does not name its reference", path)
	var records []Record
	for decoder := json.NewDecoder(lines); decoder.More(); {
		var r Record
		require.NoError(t, decoder.Decode(&r))
		records = append(records, r)
	}
	require.NotEmpty(t, records)
	return records
}
