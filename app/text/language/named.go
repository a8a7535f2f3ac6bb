package language

import (
	"maps"
	"strings"
	"sync"
)

// qualifiers are words before a language's name that do not affect the result of [Find].
var qualifiers = map[string]bool{
	"simplified": true, "mainland": true, "brazilian": true, "european": true, "american": true, "british": true,
	"canadian": true, "mexican": true, "castilian": true, "standard": true, "modern": true, "swiss": true, "austrian": true, "native": true,
	"mandarin": true, "latin": true, "international": true,
}

// otherNames are English names beside those of CLDR.
var otherNames = map[string]string{
	"mandarin": "zh", "traditional chinese": "zh-Hant", "chinese traditional": "zh-Hant", "farsi": "fa", "filipino": "tl", "tagalog": "tl", "bokmål": "nb", "nynorsk": "nn",
	"castilian": "es", "castellano": "es", "flemish": "nl", "moldovan": "ro", "haitian creole": "ht", "punjabi": "pa", "odia": "or", "oriya": "or", "sinhalese": "si",
	"cantonese": "yue", "bangla": "bn", "kirghiz": "ky", "uighur": "ug", "gaelic": "gd", "slovene": "sl",
}

// codesByName maps all known names, in lower case, to codes.
var codesByName = sync.OnceValue(func() map[string]string {
	names := make(map[string]string, 3*len(entries))
	for code, e := range entries {
		for _, name := range []string{e.own, e.english} {
			name = strings.ToLower(name)
			if before, ok := names[name]; !ok || len(code) < len(before) || len(code) == len(before) && code < before {
				names[name] = code
			}
		}
	}
	maps.Copy(names, otherNames)
	return names
})

// Named returns the code of a language, for [Find], by its name in English, in itself or in Chinese, in any case: "French",
// "Simplified Chinese", "Portuguese (Brazil)", "日本語", "法语".
func Named(name string) (code string, ok bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if code, ok = codesByName()[name]; ok {
		return code, true
	}
	if code, ok = FromChinese(name); ok {
		return code, true
	}
	if code, ok = FromChinese(strings.TrimSuffix(name, "文") + "语"); ok { // 英文 beside 英语
		return code, true
	}
	if before, in, ok := strings.Cut(strings.TrimSuffix(name, ")"), " ("); ok {
		if strings.HasPrefix(in, "traditional") || in == "taiwan" || in == "hong kong" {
			return Named("traditional " + before)
		}
		if IsTraditional(in) { // Chinese (zh-TW)
			return in, true
		}
		code, ok = codesByName()[before]
		return code, ok
	}
	if before, in, ok := strings.Cut(name, " "); ok && qualifiers[before] {
		return Named(in) // Latin American Spanish
	}
	return "", false
}
