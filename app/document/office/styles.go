package office

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// Properties that do not change the appearance of runs: the language for spell checking, and the input method.
var (
	wordHarmless    = regexp.MustCompile(`<(?:\w+:)?(?:lang|noProof)(?:\s[^<>]*)?/>|<(?:\w+:)?rFonts\s+(?:\w+:)?hint="\w*"\s*/>`)
	drawingMarks    = regexp.MustCompile(`\s(?:dirty|err|smtClean|smtId)\s*=\s*(?:"[^"<]*"|'[^'<]*')`)
	drawingHarmless = regexp.MustCompile(`\s(?:lang|altLang|dirty|err|smtClean|smtId|noProof|bmk)\s*=\s*(?:"[^"<]*"|'[^'<]*')`)
	noProperties    = regexp.MustCompile(`^<((?:\w+:)?rPr)\s*(?:/>|>\s*</(?:\w+:)?rPr>)$`)
)

// Marks of superscripts and subscripts in Word, DrawingML and OpenDocument.
var (
	raisedInWord    = regexp.MustCompile(`<(?:\w+:)?vertAlign\s[^<>]*val\s*=\s*["'](?:super|sub)script["']`)
	raisedInDrawing = regexp.MustCompile(`^<[^<>]*\sbaseline\s*=\s*["']-?[1-9]`)
	raisedInODF     = regexp.MustCompile(`\sstyle:text-position="(?:super|sub|-?[1-9])`)
)

// wordKey returns a key that is equal for properties of Word runs with equal appearance.
func wordKey(properties string) string {
	return keyOf(wordHarmless.ReplaceAllString(properties, ""))
}

// drawingKey returns such a key for properties of DrawingML runs.
func drawingKey(properties string) string {
	end := strings.IndexByte(properties, '>') + 1
	return keyOf(drawingHarmless.ReplaceAllString(properties[:end], "") + properties[end:])
}

// drawingProperties returns the properties of a run in the target language, without marks of the spell checker.
func (w *walker) drawingProperties(properties string) string {
	end := strings.IndexByte(properties, '>') + 1
	return w.to.drawing(drawingMarks.ReplaceAllString(properties[:end], "")) + properties[end:]
}

// keyOf returns properties, or "" if they are empty.
func keyOf(properties string) string {
	if noProperties.MatchString(properties) {
		return ""
	}
	return properties
}

// symbolFont matches fonts whose letters are symbols.
var symbolFont = regexp.MustCompile(`(?i)<(?:\w+:)?rFonts\s[^<>]*ascii\s*=\s*["'](?:symbol|webdings|wingdings[ 23]*|zapfdingbats)["']`)

// styleValue captures the elements that name a style, and the names.
var styleValue = regexp.MustCompile(`<(?:\w+:)?(pStyle|rStyle|basedOn)\s[^<>]*val\s*=\s*["']([^"'<>]*)["']`)

// styleOf returns the name of the style in properties, or "".
func styleOf(properties, element string) string {
	for _, m := range styleValue.FindAllStringSubmatch(properties, -1) {
		if m[1] == element {
			return html.UnescapeString(m[2])
		}
	}
	return ""
}

// codeStyles are the code styles of Word, LibreOffice and Pandoc, by the letters of their names.
var codeStyles = map[string]bool{"code": true, "codechar": true, "codeblock": true, "inlinecode": true, "sourcecode": true,
	"sourcecodechar": true, "htmlcode": true, "htmlpreformatted": true, "htmlvariable": true, "htmlsample": true,
	"htmlkeyboard": true, "verbatim": true, "verbatimchar": true, "preformattedtext": true, "sourcetext": true,
	"programlisting": true}

func isCode(style string) bool {
	style = odfEscape.ReplaceAllString(style, "")
	return codeStyles[strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, style))]
}

// odfEscape matches encoded characters in OpenDocument's names: Source_20_Text.
var odfEscape = regexp.MustCompile(`_[0-9a-f]{2}_`)
