package office

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/language"
)

// target is the language of a translation in the form in which documents declare the language for spell checking. The zero value
// changes nothing.
type target struct {
	language, region string
	attribute        string // Word's attribute: for letters, for East Asian characters, or for right-to-left text
	source           string // that of the source language
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
	wordLanguage    = regexp.MustCompile(`<(?:\w+:)?lang\s(?:[^<>]*\s)?(\w+:)(?:val|eastAsia|bidi)\s*=[^<>]*>`)
	drawingLanguage = regexp.MustCompile(`(\slang\s*=\s*)(?:"[^"<]*"|'[^'<]*')`)
	odfLanguage     = regexp.MustCompile(`<style:text-properties[^<>]*>`)
	odfDialect      = regexp.MustCompile(`\s(?:style:rfc-language-tag|(?:fo|style):script)(-asian|-complex)?="[^"<]*"`)
)

// word sets the language in properties of Word.
func (t target) word(raw string) string {
	if t.language == "" {
		return raw
	}
	return wordLanguage.ReplaceAllStringFunc(t.wordScripts(raw), func(tag string) string {
		prefix := wordLanguage.FindStringSubmatch(tag)[1] // of attributes: elements may have none
		return xmlpart.SetAttribute(tag, prefix+t.attribute, t.language+"-"+t.region)
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

// text adds a text of a run.
func (w *walker) text(p *paragraph, r *run, text string) {
	p.Marked(r.Style, text, w.mark(r.marks, text), tagged.Style{Key: r.own, Open: r.own, Close: r.ownEnd})
}

// isIn reports whether a text is in the language that its run declares, and not in the source language. Word declares languages by the
// keyboard also for texts in others, so that the text must be in it too.
func (w *walker) isIn(marked, text string) bool { return w.judge.IsIn(text, marked, w.options.From) }

// drawing sets the language in properties of DrawingML.
func (t target) drawing(raw string) string {
	if t.language == "" {
		return raw
	}
	return drawingLanguage.ReplaceAllString(raw, `${1}"`+t.language+"-"+t.region+`"`)
}

// odf sets the language in a style of OpenDocument. Default styles get one, but text without a language (zxx), such as code, does not.
func (t target) odf(raw string) string {
	suffix := odfSuffix[t.attribute]
	if t.language == "" || strings.Contains(raw, `"zxx"`) {
		return raw
	}
	isDefault := strings.HasPrefix(raw, "<style:default-style")
	return odfLanguage.ReplaceAllStringFunc(t.odfDirection(raw), func(tag string) string {
		tag = t.odfScripts(tag)
		if !isDefault && !strings.Contains(tag, ":language"+suffix+`="`) || strings.Contains(tag, ":language"+suffix+`="none"`) {
			return tag
		}
		tag = odfDialect.ReplaceAllStringFunc(tag, func(attribute string) string {
			if odfDialect.FindStringSubmatch(attribute)[1] == suffix {
				return ""
			}
			return attribute
		})
		return xmlpart.SetAttribute(xmlpart.SetAttribute(tag, odfName("language", suffix), t.language), odfName("country", suffix), t.region)
	})
}

// odfSuffix maps attributes of Word to the ends of names in OpenDocument.
var odfSuffix = map[string]string{"eastAsia": "-asian", "bidi": "-complex"}

// odfName returns the name of an attribute of texts in a script.
func odfName(property, suffix string) string {
	if suffix == "" {
		return "fo:" + property
	}
	return "style:" + property + suffix
}

// odfScripts gives the text of the target's script the weight, slant and size of the source's script, unless it has its own.
func (t target) odfScripts(tag string) string {
	for _, property := range []string{"font-weight", "font-style", "font-size"} {
		to := odfName(property, odfSuffix[t.attribute])
		from := marksOf(tag, property+odfSuffix[t.source])[0]
		if from != "" && !strings.Contains(tag, " "+to+"=") {
			tag = xmlpart.SetAttribute(tag, to, from)
		}
	}
	return tag
}

// wordScript matches a property that Word has twice: for complex scripts and for others.
var wordScript = regexp.MustCompile(`<((?:\w+:)?)(b|i|sz)(Cs)?((?:\s[^<>]*)?/>)`)

// wordScripts does in properties of Word what odfScripts does in OpenDocument.
func (t target) wordScripts(raw string) string {
	complex := map[string]string{"bidi": "Cs"}
	from, to := complex[t.source], complex[t.attribute]
	if from == to {
		return raw
	}
	return wordScript.ReplaceAllStringFunc(raw, func(tag string) string {
		m := wordScript.FindStringSubmatch(tag)
		own := "<" + m[1] + m[2] + to
		switch {
		case m[3] != from || strings.Contains(raw, own+"/") || strings.Contains(raw, own+" "):
			return tag
		case to == "":
			return own + m[4] + tag
		}
		return tag + own + m[4]
	})
}
