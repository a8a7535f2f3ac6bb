package pdf

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/image/font/gofont/goregular"
)

// The file of a font says which letters its codes have, or its glyphs.
func TestTextsOfFontFiles(t *testing.T) {
	assert.Equal(t, map[uint32]string{65: "B", 11: "ff"}, fileTexts("FontFile", []byte("/Encoding 256 array\ndup 65 /B put\ndup 11/ff put dup 66/none.such put"), false))
	assert.Equal(t, "ß", fileTexts("FontFile", []byte("/Encoding StandardEncoding def"), false)[0xfb])
	assert.Contains(t, slices.Collect(maps.Values(fileTexts("FontFile2", goregular.TTF, true))), "ß")
	for _, damaged := range []string{"", "\x01\x00\x04", "\x01\x00\x04\x01\x00\x01\x01\x01\xff", "\x00\x01\x00\x00\x00\x01cmap", string(goregular.TTF[:200])} {
		for _, key := range []string{"FontFile", "FontFile2", "FontFile3"} {
			assert.Empty(t, fileTexts(key, []byte(damaged), true), "%s %q", key, damaged[:min(len(damaged), 8)])
		}
	}
}
