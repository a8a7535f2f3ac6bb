package language

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// One of the Chinese names of each language is CLDR's, except for names that mean more or less there.
func TestChineseNamesAreCLDRs(t *testing.T) {
	names := display.Languages(language.SimplifiedChinese)
	others := map[string]string{"ns": "北索托语", "tw": "契维语"} // CLDR has another code for the first, and Akan for the second
	last := ""
	for line := range strings.Lines(chineseFile) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		assert.Less(t, last, column[0], "codes are in order")
		last = column[0]
		_, known := NameOf(column[0])
		assert.True(t, known, column[0])
		want := names.Name(language.Raw.Make(column[0]))
		if other, ok := others[column[0]]; ok {
			assert.NotEqual(t, want, other)
			want = other
		}
		assert.Contains(t, column[1:], want, column[0])
	}
}

func TestChinese(t *testing.T) {
	for _, test := range []struct{ name, code string }{
		{"中文(简体)", "zh"}, {"中文（简体）", "zh"}, {"简体中文", "zh"}, {"中文", "zh"}, {"中文(繁体)", "zh-Hant"}, {"繁体中文", "zh-Hant"},
		{"英语", "en"}, {" 日语 ", "ja"}, {"韩语", "ko"}, {"挪威语", "no"}, {"印尼语", "id"}, {"印度尼西亚语", "id"},
	} {
		code, ok := FromChinese(test.name)
		assert.True(t, ok, test.name)
		assert.Equal(t, test.code, code, test.name)
	}
	for _, name := range []string{"", "克林贡语", "English", "en", "()"} {
		_, ok := FromChinese(name)
		assert.False(t, ok, name)
	}
	for code, want := range map[string]string{"zh": "中文(简体)", "zh-Hans": "中文(简体)", "zh-Hant": "中文(繁体)", "en": "英语", "nb": "挪威语", "nn": "挪威尼诺斯克语", "ace-Arab": "亚齐语", "nso": "北索托语"} {
		name, ok := InChinese(code)
		assert.True(t, ok, code)
		assert.Equal(t, want, name, code)
	}
	for _, code := range []string{"", "xx", "acm"} {
		_, ok := InChinese(code)
		assert.False(t, ok, code)
	}
	// Names lead to codes, and these codes have the names.
	for code, name := range chineseNames {
		back, ok := FromChinese(name)
		require.True(t, ok)
		assert.Equal(t, code, back)
	}
}
