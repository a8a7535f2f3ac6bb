package pdf

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/cff"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	xunicode "golang.org/x/text/encoding/unicode"
)

var utf16Pairs = xunicode.UTF16(xunicode.BigEndian, xunicode.IgnoreBOM)

// inFont returns what the file of a font says about its codes.
func (o *objects) inFont(descriptor dict, f *lettering) (texts map[uint32]string) {
	defer o.mark()()
	for _, key := range []string{"FontFile", "FontFile2", "FontFile3"} {
		value := descriptor.get(key)
		if reference(value) == 0 {
			continue
		}
		_, data, err := o.stream(value)
		if err != nil {
			return nil
		}
		return fileTexts(key, data, f.pairs)
	}
	return nil
}

// fileTexts returns what the file of a font says, which has a key in the font's descriptor.
func fileTexts(key string, data []byte, byGlyph bool) (texts map[uint32]string) {
	defer func() {
		if recover() != nil { // the library's parsers index damaged fonts without a check
			texts = nil
		}
	}()
	isCFF := key == "FontFile3" && bytes.HasPrefix(data, []byte{1, 0})
	switch {
	case key == "FontFile":
		return type1Texts(data)
	case isCFF && byGlyph:
		return cffTexts(data)
	case isCFF: // its own encoding: the producers name the letters
		return nil
	}
	return opentypeTexts(data, byGlyph)
}

var type1Code = regexp.MustCompile(`dup\s+(\d{1,3})\s*/(\S+)\s+put`)

// type1Texts returns the texts of a Type 1 font's codes.
func type1Texts(data []byte) map[uint32]string {
	texts := map[uint32]string{}
	for _, m := range type1Code.FindAllSubmatch(data[:min(len(data), 64<<10)], 256) {
		code, _ := strconv.Atoi(string(m[1]))
		if text := glyphText(string(m[2])); text != "" {
			texts[uint32(code)] = text
		}
	}
	if len(texts) == 0 && bytes.Contains(data[:min(len(data), 64<<10)], []byte("StandardEncoding")) {
		for code, name := range known().encodings["Standard"] {
			texts[uint32(code)] = glyphText(name)
		}
	}
	return texts
}

// cffTexts returns the texts of the glyphs of a font in the Compact Font Format, by their numbers.
func cffTexts(data []byte) map[uint32]string {
	f, err := cff.Parse(data)
	if err != nil {
		return nil
	}
	texts := map[uint32]string{}
	for g := range f.Charstrings {
		texts[uint32(g)] = glyphText(f.GlyphName(opentype.GID(g)))
	}
	return texts
}

// opentypeTexts returns the texts of the codes of a TrueType or OpenType font: its symbols' codes, or the numbers of its glyphs.
func opentypeTexts(data []byte, byGlyph bool) map[uint32]string {
	loader, err := opentype.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	byNumber := map[uint32]string{}
	if table, err := loader.RawTable(opentype.MustNewTag("CFF ")); err == nil {
		byNumber = cffTexts(table)
	}
	raw, err := loader.RawTable(opentype.MustNewTag("cmap"))
	if err != nil {
		return byNumber
	}
	cmap, _, err := tables.ParseCmap(raw)
	if err != nil {
		return byNumber
	}
	codes := map[uint32]uint32{} // the glyphs of one byte
	for _, record := range cmap.Records {
		one := tables.Cmap{Records: []tables.EncodingRecord{record}}
		lookup, _, err := font.ProcessCmap(one, tables.FPNone)
		if err != nil {
			continue
		}
		isUnicode := record.PlatformID == 0 || record.PlatformID == 3 && record.EncodingID != 0
		for iter := lookup.Iter(); iter.Next() && len(byNumber) < maxCodes; {
			r, g := iter.Char()
			if isUnicode && byNumber[uint32(g)] == "" {
				byNumber[uint32(g)] = string(r)
			} else if !isUnicode && r&^0xff == 0 || r&^0xff == 0xf000 {
				codes[uint32(r&0xff)] = uint32(g)
			}
		}
	}
	if byGlyph {
		return byNumber
	}
	texts := map[uint32]string{}
	for code, g := range codes {
		texts[code] = byNumber[g]
	}
	return texts
}
