package pdf

import (
	"bytes"
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/unicode/norm"
)

// lettering is a font of the document: what its codes mean, and how wide they are.
type lettering struct {
	style
	serves     style // the style of its letters, see styleOf
	pairs      bool  // codes have two bytes
	charset    encoding.Encoding
	isLead     func(c byte) bool // the first byte of a code of two
	texts      map[uint32]string
	widths     map[uint32]float64 // in thousandths of an em
	raised     map[uint32]bool    // superscripts that mean plain digits
	usual      float64            // the width of the other codes
	unit       float64            // of widths, in units of text space
	em         float64            // its size, in units of text space: 1, unless the document draws its letters
	isVertical bool
	isMirrored bool // its letters are drawn upside down, and so are texts
	isUnsure   bool // widths are unknown
	builtin    func(code uint32) string
}

// unknown stands for a letter of which nothing is known.
const unknown = "\ufffd"

const (
	// letteringCost is the memory of a code.
	letteringCost = 96
	// maxCodes is the maximum number of codes of a font that are known.
	maxCodes = 1 << 17
)

//go:embed fonts.txt
var fontData string

// known has the names of glyphs, encodings, and the widths of the fonts that are not in documents.
var known = sync.OnceValue(func() (k struct {
	texts     map[string]string
	encodings map[string][]string
	widths    map[string]map[string]float64
}) {
	k.texts, k.encodings, k.widths = map[string]string{}, map[string][]string{}, map[string]map[string]float64{}
	for line := range strings.Lines(fontData) {
		words := strings.Fields(line)
		switch words[0] {
		case "g":
			text := ""
			for _, code := range words[2:] {
				r, _ := strconv.ParseUint(code, 16, 32)
				text += string(rune(r))
			}
			k.texts[words[1]] = text
		case "e":
			k.encodings[words[1]] = words[2:]
		case "w":
			of := map[string]float64{}
			for _, word := range words[2:] {
				name, width, _ := strings.Cut(word, "=")
				of[name], _ = strconv.ParseFloat(width, 64)
			}
			k.widths[words[1]] = of
		}
	}
	return k
})

// Font flags (ISO 32000-1, 9.8.2).
const fixedPitch, serif, symbolic, italic, forceBold = 1 << 0, 1 << 1, 1 << 2, 1 << 6, 1 << 18

// lettering reads a font.
func (o *objects) lettering(value []byte) *lettering {
	d := o.dict(value)
	f := &lettering{texts: map[uint32]string{}, widths: map[uint32]float64{}, unit: 0.001, em: 1}
	name := nameOf(d.get("BaseFont"))
	descriptor := o.dict(d.get("FontDescriptor"))
	switch string(d.get("Subtype")) {
	case "/Type0":
		if list := o.list(d.get("DescendantFonts")); len(list) > 0 {
			inner := o.dict(list[0])
			descriptor = o.dict(inner.get("FontDescriptor"))
			o.composite(f, d, inner)
		}
	case "/Type3":
		o.drawn(f, d)
		fallthrough
	default:
		o.simple(f, d, descriptor, name)
	}
	if value := d.get("ToUnicode"); reference(value) != 0 {
		o.toUnicode(f, value)
	}
	o.take(int64(letteringCost * (len(f.texts) + len(f.widths))))
	o.keep(letteringCost * (len(f.texts) + len(f.widths)))
	inFont := sync.OnceValue(func() map[uint32]string { return o.inFont(descriptor, f) })
	f.builtin = func(code uint32) string { return inFont()[code] }
	f.findRaised()
	flags := int(o.number(descriptor.get("Flags")))
	has := func(flag int) bool { return flags&flag != 0 }
	f.named(name)
	f.serif = (f.serif || has(serif|symbolic)) && !sansName.MatchString(name) // TeX's fonts have no other flags
	f.italic, f.bold = f.italic || has(italic), f.bold || has(forceBold)
	f.serves = f.style
	f.serves.mono = f.mono || has(fixedPitch) && f.isMono()
	return f
}

func nameOf(value []byte) string { return string(bytes.TrimPrefix(value, []byte("/"))) }

// styleOf returns the style of a text. Chinese and Japanese letters always have equal widths.
func (f *lettering) styleOf(text string) style {
	if strings.ContainsFunc(text, withoutSpaces) {
		return f.style
	}
	return f.serves
}

