package office

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// What runs differ in without looking different: the language that is checked for, and where the
// text was input.
var (
	wordHarmless    = regexp.MustCompile(`<(?:\w+:)?(?:lang|noProof)(?:\s[^<>]*)?/>|<(?:\w+:)?rFonts\s+(?:\w+:)?hint="\w*"\s*/>`)
	drawingMarks    = regexp.MustCompile(`\s(?:dirty|err|smtClean|smtId)\s*=\s*(?:"[^"<]*"|'[^'<]*')`)
	drawingHarmless = regexp.MustCompile(`\s(?:lang|altLang|dirty|err|smtClean|smtId|noProof|bmk)\s*=\s*(?:"[^"<]*"|'[^'<]*')`)
	noProperties    = regexp.MustCompile(`^<((?:\w+:)?rPr)\s*(?:/>|>\s*</(?:\w+:)?rPr>)$`)
)

// What raises or lowers text: in Word, in DrawingML and in OpenDocument.
var (
	raisedInWord    = regexp.MustCompile(`<(?:\w+:)?vertAlign\s[^<>]*val\s*=\s*["'](?:super|sub)script["']`)
	raisedInDrawing = regexp.MustCompile(`^<[^<>]*\sbaseline\s*=\s*["']-?[1-9]`)
	raisedInODF     = regexp.MustCompile(`\sstyle:text-position="(?:super|sub|-?[1-9])`)
)

// wordKey is equal for properties of Word's runs that look the same.
func wordKey(properties string) string {
	return keyOf(wordHarmless.ReplaceAllString(properties, ""))
}

// drawingKey is that for properties of DrawingML's runs.
func drawingKey(properties string) string {
	end := strings.IndexByte(properties, '>') + 1
	return keyOf(drawingHarmless.ReplaceAllString(properties[:end], "") + properties[end:])
}

// drawingProperties are those of a run without what was found out about its spelling.
func (w *walker) drawingProperties(properties string) string {
	end := strings.IndexByte(properties, '>') + 1
	return w.to.drawing(drawingMarks.ReplaceAllString(properties[:end], "")) + properties[end:]
}

// keyOf is "" for properties without any.
func keyOf(properties string) string {
	if noProperties.MatchString(properties) {
		return ""
	}
	return properties
}

// symbolFont are fonts whose letters are signs.
var symbolFont = regexp.MustCompile(`(?i)<(?:\w+:)?rFonts\s[^<>]*ascii\s*=\s*["'](?:symbol|webdings|wingdings[ 23]*|zapfdingbats)["']`)

// styleValue reads the name of a style.
var styleValue = map[string]*regexp.Regexp{
	"pStyle": regexp.MustCompile(`<(?:\w+:)?pStyle\s[^<>]*val\s*=\s*["']([^"'<>]*)["']`),
	"rStyle": regexp.MustCompile(`<(?:\w+:)?rStyle\s[^<>]*val\s*=\s*["']([^"'<>]*)["']`),
}

// styleOf returns the name of the style that properties have, "" without one.
func styleOf(properties, element string) string {
	if m := styleValue[element].FindStringSubmatch(properties); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}

// codeStyles are styles of code, of Word, LibreOffice and Pandoc, by the letters of their names.
var codeStyles = map[string]bool{"code": true, "codechar": true, "codeblock": true, "inlinecode": true, "sourcecode": true,
	"sourcecodechar": true, "htmlcode": true, "htmlpreformatted": true, "htmlvariable": true, "htmlsample": true,
	"htmlkeyboard": true, "verbatim": true, "verbatimchar": true, "preformattedtext": true, "sourcetext": true,
	"programlisting": true}

func isCode(style string) bool {
	style = odfName.ReplaceAllString(style, "")
	return codeStyles[strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, style))]
}

// odfName are characters of OpenDocument's names that are written by their number: Source_20_Text.
var odfName = regexp.MustCompile(`_[0-9a-f]{2}_`)
