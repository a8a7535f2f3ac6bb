package tokenizer

import "strings"

// languageCodes are the 100 languages of M2M100, in the order of their tokens in
// the vocabulary, which is also alphabetical.
const languageCodes = "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu " +
	"ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns " +
	"oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"

// languages numbers the language tokens, which follow the entries of vocab.json.
type languages struct {
	codes []string
	first int64
	ids   map[string]int64 // by code
}

func newLanguages(first int64) languages {
	l := languages{codes: strings.Fields(languageCodes), first: first, ids: map[string]int64{}}
	for i, code := range l.codes {
		l.ids[code] = first + int64(i)
	}
	return l
}

// code returns the language of a token id.
func (l *languages) code(id int64) (code string, ok bool) {
	if id < l.first || id >= l.first+int64(len(l.codes)) {
		return "", false
	}
	return l.codes[id-l.first], true
}

// languageToken is how Hugging Face writes a language's token.
func languageToken(code string) string { return "__" + code + "__" }

// languageOfToken undoes languageToken. The code need not be one of M2M100's.
func languageOfToken(token string) (code string, ok bool) {
	code, prefixed := strings.CutPrefix(token, "__")
	code, suffixed := strings.CutSuffix(code, "__")
	return code, prefixed && suffixed
}
