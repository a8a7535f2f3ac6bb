package ctranslate2

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memory has files in memory.
type memory map[string]string

func (m memory) Has(name string) (bool, error) { _, ok := m[name]; return ok, nil }

func (m memory) Read(name string) ([]byte, error) {
	if text, ok := m[name]; ok {
		return []byte(text), nil
	}
	return nil, errors.New(name)
}

func TestReadConfig(t *testing.T) {
	c, err := ReadConfig(memory{})
	require.NoError(t, err)
	assert.Equal(t, "<s>", *c.DecoderStart)
	c, err = ReadConfig(memory{ConfigFile: `{"decoder_start_token": null, "add_source_eos": true, "layer_norm_epsilon": null}`})
	require.NoError(t, err)
	assert.Nil(t, c.DecoderStart)
	assert.True(t, c.AddEOS)
	assert.Equal(t, "</s>", c.EOS)
	_, err = ReadConfig(memory{ConfigFile: `{}` + strings.Repeat(" ", maxConfig)})
	assert.EqualError(t, err, "config.json has 4194306 bytes, at most 4194304 are supported")
	_, err = ReadConfig(memory{ConfigFile: `{"add_source_eos": 3}`})
	assert.ErrorContains(t, err, ConfigFile)
}

func TestReadVocabularies(t *testing.T) {
	v, err := ReadVocabularies(memory{"shared_vocabulary.json": `["<unk>", "▁a"]`}, "<unk>")
	require.NoError(t, err)
	assert.True(t, v.Shared())
	assert.Equal(t, []string{"<unk>", "▁a"}, v.Target)

	v, err = ReadVocabularies(memory{"source_vocabulary.txt": "a\nb\n", "target_vocabulary.txt": "c\r\nd\r\n"}, "<unk>")
	require.NoError(t, err)
	assert.Equal(t, Vocabularies{[]string{"a", "b", "<unk>"}, []string{"c", "d", "<unk>"}, []string{"source_vocabulary.txt", "target_vocabulary.txt"}}, v)
	assert.Equal(t, []string{"a\r", "b"}, lines("a\r\nb\n"), "a token may end with a carriage return")
	assert.Equal(t, map[string]int64{"a": 0, "b": 1}, IDs([]string{"a", "b", "a"}))

	for want, files := range map[string]memory{
		"a source_vocabulary.json": {},
		"a target_vocabulary.json": {"source_vocabulary.json": "[]"},
		"shared_vocabulary.json":   {"shared_vocabulary.json": `{"a": 1}`},
		"source_1_vocabulary.json": {"source_1_vocabulary.json": "[]", "source_2_vocabulary.json": "[]", "target_vocabulary.json": "[]"},
	} {
		_, err := ReadVocabularies(files, "<unk>")
		assert.ErrorContains(t, err, want)
	}
}
