// Package goldentest reads the reference outputs written by testdata/make_goldens.py. It is for tests only.
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

// Record is a text with its reference output, or a sequence of ids with its decoded text.
type Record struct {
	Text      string   `json:"text"`
	Bytes     []byte   `json:"bytes"` // instead of Text, if the text is not UTF-8
	Pieces    []string `json:"pieces"`
	Decoded   string   `json:"decoded"` // by spm_decode, from Pieces
	IDs       []int64  `json:"ids"`     // ids by Hugging Face, for French, with special tokens in the text split into pieces
	HFDecoded string   `json:"hf_decoded"`
}

// Input returns the text, UTF-8 or not.
func (r Record) Input() string {
	if r.Bytes != nil {
		return string(r.Bytes)
	}
	return r.Text
}

// Read returns the records of a file, without the first line, which names the reference.
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
