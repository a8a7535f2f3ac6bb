package office

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/tagged"
	"dragoman/app/document/xmlpart"
	"dragoman/app/text/markup"
)

// Formats of numbers and dates show words: those in quotation marks, and the names of months and days in the language that the format
// names. Levels of lists show words beside their numbers.

// windowsLanguages are Windows' numbers of languages, for formats of Excel.
var windowsLanguages = map[string]int{"af": 0x436, "am": 0x45E, "ar": 0x401, "as": 0x44D, "az": 0x42C, "ba": 0x46D, "be": 0x423, "bg": 0x402, "bn": 0x845,
	"br": 0x47E, "bs": 0x141A, "ca": 0x403, "cs": 0x405, "cy": 0x452, "da": 0x406, "de": 0x407, "el": 0x408, "en": 0x409, "es": 0xC0A, "et": 0x425, "eu": 0x42D,
	"fa": 0x429, "fi": 0x40B, "fil": 0x464, "fo": 0x438, "fr": 0x40C, "fy": 0x462, "ga": 0x83C, "gd": 0x491, "gl": 0x456, "gu": 0x447, "ha": 0x468, "he": 0x40D,
	"hi": 0x439, "hr": 0x41A, "hu": 0x40E, "hy": 0x42B, "id": 0x421, "ig": 0x470, "is": 0x40F, "it": 0x410, "ja": 0x411, "ka": 0x437, "kk": 0x43F, "km": 0x453,
	"kn": 0x44B, "ko": 0x412, "ky": 0x440, "lb": 0x46E, "lo": 0x454, "lt": 0x427, "lv": 0x426, "mk": 0x42F, "ml": 0x44C, "mn": 0x450, "mr": 0x44E, "ms": 0x43E,
	"mt": 0x43A, "my": 0x455, "nb": 0x414, "ne": 0x461, "nl": 0x413, "nn": 0x814, "no": 0x414, "oc": 0x482, "or": 0x448, "pa": 0x446, "pl": 0x415, "ps": 0x463,
	"pt": 0x416, "pt-PT": 0x816, "ro": 0x418, "ru": 0x419, "si": 0x45B, "sk": 0x41B, "sl": 0x424, "sq": 0x41C, "sr": 0x281A, "sv": 0x41D, "sw": 0x441, "ta": 0x449,
	"te": 0x44A, "th": 0x41E, "tl": 0x464, "tn": 0x432, "tr": 0x41F, "uk": 0x422, "ur": 0x420, "uz": 0x443, "vi": 0x42A, "wo": 0x488, "xh": 0x434, "yo": 0x46A,
	"zh": 0x804, "zh-TW": 0x404, "zu": 0x435}

// formatPart matches an escaped character of a format, a text, or a language of dates. Its groups are the text, and the number or tag of
// the language. A number may begin with a calendar and a kind of digits.
var formatPart = regexp.MustCompile(`[\\_*].|"([^"]*)"|\[\$-(?:([0-9A-Fa-f]{0,4}?)([0-9A-Fa-f]{1,4})|([A-Za-z]{2,3}(?:-\w+)*))\]`)

// maxFormat is Excel's maximum number of characters of a format.
const maxFormat = 255

// numberFormat translates the texts in a format of Excel, and sets the language of its dates.
func (w *walker) numberFormat(format string) string {
	const primary = 0x3FF // the bits of a language without its region
	to, from := w.to, windowsLanguages[newTarget(w.options.From).language]
	own := cmp.Or(windowsLanguages[to.language+"-"+to.region], windowsLanguages[to.language])
	changed := formatPart.ReplaceAllStringFunc(format, func(part string) string {
		m := formatPart.FindStringSubmatch(part)
		number, _ := strconv.ParseInt(m[3], 16, 32)
		switch language := int(number) & primary; {
		case m[1] != "":
			if text := w.formatText(m[1]); !strings.Contains(text, `"`) {
				return `"` + text + `"`
			}
			w.looks.Check(w.options.Fits(fmt.Errorf("%w: a quotation mark ends the text of a format", markup.ErrLost)))
		case m[4] != "" && to.language != "" && !w.isForeign(m[4]):
			return "[$-" + to.language + "-" + to.region + "]"
		case own != 0 && language != 0 && (w.options.From == "" || language == from&primary):
			return fmt.Sprintf("[$-%s%0*X]", m[2], min(len(m[2]), 1)*4, own)
		}
		return part
	})
	if characters(changed) > maxFormat {
		w.looks.Check(w.options.Fits(document.ErrTooLong))
		return format
	}
	return changed
}

// formatWord matches a word of a format that is no unit or currency. Programs write formats of East Asian languages into any workbook.
var (
	formatWord    = regexp.MustCompile(`\pL{4}|\pL{2} \pL{2}|\p{Lu}\p{Ll}{2}|^No$`)
	eastAsianWord = regexp.MustCompile(`[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]`)
)

// formatText translates a text in a format.
func (w *walker) formatText(text string) string {
	isEastAsian := eastAsianWord.MatchString(text)
	if isEastAsian && w.to.source != "eastAsia" || !isEastAsian && !formatWord.MatchString(text) {
		return text
	}
	return w.label(text)
}

// changing returns a rewriting of elements whose texts and attributes change changes.
func changing(change func(w *walker, text string) string, attributes ...string) rewriting {
	return func(w *walker, start xmlpart.Token, out sink) {
		own := func(text string) string { return change(w, text) }
		w.write(out, w.shownTag(start, attributes, own))
		w.texted(out, own)
	}
}

// dateLanguage copies the language of dates that a content control of Word or a field of a slide shows.
func (w *walker) dateLanguage(start xmlpart.Token, out sink) {
	start.Raw = []byte(w.shownTag(start, []string{"val", "lang"}, func(code string) string {
		if w.to.language == "" || w.isForeign(code) {
			return code
		}
		return w.to.language + "-" + w.to.region
	}))
	w.inner(start, out)
}

// odfDates copies a format of dates or times of OpenDocument, whose names get the target's language.
func (w *walker) odfDates(start xmlpart.Token, out sink) {
	if code := start.Attribute("language"); w.to.language != "" && code != "" && !w.isForeign(code) && start.Attribute("rfc-language-tag") == "" {
		tag, prefix := string(start.Raw), xmlpart.PrefixOf(string(start.Raw))
		start.Raw = []byte(xmlpart.SetAttribute(xmlpart.SetAttribute(tag, prefix+"language", w.to.language), prefix+"country", w.to.region))
	}
	w.inner(start, out)
}

var (
	// numberWord matches a word beside the number of a list, which is no letter of a font of signs.
	numberWord = regexp.MustCompile(`\pL{2}|[\p{Han}\p{Hangul}]`)
	// levelNumber matches the number of a level: %1 in Word, %1% in LibreOffice.
	levelNumber = regexp.MustCompile(`%\d+%?`)
)

// levelText translates the words beside the number of a list.
func (w *walker) levelText(text string) string {
	if !numberWord.MatchString(text) {
		return text
	}
	p, at := &paragraph{Paragraph: tagged.New()}, 0
	for _, m := range levelNumber.FindAllStringIndex(text, -1) {
		p.Text(tagged.Style{}, text[at:m[0]])
		p.Special(text[m[0]:m[1]])
		at = m[1]
	}
	p.Text(tagged.Style{}, text[at:])
	return w.labelOf(p, text)
}
