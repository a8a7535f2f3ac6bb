package office

import (
	"regexp"
	"strings"

	"dragoman/app/document/xmlpart"
)

// Texts of languages that are written from right to left, and from left to right in documents of such languages, need the
// direction of their paragraphs, runs, tables and sheets.

// The elements that follow a direction in properties of Word.
var (
	wordDirection   = regexp.MustCompile(`<(?:\w+:)?(?:bidi|rtl)(?:\s[^<>]*)?/>`)
	isOff           = regexp.MustCompile(`val\s*=\s*["'](?:0|false|off)["']`)
	behindBidi      = regexp.MustCompile(`<(?:\w+:)?(?:adjustRightInd|snapToGrid|spacing|ind|contextualSpacing|mirrorIndents|suppressOverlap|jc|textDirection|textAlignment|textboxTightWrap|outlineLvl|divId|cnfStyle|rPr|sectPr|pPrChange)[\s/>]`)
	behindRTL       = regexp.MustCompile(`<(?:\w+:)?(?:cs|em|lang|eastAsianLayout|specVanish|oMath|rPrChange)[\s/>]|<w1\d+:`)
	beforeTable     = map[string]bool{"tblStyle": true, "tblpPr": true, "tblOverlap": true}
	drawingRTL      = regexp.MustCompile(`\srtl\s*=\s*["'](\w+)["']`)
	drawingAlign    = regexp.MustCompile(`(\salgn\s*=\s*["'])([lr])(["'])`)
	odfWritingMode  = regexp.MustCompile(`(\sstyle:writing-mode=")(?:lr-tb|lr|rl-tb|rl)"`)
	odfOwnDirection = regexp.MustCompile(`<style:(?:page-layout-properties|paragraph-properties)`)
)

// flag returns the value of an attribute that is set for texts from right to left.
func (t target) flag() string {
	if t.rtl {
		return "1"
	}
	return "0"
}

// directed sets the direction in properties of Word: the element bidi of paragraphs, or rtl of runs. raw may be empty.
func (t target) directed(raw, prefix, properties, element string, behind *regexp.Regexp) string {
	switch {
	case t.language == "":
		return raw
	case !t.rtl:
		return leftToRight(raw)
	case strings.HasSuffix(strings.TrimSpace(raw), "/>") || raw == "":
		return "<" + prefix + properties + "><" + prefix + element + "/></" + prefix + properties + ">"
	}
	section := strings.Index(raw+"sectPr", "sectPr") // which has a direction of its own
	raw = wordDirection.ReplaceAllString(raw[:section], "") + raw[section:]
	at := strings.LastIndex(raw, "</")
	if m := behind.FindStringIndex(raw); m != nil {
		at = m[0]
	}
	return raw[:at] + "<" + prefix + element + "/>" + raw[at:]
}

// leftToRight removes the direction from right to left from properties of Word. The other direction stays.
func leftToRight(raw string) string {
	return wordDirection.ReplaceAllStringFunc(raw, func(tag string) string {
		if isOff.MatchString(tag) {
			return tag
		}
		return ""
	})
}

// wordStyleProperties copies properties of a style of Word. They lose the direction from right to left; texts in that direction
// have it themselves.
func (w *walker) wordStyleProperties(start xmlpart.Token, out sink) {
	w.changed(start, out, func(raw string) string {
		if w.to.language != "" && !w.to.rtl {
			raw = leftToRight(raw)
		}
		return w.to.word(raw)
	})
}

// wordStyle copies a style of Word. One of texts in another language than the source stays.
func (w *walker) wordStyle(start xmlpart.Token, out sink) {
	if w.isForeign(w.languages["text "+start.Attribute("styleId")][0]) {
		w.verbatim(start, out)
		return
	}
	w.inner(start, out)
}

