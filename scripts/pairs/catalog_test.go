package main

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// catalogOf returns a compiled catalog.
func catalogOf(messages ...[2]string) []byte {
	words := func(file []byte, list ...int) []byte {
		for _, w := range list {
			file = binary.LittleEndian.AppendUint32(file, uint32(w))
		}
		return file
	}
	const header = 28
	index, texts := []byte{}, ""
	for side := range 2 {
		for _, m := range messages {
			index = words(index, len(m[side]), header+16*len(messages)+len(texts))
			texts += m[side] + "\x00"
		}
	}
	file := words(nil, 0x950412de, 0, len(messages), header, header+8*len(messages), 0, 0)
	return append(append(file, index...), texts...)
}

func TestReadMO(t *testing.T) {
	header := [2]string{"", "Content-Type: text/plain; charset=UTF-8\n"}
	messages, err := readMO(catalogOf(header, [2]string{"Open", "Ouvrir"}, [2]string{"menu\x04Close", "Fermer"},
		[2]string{"%d file\x00%d files", "%d fichier\x00%d fichiers"}))
	require.NoError(t, err)
	assert.Equal(t, [][2]string{{"Open", "Ouvrir"}, {"Close", "Fermer"}, {"%d files", "%d fichiers"}}, messages)

	messages, err = readMO(catalogOf([2]string{"", "charset=EUC-JP\n"}, [2]string{"Open", "\xb3\xab\xa4\xaf"}))
	require.NoError(t, err)
	assert.Empty(t, messages)

	whole := catalogOf(header, [2]string{"Open", "Ouvrir"})
	for end := range len(whole) - 1 {
		_, err := readMO(whole[:end])
		assert.ErrorIs(t, err, errMO, "%d bytes", end)
	}
}

func TestUsable(t *testing.T) {
	of := func(source, translation string) pair {
		return pair{from: "en", to: "ja", source: source, translation: translation, corpus: "catalogs"}
	}
	good := of("Save the file", "ファイルを保存")
	assert.Equal(t, []pair{good}, usable([]pair{good, good, of("_File", "ファイル(_F)"), of("Fade in", "フェードイン(&F)"), of("&Open", "開く"),
		of("?verb:Open", "開く"), of("menu|Open", "開く"), of("GNOME", "GNOME"), of("Save", ""), of("%d", "%d 個")}))
}
