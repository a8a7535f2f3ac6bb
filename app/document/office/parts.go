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

// part is what is read of a part.
type part struct {
	text  grammar // of one whose text is rewritten
	names grammar // of one that has names, or texts in formulas, which must stay wherever they are
}

func rewritten(g func() grammar) func() part { return func() part { return part{text: g()} } }
func searched(g func() grammar) func() part  { return func() part { return part{names: g()} } }

func worksheet() part { return part{text: sheetGrammar(), names: formulaGrammar()} }

// partTypes are the types of OOXML's parts that have text, without what they all begin and end with.
var partTypes = map[string]func() part{
	"wordprocessingml.document.main":             rewritten(wordGrammar),
	"wordprocessingml.template.main":             rewritten(wordGrammar),
	"ms-word.document.macroEnabled.main":         rewritten(wordGrammar),
	"ms-word.template.macroEnabledTemplate.main": rewritten(wordGrammar),
	"wordprocessingml.document.glossary":         rewritten(wordGrammar), // texts of empty content controls, among others
	"wordprocessingml.header":                    rewritten(wordGrammar),
	"wordprocessingml.footer":                    rewritten(wordGrammar),
	"wordprocessingml.footnotes":                 rewritten(wordGrammar),
	"wordprocessingml.endnotes":                  rewritten(wordGrammar),
	"wordprocessingml.comments":                  rewritten(wordGrammar),
	"wordprocessingml.styles":                    rewritten(wordStylesGrammar),
	"presentationml.slide":                       rewritten(drawingGrammar),
	"presentationml.notesSlide":                  rewritten(drawingGrammar),
	"presentationml.slideMaster":                 rewritten(masterGrammar),
	"presentationml.slideLayout":                 rewritten(masterGrammar),
	"presentationml.notesMaster":                 rewritten(masterGrammar),
	"presentationml.handoutMaster":               rewritten(masterGrammar),
	"presentationml.comments":                    rewritten(slideCommentGrammar),
	"ms-powerpoint.comments":                     rewritten(slideCommentGrammar),
	"spreadsheetml.sharedStrings":                rewritten(sheetGrammar),
	"spreadsheetml.worksheet":                    worksheet,
	"spreadsheetml.comments":                     rewritten(sheetCommentGrammar),
	"ms-excel.threadedcomments":                  rewritten(threadGrammar),
	"spreadsheetml.sheet.main":                   searched(formulaGrammar),
	"spreadsheetml.template.main":                searched(formulaGrammar),
	"ms-excel.sheet.macroEnabled.main":           searched(formulaGrammar),
	"ms-excel.template.macroEnabled.main":        searched(formulaGrammar),
	"spreadsheetml.table":                        searched(columnGrammar),
	"spreadsheetml.pivotCacheDefinition":         searched(columnGrammar),
	"drawing":                                    rewritten(drawingGrammar),
	"drawingml.chart":                            rewritten(chartGrammar),
	"drawingml.chartshapes":                      rewritten(drawingGrammar),
	"drawingml.diagramData":                      rewritten(drawingGrammar),
	"ms-office.drawingml.diagramDrawing":         rewritten(drawingGrammar),
	"ms-office.chartex":                          rewritten(drawingGrammar),
	"openxmlformats-package.core-properties":     rewritten(propertyGrammar),
}

// partOf returns what is read of a type of parts, which for most is nothing.
func partOf(contentType string) part {
	t := strings.TrimPrefix(contentType, "application/vnd.")
	t = strings.TrimPrefix(t, "openxmlformats-officedocument.")
	if p := partTypes[strings.TrimSuffix(t, "+xml")]; p != nil {
		return p()
	}
	return part{}
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

// ooxmlParts returns the parts of an OOXML document that are read.
func ooxmlParts(a *archive.Archive) (map[string]part, error) {
	types, err := ooxmlTypes(a)
	parts := map[string]part{}
	for name, contentType := range types {
		if p := partOf(contentType); (p.text != nil || p.names != nil) && a.Has(name) {
			parts[name] = p
		}
	}
	return parts, err
}

// odfParts returns those of an OpenDocument: its own, and those of the charts in it.
func odfParts(a *archive.Archive) (map[string]part, error) {
	manifest, err := a.Small("META-INF/manifest.xml")
	if err != nil {
		return nil, err
	}
	if bytes.Contains(manifest, []byte("encryption-data")) {
		return nil, document.Refuse(nil, "the file has a password: save it without one")
	}
	parts := map[string]part{}
	for _, name := range a.Names() {
		switch base := name[strings.LastIndexByte(name, '/')+1:]; {
		case strings.HasPrefix(name, "META-INF/"):
		case base == "content.xml":
			parts[name] = part{text: odfGrammar()}
		case base == "styles.xml":
			parts[name] = part{text: odfStylesGrammar()}
		case name == "meta.xml":
			parts[name] = part{text: propertyGrammar()}
		}
	}
	return parts, nil
}

// odsParts returns those of a workbook, which has formulas.
func odsParts(a *archive.Archive) (map[string]part, error) {
	parts, err := odfParts(a)
	if content, ok := parts["content.xml"]; ok {
		content.names = odfFormulaGrammar()
		parts["content.xml"] = content
	}
	return parts, err
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
