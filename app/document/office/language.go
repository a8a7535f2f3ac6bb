package office

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// The places of languages.
var (
	wordLanguage    = regexp.MustCompile(`<(?:\w+:)?lang(?:\s[^<>]*)?/?>`)
	drawingLanguage = regexp.MustCompile(`(\slang\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	odfLanguage     = regexp.MustCompile(`<style:text-properties[^<>]*>`)
	odfDialect      = regexp.MustCompile(`\s(?:style:rfc-language-tag|(?:fo|style):script)(-asian|-complex)?="[^"<]*"`)
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

// marks are the languages that a run declares: of letters, of East Asian characters, and of other scripts.
type marks [3]string

// marksOf returns the languages in the attributes of a tag, by their names.
func marksOf(tag string, names ...string) (m marks) {
	for _, a := range attribute.FindAllStringSubmatch(tag, -1) {
		for i, name := range names {
			if a[2] == name {
				m[i] = a[3][1 : len(a[3])-1]
			}
		}
	}
	return m
}

// wordMarks returns the languages in properties of Word.
func wordMarks(properties string) marks {
	return marksOf(wordLanguage.FindString(properties), "val", "eastAsia", "bidi")
}

// within returns the languages of a text that declares m, in one that declares other languages.
func (m marks) within(around marks) marks {
	for i, code := range m {
		m[i] = cmp.Or(code, around[i])
	}
	return m
}

// isForeign reports whether a code is of another language than the source.
func (w *walker) isForeign(code string) bool {
	from := w.options.From
	return from != "" && code != "" && code != "none" && code != "zxx" && language.Group(code) != language.Group(from)
}

// mark returns the language, other than the source's, that a run declares for a text by its first letter, or "".
func (w *walker) mark(m marks, text string) string {
	at := strings.IndexFunc(text, unicode.IsLetter)
	if at < 0 {
		at = 0
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	code := m[0]
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo):
		code = m[1]
	case r >= 0x590 && r < 0x1100 && !unicode.In(r, unicode.Georgian), r >= 0x1780 && r < 0x1800: // from Hebrew to Myanmar, Khmer
		code = m[2]
	}
	if !w.isForeign(code) {
		return ""
	}
	return code
}

// text adds a text of a run, which raw is within the run's own markup.
func (w *walker) text(p *paragraph, r *run, text, raw string) {
	if code := w.mark(r.marks, text); code != "" {
		p.Marked(r.Style, text, code, r.own+raw+r.ownEnd)
		return
	}
	p.Text(r.Style, text)
}

// sure is the confidence from which the detected language of a text counts: single words such as Conclusion are below it.
const sure = 0.75

// isIn reports whether a text is in the language that its run declares, and not in the source language. Word declares languages by the
// keyboard also for texts in others, so that the text must be in it too.
func (w *walker) isIn(marked, text string) bool {
	from, code := language.Base(w.options.From), language.Base(marked)
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

// odf sets the language in a style of OpenDocument. Default styles get one, but text without a language (zxx), such as code, does not.
func (t target) odf(raw string) string {
	space, suffix := "fo:", map[string]string{"val": "", "eastAsia": "-asian", "bidi": "-complex"}[t.attribute]
	if t.language == "" || strings.Contains(raw, `"zxx"`) {
		return raw
	}
	if suffix != "" {
		space = "style:"
	}
	isDefault := strings.HasPrefix(raw, "<style:default-style")
	return odfLanguage.ReplaceAllStringFunc(t.odfDirection(raw), func(tag string) string {
		if !isDefault && !strings.Contains(tag, ":language"+suffix+`="`) || strings.Contains(tag, ":language"+suffix+`="none"`) {
			return tag
		}
		tag = odfDialect.ReplaceAllStringFunc(tag, func(attribute string) string {
			if odfDialect.FindStringSubmatch(attribute)[1] == suffix {
				return ""
			}
			return attribute
		})
		return xmlpart.SetAttribute(xmlpart.SetAttribute(tag, space+"language"+suffix, t.language), space+"country"+suffix, t.region)
	})
}
