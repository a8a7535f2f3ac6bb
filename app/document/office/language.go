package office

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"dragoman/app/document/xmlpart"
)

// target is the language that a translation is in, as documents name it for their spelling. The zero
// value changes nothing.
type target struct {
	language, region string
	attribute        string // of Word's languages: for letters, for characters of East Asia, or from right to left
}

// Languages that Word keeps apart from those in letters.
var (
	eastAsian   = []string{"ja", "ko", "zh"}
	rightToLeft = []string{"ar", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
)

// newTarget reads a code of a language. Where that does not say which region's spelling is meant, it is
// that in which most speakers are.
func newTarget(code string) target {
	tag, err := language.Parse(code)
	if err != nil {
		return target{}
	}
	base, _ := tag.Base()
	region, _ := tag.Region()
	t := target{language: base.String(), region: region.String(), attribute: "val"}
	if slices.Contains(eastAsian, t.language) {
		t.attribute = "eastAsia"
	} else if slices.Contains(rightToLeft, t.language) {
		t.attribute = "bidi"
	}
	return t
}

// The places of languages. zxx is that of text that is none, such as code.
var (
	wordLanguage    = regexp.MustCompile(`<(?:\w+:)?lang(?:\s[^<>]*)?/?>`)
	wordAttribute   = regexp.MustCompile(`((?:\w+:)?(\w+)\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	drawingLanguage = regexp.MustCompile(`(\slang\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	odfLanguage     = regexp.MustCompile(`(\s(?:fo|style):(language|country)(-asian|-complex)?=)"([^"<]*)"`)
)

// word changes the language in properties of Word.
func (t target) word(raw string) string {
	if t.language == "" {
		return raw
	}
	return wordLanguage.ReplaceAllStringFunc(raw, func(tag string) string {
		return wordAttribute.ReplaceAllStringFunc(tag, func(attribute string) string {
			m := wordAttribute.FindStringSubmatch(attribute)
			if m[2] != t.attribute {
				return attribute
			}
			return m[1] + `"` + t.language + "-" + t.region + `"`
		})
	})
}

// drawing changes it in properties of DrawingML.
func (t target) drawing(raw string) string {
	if t.language == "" {
		return raw
	}
	return drawingLanguage.ReplaceAllString(raw, `${1}"`+t.language+"-"+t.region+`"`)
}

// odf changes it in a style of OpenDocument.
func (t target) odf(raw string) string {
	suffix := map[string]string{"val": "", "eastAsia": "-asian", "bidi": "-complex"}[t.attribute]
	if t.language == "" || strings.Contains(raw, `"zxx"`) {
		return raw
	}
	return odfLanguage.ReplaceAllStringFunc(raw, func(attribute string) string {
		m := odfLanguage.FindStringSubmatch(attribute)
		value := t.language
		if m[2] == "country" {
			value = t.region
		}
		if m[3] != suffix || m[4] == "none" {
			return attribute
		}
		return m[1] + `"` + value + `"`
	})
}

// setWordLanguage copies a w:lang of Word's styles.
func (w *walker) setWordLanguage(start xmlpart.Token, out sink) error {
	start.Raw = []byte(w.to.word(string(start.Raw)))
	return w.verbatim(start, out)
}