// isMono reports whether all Latin letters have equal widths: the flags of fonts are often wrong.
func (f *lettering) isMono() bool {
	width := math.NaN()
	for code, text := range f.texts {
		if len(text) == 1 && unicode.IsLetter(rune(text[0])) {
			if w := f.width(code); math.IsNaN(width) {
				width = w
			} else if w != width {
				return false
			}
		}
	}
	return true
}

// findRaised finds the digits that are narrower than others with the same meaning.
func (f *lettering) findRaised() {
	widest := map[string]float64{}
	for code, text := range f.texts {
		if len(text) == 1 && text[0] >= '0' && text[0] <= '9' {
			widest[text] = max(widest[text], f.width(code))
		}
	}
	f.raised = map[uint32]bool{}
	for code, text := range f.texts {
		if f.width(code) < 0.85*widest[text] {
			f.raised[code] = true
		}
	}
}

// next returns the first code of a text, and its number of bytes.
func (f *lettering) next(text []byte) (code uint32, n int) {
	if (f.pairs || f.isLead != nil && f.isLead(text[0])) && len(text) > 1 {
		return uint32(text[0])<<8 | uint32(text[1]), 2
	}
	return uint32(text[0]), 1
}

// text returns what a code of n bytes means.
func (f *lettering) text(code uint32, n int) string {
	text, isKnown := f.texts[code]
	if !isKnown && f.charset != nil {
		raw := []byte{byte(code >> 8), byte(code)}[2-n:]
		if out, err := f.charset.NewDecoder().Bytes(raw); err == nil {
			text = string(out)
		}
	}
	if text == "" && f.builtin != nil {
		text = f.builtin(code)
	}
	if text = strings.Map(cleaned, text); text == "" {
		text = unknown
	}
	if !isKnown {
		f.texts[code] = text
	}
	return text
}

// cleaned returns a letter as a text has it, or -1.
func cleaned(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), r == '\ufeff', r == '\u200b':
		return -1
	case unicode.Is(unicode.Co, r):
		return unicode.ReplacementChar
	}
	return r
}

// width returns the advance of a code in units of text space, at size 1.
func (f *lettering) width(code uint32) float64 {
	if w, isKnown := f.widths[code]; isKnown {
		return w * f.unit
	}
	return f.usual * f.unit
}

// drawn reads a font whose letters the document draws (Type 3).
func (o *objects) drawn(f *lettering, d dict) {
	m := numbers(d.get("FontMatrix"))
	if len(m) != 6 {
		f.isUnsure = true
		return
	}
	f.unit = m[0]
	box := numbers(d.get("FontBBox"))
	isDown := len(box) == 4 && box[1]+box[3] < 0
	f.isMirrored = (m[0]*m[3]-m[1]*m[2] < 0) != isDown
	if math.Abs(m[3]) < 0.0004 || math.Abs(m[3]) > 0.002 {
		f.em = 0.01
		if len(box) == 4 && box[3] != box[1] {
			f.em = math.Abs((box[3] - box[1]) * m[3])
		}
	}
}

// simple reads a font whose codes have one byte.
func (o *objects) simple(f *lettering, d, descriptor dict, name string) {
	var names []string
	encoded, _ := o.get(d.get("Encoding"))
	base := nameOf(encoded)
	differences := parseDict(encoded)
	if differences != nil {
		base = nameOf(differences.get("BaseEncoding"))
	}
	usual := usualFont(name)
	isOwn := descriptor.get("FontFile") != nil || descriptor.get("FontFile2") != nil || descriptor.get("FontFile3") != nil || string(d.get("Subtype")) == "/Type3"
	switch {
	case usual == "Symbol" || usual == "ZapfDingbats":
		names = known().encodings[usual]
	case base != "":
		names = known().encodings[strings.TrimSuffix(base, "Encoding")]
	case !isOwn, differences != nil && int(o.number(descriptor.get("Flags")))&symbolic == 0:
		names = known().encodings["Standard"]
	}
	named := map[uint32]string{}
	for code, name := range names {
		if name != "-" {
			named[uint32(code)] = name
		}
	}
	code := uint32(0)
	for _, e := range o.list(differences.get("Differences")) {
		if e[0] != '/' {
			code = uint32(o.number(e))
		} else if code < 256 {
			named[code] = nameOf(e)
			code++
		}
	}
	for code, name := range named {
		if text := glyphText(name); text != "" {
			f.texts[code] = text
		} else if usual == "ZapfDingbats" {
			f.texts[code] = known().texts[name]
		} else if string(d.get("Subtype")) == "/Type3" {
			f.texts[code] = texText(name)
		}
	}
	first := int(o.number(d.get("FirstChar")))
	for i, width := range o.list(d.get("Widths")) {
		if first+i >= 0 && first+i < 256 {
			f.widths[uint32(first+i)] = o.number(width)
		}
	}
	f.usual = o.number(descriptor.get("MissingWidth"))
	if len(f.widths) > 0 {
		return
	}
	of := known().widths[usual]
	f.isUnsure = of == nil && usual != "Courier"
	for code, name := range named {
		if f.widths[code] = of[name]; usual == "Courier" {
			f.widths[code] = 600
		}
	}
}

