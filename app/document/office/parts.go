package office

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/document/xmlpart"
)

// contentTypes is the part of OOXML that says what the other parts are.
const contentTypes = "[Content_Types].xml"

// mainTypes are what the types of the main parts of OOXML's documents begin with.
var mainTypes = []struct{ start, name string }{
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+", "docx"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+", "docx"},
	{"application/vnd.ms-word.", "docx"},
	{"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+", "pptx"},
	{"application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+", "pptx"},
	{"application/vnd.openxmlformats-officedocument.presentationml.template.main+", "pptx"},
	{"application/vnd.ms-powerpoint.", "pptx"},
	{"application/vnd.ms-excel.sheet.binary.", "xlsb, which has no text in XML: save it as .xlsx"},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+", "xlsx"},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+", "xlsx"},
	{"application/vnd.ms-excel.", "xlsx"},
}

// partTypes are the types of OOXML's parts that have text, without what they all begin and end with.
var partTypes = map[string]func() grammar{
	"wordprocessingml.document.main":             wordGrammar,
	"wordprocessingml.template.main":             wordGrammar,
	"ms-word.document.macroEnabled.main":         wordGrammar,
	"ms-word.template.macroEnabledTemplate.main": wordGrammar,
	"wordprocessingml.header":                    wordGrammar,
	"wordprocessingml.footer":                    wordGrammar,
	"wordprocessingml.footnotes":                 wordGrammar,
	"wordprocessingml.endnotes":                  wordGrammar,
	"wordprocessingml.comments":                  wordGrammar,
	"wordprocessingml.styles":                    wordStylesGrammar,
	"presentationml.slide":                       drawingGrammar,
	"presentationml.notesSlide":                  drawingGrammar,
	"presentationml.slideMaster":                 masterGrammar,
	"presentationml.slideLayout":                 masterGrammar,
	"presentationml.notesMaster":                 masterGrammar,
	"presentationml.handoutMaster":               masterGrammar,
	"presentationml.comments":                    slideCommentGrammar,
	"ms-powerpoint.comments":                     slideCommentGrammar,
	"spreadsheetml.sharedStrings":                sheetGrammar,
	"spreadsheetml.worksheet":                    sheetGrammar,
	"spreadsheetml.comments":                     sheetCommentGrammar,
	"ms-excel.threadedcomments":                  threadGrammar,
	"spreadsheetml.table":                        columnGrammar,
	"spreadsheetml.pivotCacheDefinition":         columnGrammar,
	"drawing":                                    drawingGrammar,
	"drawingml.chart":                            chartGrammar,
	"drawingml.chartshapes":                      drawingGrammar,
	"drawingml.diagramData":                      drawingGrammar,
	"ms-office.drawingml.diagramDrawing":         drawingGrammar,
	"ms-office.chartex":                          drawingGrammar,
	"openxmlformats-package.core-properties":     propertyGrammar,
}

// grammarOf returns the grammar of a type of parts, nil for those that have no text.
func grammarOf(contentType string) grammar {
	t := strings.TrimPrefix(contentType, "application/vnd.")
	t = strings.TrimPrefix(t, "openxmlformats-officedocument.")
	if g := partTypes[strings.TrimSuffix(t, "+xml")]; g != nil {
		return g()
	}
	return nil
}

// ooxmlTypes returns the types of an OOXML document's parts by their names; nil for other archives.
func ooxmlTypes(a *archive.Archive) (map[string]string, error) {
	content, err := a.Small(contentTypes)
	if content == nil || err != nil {
		return nil, err
	}
	types, extensions := map[string]string{}, map[string]string{}
	r := xmlpart.NewReader(bytes.NewReader(content), contentTypes, xmlpart.Options{})
	for {
		t, err := r.Next()
		switch {
		case err == io.EOF:
			for _, name := range a.Names() {
				extension := name[strings.LastIndexByte(name, '.')+1:]
				if general := extensions[strings.ToLower(extension)]; types[name] == "" && general != "" {
					types[name] = general
				}
			}
			return types, nil
		case err != nil:
			return nil, err
		case t.Kind != xmlpart.Start:
		case t.Name.Local == "Override":
			types[strings.TrimPrefix(t.Attribute("PartName"), "/")] = t.Attribute("ContentType")
		case t.Name.Local == "Default":
			extensions[strings.ToLower(t.Attribute("Extension"))] = t.Attribute("ContentType")
		}
	}
}