// wordTable copies the properties of a table of Word, whose columns begin at the right.
func (w *walker) wordTable(start xmlpart.Token, out sink) {
	isSet := !w.to.rtl || strings.HasSuffix(string(start.Raw), "/>")
	w.copy(start, out, func(t xmlpart.Token, out sink) {
		if t.Name.Local == "bidiVisual" && w.to.language != "" {
			w.skip()
			return
		}
		if !isSet && !beforeTable[t.Name.Local] {
			isSet = true
			w.write(out, "<"+xmlpart.PrefixOf(string(start.Raw))+"bidiVisual/>")
		}
		w.element(t, out)
	})
}

// drawingDirection sets the direction in the start tag of paragraph properties of DrawingML, whose sides change with it.
func (t target) drawingDirection(tag string) string {
	m := drawingRTL.FindStringSubmatch(tag)
	isRTL := m != nil && (m[1] == "1" || m[1] == "true")
	if t.language == "" || isRTL == t.rtl || tag == "" {
		return tag
	}
	tag = xmlpart.SetAttribute(tag, "rtl", t.flag())
	return drawingAlign.ReplaceAllStringFunc(tag, func(side string) string {
		m := drawingAlign.FindStringSubmatch(side)
		return m[1] + map[string]string{"l": "r", "r": "l"}[m[2]] + m[3]
	})
}

// drawingLevel copies the paragraph properties of a list of styles.
func (w *walker) drawingLevel(start xmlpart.Token, out sink) {
	start.Raw = []byte(w.to.drawingDirection(string(start.Raw)))
	w.inner(start, out)
}

// sheetView copies a view of a sheet, which begins at the right.
func (w *walker) sheetView(start xmlpart.Token, out sink) {
	if w.to.language != "" && (w.to.rtl || start.Attribute("rightToLeft") != "") {
		start.Raw = []byte(xmlpart.SetAttribute(string(start.Raw), "rightToLeft", w.to.flag()))
	}
	w.inner(start, out)
}

// odfDirection sets the direction in a style of OpenDocument, or a layout of pages.
func (t target) odfDirection(raw string) string {
	mode := map[bool]string{true: "rl-tb", false: "lr-tb"}[t.rtl]
	raw = t.odfSides(raw)
	isOwn := strings.HasPrefix(raw, "<style:default-style") || strings.HasPrefix(raw, "<style:page-layout")
	if t.rtl && isOwn && !strings.Contains(raw, "style:writing-mode=") {
		return odfOwnDirection.ReplaceAllString(raw, `$0 style:writing-mode="`+mode+`"`)
	}
	return odfWritingMode.ReplaceAllString(raw, "${1}"+mode+`"`)
}

// Sides of paragraphs: in LibreOffice, start and no side are the left also from right to left.
var (
	odfSide     = regexp.MustCompile(` fo:text-align="(\w+)"`)
	otherSide   = map[string]string{"start": "right", "left": "right", "end": "left", "right": "left"}
	defaultSide = regexp.MustCompile(`^<style:default-style\s[^>]*"(?:paragraph|graphic)"`)
)

// odfSides moves the texts of a style to the other side if their direction changes.
func (t target) odfSides(raw string) string {
	if t.language == "" || t.rtl == (t.source == "bidi") || t.rtl && strings.Contains(raw, `:writing-mode="rl`) {
		return raw
	}
	if t.rtl && defaultSide.MatchString(raw) && !odfSide.MatchString(raw) {
		return strings.Replace(raw, "<style:paragraph-properties", `<style:paragraph-properties fo:text-align="right"`, 1)
	}
	return odfSide.ReplaceAllStringFunc(raw, func(attribute string) string {
		side := odfSide.FindStringSubmatch(attribute)[1]
		if other := otherSide[side]; other != "" && (t.rtl || other == "left") {
			return ` fo:text-align="` + other + `"`
		}
		return attribute
	})
}

var propertyText = regexp.MustCompile(`>[^<]*</`)

// setLanguage copies the language of a document, and sets it.
func (w *walker) setLanguage(start xmlpart.Token, out sink) {
	w.changed(start, out, func(raw string) string {
		if w.options.To == "" {
			return raw
		}
		return propertyText.ReplaceAllString(raw, ">"+escape(w.options.To)+"</")
	})
}
