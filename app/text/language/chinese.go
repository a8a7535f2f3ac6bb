package language

import (
	_ "embed"
	"strings"
)

// chineseFile has a line for each language with a Chinese name: its code and its names, the usual one first. Most names are from
// CLDR, see languagesFile; added are Chinese in its two scripts, and other names used by Chinese programs.
//
//go:embed chinese.tsv
var chineseFile string

// chineseNames maps codes to usual names, chineseCodes names to codes.
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

// InChinese returns the Chinese name of a language. zh is Chinese in simplified script.
func InChinese(code string) (name string, ok bool) {
	for _, same := range []string{code, Base(code), widest(Base(code))} {
		if name, ok = chineseNames[same]; ok {
			return name, true
		}
	}
	return "", false
}

// FromChinese returns the code of a language, for [Find], by one of its Chinese names.
func FromChinese(name string) (code string, ok bool) {
	code, ok = chineseCodes[fullWidth.Replace(strings.TrimSpace(name))]
	return code, ok
}

// fullWidth converts the parentheses of Chinese texts to those in names.
var fullWidth = strings.NewReplacer("（", "(", "）", ")")