// texText returns the text of a glyph of a bitmap font of TeX by its name, which is a letter and its code, or "". Codes with different
// meanings in TeX's encodings are left out.
func texText(name string) string {
	code, err := strconv.Atoi(name[min(1, len(name)):])
	switch {
	case err != nil:
		return ""
	case code >= 11 && code <= 15: // OT1
		return []string{"ff", "fi", "fl", "ffi", "ffl"}[code-11]
	case code >= 27 && code <= 31: // T1
		return []string{"ff", "fi", "fl", "ffi", "ffl"}[code-27]
	case code > ' ' && code < 0x7f && !strings.ContainsRune(`"<>\^_{|}~`, rune(code)):
		return string(rune(code))
	}
	return ""
}

// usualFont returns the name of the font without a file that viewers have under a name, or "".
func usualFont(name string) string {
	family, isBold, isItalic := "", boldName.MatchString(name), italicName.MatchString(name)
	plain, _, _ := strings.Cut(strings.ReplaceAll(name, ",", "-"), "-")
	switch strings.ToLower(plain) {
	case "symbol", "zapfdingbats":
		return plain
	case "courier", "couriernew", "couriernewps", "couriernewpsmt":
		return "Courier"
	case "helvetica", "arial", "arialmt":
		if isBold {
			return "Helvetica-Bold"
		}
		return "Helvetica"
	case "times", "timesnewroman", "timesnewromanps", "timesnewromanpsmt":
		family = "Times-"
	default:
		return ""
	}
	switch {
	case isBold && isItalic:
		return family + "BoldItalic"
	case isBold:
		return family + "Bold"
	case isItalic:
		return family + "Italic"
	}
	return family + "Roman"
}

// dingbatName matches the names of the glyphs of Zapf Dingbats, which other fonts use for anything.
var dingbatName = regexp.MustCompile(`^a\d+$`)

var codedName = regexp.MustCompile(`^(?:uni((?:[0-9A-F]{4})+)|u([0-9A-F]{4,6}))$`)

// glyphText returns the text of a glyph by its name, or "".
func glyphText(name string) (text string) {
	if name, _, _ = strings.Cut(name, "."); name == "" {
		return ""
	}
	for part := range strings.SplitSeq(name, "_") {
		of := known().texts[part]
		if m := codedName.FindStringSubmatch(part); m != nil && of == "" {
			for hex := m[1] + m[2]; hex != ""; {
				n := len(hex)
				if m[1] != "" {
					n = 4
				}
				r, _ := strconv.ParseUint(hex[:n], 16, 32)
				of, hex = of+string(rune(r)), hex[n:]
			}
		}
		if of == "" || dingbatName.MatchString(part) {
			return ""
		}
		text += of
	}
	return withoutForms(text)
}

// withoutForms returns a text with plain letters in place of Latin ligatures, and of the forms that Arabic letters have in words.
func withoutForms(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if first >= '\ufb00' && first <= '\ufb06' || first >= '\ufb50' && first <= '\ufdfb' || first >= '\ufe80' && first <= '\ufefc' {
		return strings.TrimSpace(norm.NFKC.String(text))
	}
	return text
}

// charsets are the encodings of composite fonts without a table of their own, by a part of their names.
var charsets = []struct {
	part    string
	charset encoding.Encoding
}{
	{"RKSJ", japanese.ShiftJIS}, {"EUC-H", japanese.EUCJP}, {"EUC-V", japanese.EUCJP}, {"GBK", simplifiedchinese.GBK}, {"GB-EUC", simplifiedchinese.GBK}, {"B5", traditionalchinese.Big5}, {"KSC", korean.EUCKR},
}