// ooxmlParts returns the grammars of the parts of an OOXML document that have text.
func ooxmlParts(a *archive.Archive) (map[string]grammar, error) {
	types, err := ooxmlTypes(a)
	parts := map[string]grammar{}
	for name, contentType := range types {
		if g := grammarOf(contentType); g != nil && a.Has(name) {
			parts[name] = g
		}
	}
	return parts, err
}

// odfParts returns those of an OpenDocument: its own, and those of the charts in it.
func odfParts(a *archive.Archive) (map[string]grammar, error) {
	manifest, err := a.Small("META-INF/manifest.xml")
	if err != nil {
		return nil, err
	}
	if bytes.Contains(manifest, []byte("encryption-data")) {
		return nil, document.Refuse(nil, "the file has a password: save it without one")
	}
	parts := map[string]grammar{}
	for _, name := range a.Names() {
		switch base := name[strings.LastIndexByte(name, '/')+1:]; {
		case strings.HasPrefix(name, "META-INF/"):
		case base == "content.xml":
			parts[name] = odfGrammar()
		case base == "styles.xml":
			parts[name] = odfStylesGrammar()
		case name == "meta.xml":
			parts[name] = propertyGrammar()
		}
	}
	return parts, nil
}

// isKindOf refuses a document of another kind than it is taken for.
func (k kind) isKindOf(a *archive.Archive) error {
	name, err := identify(a)
	switch {
	case err != nil || name == k.name:
		return err
	case name == "":
		return document.Refuse(nil, "the file is a zip archive, but no document of the kind %s", k.name)
	}
	return document.Refuse(nil, "the file is taken for a document of the kind %s, but it is %s", k.name, name)
}

// identify returns the name of the kind that an archive is of, "" where it is none of them.
func identify(a *archive.Archive) (string, error) {
	mimetype, err := a.Small("mimetype")
	if err != nil {
		return "", err
	}
	media := strings.TrimSpace(string(mimetype))
	if odf, ok := strings.CutPrefix(media, "application/vnd.oasis.opendocument."); ok {
		names := map[string]string{"text": "odt", "presentation": "odp", "spreadsheet": "ods"}
		return names[strings.TrimSuffix(odf, "-template")], nil
	}
	if media == "application/epub+zip" {
		return "epub", nil
	}
	types, err := ooxmlTypes(a)
	found := ""
	for name, contentType := range types {
		for _, main := range mainTypes {
			isMain := strings.Contains(contentType, ".main") && a.Has(name)
			if isMain && strings.HasPrefix(contentType, main.start) && (found == "" || main.name < found) {
				found = main.name
				break
			}
		}
	}
	return found, err
}

// sortParts puts parts into the order in which they are read: the document itself, then what hangs on
// it, with numbers in their names by their value.
func sortParts(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		if n := rank(a) - rank(b); n != 0 {
			return n
		}
		return natural(a, b)
	})
}

// rank is the place of a part's folder or name among others.
func rank(name string) int {
	for i, start := range []string{"content.xml", "word/document", "word/footnotes", "word/endnotes", "word/", "ppt/slides/", "ppt/notesSlides/",
		"ppt/", "xl/sharedStrings", "xl/worksheets/", "xl/", "Object ", "styles.xml"} {
		if strings.HasPrefix(name, start) {
			return i
		}
	}
	return 99
}

// natural compares names; of two that differ in a number, the lower one comes first.
func natural(a, b string) int {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	i := strings.IndexFunc(a, isDigit)
	if i < 0 || len(b) <= i || a[:i] != b[:i] || !isDigit(rune(b[i])) {
		return strings.Compare(a, b)
	}
	number := func(s string) int {
		n := 0
		for n < len(s) && isDigit(rune(s[n])) {
			n++
		}
		return n
	}
	n, m := number(a[i:]), number(b[i:])
	if n != m {
		return n - m
	}
	if c := strings.Compare(a[i:i+n], b[i:i+m]); c != 0 {
		return c
	}
	return natural(a[i+n:], b[i+m:])
}
