package language

import (
	_ "embed"
	"strings"
)

// chineseFile has a line for each language that has a name in Chinese: its code and its names, the
// usual one first. Most are those of CLDR, see languagesFile; Chinese in its two scripts, and what
// Chinese programs call otherwise, are theirs.
//
//go:embed chinese.tsv
var chineseFile string

// chineseNames are the usual names by code, chineseCodes the codes by name.
var chineseNames, chineseCodes = func() (names, codes map[string]string) {
	names, codes = map[string]string{}, map[string]string{}
	for line := range strings.Lines(chineseFile) {
		column := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		names[column[0]] = column[1]
		for _, name := range column[1:] {
			codes[name] = column[0]
		}
	}
	return names, codes
}()

// InChinese returns what a language is called in Chinese. zh is Chinese in simplified script.
func InChinese(code string) (name string, ok bool) {
	for _, same := range []string{code, Base(code), widest(Base(code))} {
		if name, ok = chineseNames[same]; ok {
			return name, true
		}
	}
	return "", false
}

// FromChinese returns the code of a language by a name that it has in Chinese, for [Find].
func FromChinese(name string) (code string, ok bool) {
	code, ok = chineseCodes[fullWidth.Replace(strings.TrimSpace(name))]
	return code, ok
}

// fullWidth writes the parentheses of Chinese texts as names have them.
var fullWidth = strings.NewReplacer("（", "(", "）", ")")