// composite reads a font whose codes have several bytes.
func (o *objects) composite(f *lettering, d, inner dict) {
	name := nameOf(d.get("Encoding"))
	f.isVertical = strings.HasSuffix(name, "-V") || name == "V"
	f.usual = 1000
	if value := inner.get("DW"); value != nil {
		f.usual = o.number(value)
	}
	f.pairs = true
	switch {
	case strings.HasPrefix(name, "Identity"):
	case strings.Contains(name, "UCS2"), strings.Contains(name, "UTF16"):
		f.charset = utf16Pairs
	default:
		for _, c := range charsets {
			if strings.Contains(name, c.part) && f.charset == nil {
				f.pairs, f.charset = false, c.charset
				f.isLead = func(b byte) bool { return b > 0x80 && b != 0xff && (c.part != "RKSJ" || b < 0xa0 || b >= 0xe0) }
			}
		}
		f.isUnsure = f.charset == nil
	}
	if f.charset != nil { // the widths are of numbers that only the viewer knows
		for code := range uint32(0x100) {
			f.widths[code] = f.usual / 2
		}
		return
	}
	list := o.list(inner.get("W"))
	for i := 0; i+1 < len(list) && len(f.widths) < maxCodes; {
		first := uint32(o.number(list[i]))
		if widths := o.list(list[i+1]); widths != nil {
			for j, w := range widths {
				f.widths[first+uint32(j)] = o.number(w)
			}
			i += 2
			continue
		}
		if i+2 < len(list) {
			for code := first; code <= uint32(o.number(list[i+1])) && len(f.widths) < maxCodes; code++ {
				f.widths[code] = o.number(list[i+2])
			}
		}
		i += 3
	}
}

// toUnicode reads the table of a font's texts (ToUnicode).
func (o *objects) toUnicode(f *lettering, value []byte) {
	defer o.mark()()
	_, data, err := o.stream(value)
	if err != nil {
		return
	}
	l := lexer{data: data}
	var operands [][]byte
	for word := l.next(); len(word) > 0 && len(f.texts) < maxCodes; word = l.next() {
		switch string(word) {
		case "endbfchar":
			for i := 0; i+1 < len(operands); i += 2 {
				f.means(codeOf(operands[i]), decoded(operands[i+1]), 0)
			}
		case "endbfrange":
			for i := 0; i+2 < len(operands); i += 3 {
				from, to, list := codeOf(operands[i]), codeOf(operands[i+1]), [][]byte(nil)
				if operands[i+2][0] == '[' {
					list = elements(operands[i+2])
					to = min(to, from+uint32(len(list))-1)
				}
				for code := from; code <= to && len(f.texts) < maxCodes; code++ {
					if list != nil {
						f.means(code, decoded(list[code-from]), 0)
					} else {
						f.means(code, decoded(operands[i+2]), code-from)
					}
				}
			}
		default:
			if c := word[0]; c == '<' || c == '[' {
				operands = append(operands, word)
				continue
			}
		}
		operands = operands[:0]
	}
}

func codeOf(value []byte) (code uint32) {
	for _, c := range decoded(value) {
		code = code<<8 | uint32(c)
	}
	return code
}

// means records the text of a code in UTF-16, whose last unit is higher by more.
func (f *lettering) means(code uint32, text []byte, more uint32) {
	var units []uint16
	for i := 0; i+1 < len(text) && len(units) < 64; i += 2 {
		units = append(units, uint16(text[i])<<8|uint16(text[i+1]))
	}
	if len(text) == 1 {
		units = []uint16{uint16(text[0])}
	}
	if len(units) == 0 {
		return
	}
	if len(units) > 1 && !slices.ContainsFunc(units, func(u uint16) bool { return u&0xff != 0 || u>>8 < 'A' || u>>8 > 'z' }) {
		for i := range units {
			units[i] >>= 8 // Ghostscript writes the ligatures of LibreOffice so
		}
	}
	units[len(units)-1] += uint16(more)
	if means := strings.Map(cleaned, string(utf16.Decode(units))); means != "" && means != unknown {
		f.texts[code] = withoutForms(means)
	}
}
