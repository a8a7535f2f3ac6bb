package office

import (
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document/xmlpart"
	"dragoman/app/text/language"
)

// target is the language of a translation in the form in which documents declare the language for spell checking. The zero value
// changes nothing.
type target struct {
	language, region string
	attribute        string // Word's attribute: for letters, for East Asian characters, or for right-to-left text
	rtl              bool   // it is written from right to left
}

// eastAsian are the languages with letters for which Word has an attribute.
var eastAsian = []string{"ja", "ko", "zh"}

// newTarget reads a language code. Without a region, it takes the region with most speakers.
func newTarget(code string) target {
	l := language.LocaleOf(code)
	if l.Language == "" {
		return target{}
	}
	t := target{language: l.Language, region: l.Region, attribute: "val"}
	if slices.Contains(eastAsian, t.language) {
		t.attribute = "eastAsia"
	} else if language.RightToLeft(code) {
		t.attribute, t.rtl = "bidi", true
	}
	return t
}

// The places of languages. zxx marks text without a language, such as code.
var (
	wordLanguage    = regexp.MustCompile(`<(?:\w+:)?lang(?:\s[^<>]*)?/?>`)
	drawingLanguage = regexp.MustCompile(`(\slang\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	odfLanguage     = regexp.MustCompile(`(\s(?:fo|style):(language|country)(-asian|-complex)?=)"([^"<]*)"`)
)

// word sets the language in properties of Word.
func (t target) word(raw string) string {
	if t.language == "" {
		return raw
	}
	return wordLanguage.ReplaceAllStringFunc(raw, func(tag string) string {
		return xmlpart.SetAttribute(tag, xmlpart.PrefixOf(tag)+t.attribute, t.language+"-"+t.region)
	})
}

// The language of letters in properties of a run.
var (
	wordRunLanguage    = regexp.MustCompile(`<(?:\w+:)?lang\s(?:[^<>]*\s)?(?:\w+:)?val\s*=\s*["']([\w-]+)["']`)
	drawingRunLanguage = regexp.MustCompile(`^<[^<>]*\slang\s*=\s*["']([\w-]+)["']`)
)

// declare records the language that the properties of a run declare. The run has its start tag.
func (r *run) declare(pattern *regexp.Regexp, properties string) {
	if m := pattern.FindStringSubmatch(properties); m != nil {
		r.marked, r.own = m[1], r.Open+properties
	}
}

// sure is the confidence from which the detected language of a text counts: single words such as Conclusion are below it.
const sure = 0.75

// isForeign reports whether a text is in the language that its run declares, and not in the source language. Word declares languages
// by the keyboard also for texts in others, so that the text must be in it too.
func (w *walker) isForeign(marked, text string) bool {
	from, code := language.Base(w.options.From), language.Base(marked)
	if marked == "" || from == "" || language.Group(from) == language.Group(code) {
		return false
	}
	d := w.detectors[code]
	if d == nil {
		var err error
		if d, err = language.NewDetector(language.DetectorConfig{Languages: []string{from, code}}); err != nil {
			return false // one that is not known
		}
		if w.detectors == nil {
			w.detectors = map[string]language.Detector{}
		}
		w.detectors[code] = d
	}
	found, confidence, ok := d.Detect(text)
	return ok && confidence >= sure && language.Group(found) == language.Group(code)
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
	raw = t.odfDirection(raw)
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
