package office

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"dragoman/app/document/xmlpart"
)

// target is the language of a translation in the form in which documents declare the language for spell checking. The zero value
// changes nothing.
type target struct {
	language, region string
	attribute        string // Word's attribute: for letters, for East Asian characters, or for right-to-left text
}

// Languages for which Word has attributes of their own.
var (
	eastAsian   = []string{"ja", "ko", "zh"}
	rightToLeft = []string{"ar", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
)

// newTarget reads a language code. Without a region, it takes the region with most speakers.
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

// The places of languages. zxx marks text without a language, such as code.
var (
	wordLanguage    = regexp.MustCompile(`<(?:\w+:)?lang(?:\s[^<>]*)?/?>`)
	wordAttribute   = regexp.MustCompile(`((?:\w+:)?(\w+)\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	drawingLanguage = regexp.MustCompile(`(\slang\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	odfLanguage     = regexp.MustCompile(`(\s(?:fo|style):(language|country)(-asian|-complex)?=)"([^"<]*)"`)
)

// word sets the language in properties of Word.
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

// drawing sets the language in properties of DrawingML.
func (t target) drawing(raw string) string {
	if t.language == "" {
		return raw
	}
	return drawingLanguage.ReplaceAllString(raw, `${1}"`+t.language+"-"+t.region+`"`)
}

// odf sets the language in a style of OpenDocument.
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

// setWordLanguage copies a w:lang of Word's styles with the language set.
func (w *walker) setWordLanguage(start xmlpart.Token, out sink) error {
	start.Raw = []byte(w.to.word(string(start.Raw)))
	return w.verbatim(start, out)
}
