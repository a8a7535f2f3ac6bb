package office

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"dragoman/app/document"
	"dragoman/app/document/archive"
	"dragoman/app/document/xmlpart"
)

// contentTypes is the part of OOXML with the types of the other parts.
const contentTypes = "[Content_Types].xml"

// part tells how to read a part.
type part struct {
	main  string  // of a main part: the name of the document's kind
	text  grammar // if its text is rewritten
	names grammar // if it has names, or texts in formulas, which must stay everywhere
	also  string  // the sort of its texts, see document.Also, if they are optional

	stage   int    // its position among the parts with names: definitions come before formulas
	strings bool   // it has the shared strings
	sheet   string // the name of the sheet to which it belongs
}

// partTypes are the types of OOXML parts with text, without their common prefix and suffix.
var partTypes = func() map[string]part {
	types := map[string]part{}
	for _, t := range []struct {
		part
		types string
	}{
		{part{main: "docx", text: wordGrammar}, "wordprocessingml.document.main wordprocessingml.template.main ms-word.document.macroEnabled.main ms-word.template.macroEnabledTemplate.main"},
		{part{text: wordGrammar}, "wordprocessingml.document.glossary wordprocessingml.header wordprocessingml.footer " + // the glossary has texts of empty content controls
			"wordprocessingml.footnotes wordprocessingml.endnotes wordprocessingml.comments"},
		{part{text: wordStylesGrammar, names: wordNamedStyles}, "wordprocessingml.styles"},
		{part{text: numberingGrammar}, "wordprocessingml.numbering"},
		{part{main: "pptx", text: levelGrammar}, "presentationml.presentation.main presentationml.slideshow.main presentationml.template.main " +
			"ms-powerpoint.presentation.macroEnabled.main ms-powerpoint.slideshow.macroEnabled.main ms-powerpoint.template.macroEnabled.main " +
			"ms-powerpoint.addin.macroEnabled.main"},
		{part{text: drawingGrammar}, "presentationml.slide presentationml.notesSlide drawing drawingml.chartshapes drawingml.diagramData " +
			"ms-office.drawingml.diagramDrawing"},
		{part{text: chartExGrammar}, "ms-office.chartex"},
		{part{text: masterGrammar}, "presentationml.slideMaster presentationml.slideLayout presentationml.notesMaster presentationml.handoutMaster"},
		{part{text: slideCommentGrammar}, "presentationml.comments ms-powerpoint.comments"},
		{part{text: sheetGrammar, names: sharedGrammar, strings: true}, "spreadsheetml.sharedStrings"},
		{part{text: sheetGrammar, names: formulaGrammar, stage: 1}, "spreadsheetml.worksheet"},
		{part{text: sheetStylesGrammar}, "spreadsheetml.styles"},
		{part{text: headerGrammar, also: document.AlsoHeaders}, "spreadsheetml.chartsheet"},
		{part{text: sheetCommentGrammar}, "spreadsheetml.comments"},
		{part{text: threadGrammar}, "ms-excel.threadedcomments"},
		{part{main: "xlsx", names: formulaGrammar, text: workbookGrammar}, "spreadsheetml.sheet.main spreadsheetml.template.main ms-excel.sheet.macroEnabled.main ms-excel.template.macroEnabled.main ms-excel.addin.macroEnabled.main"},
		{part{main: "xlsb, which has no text in XML: save it as .xlsx"}, "ms-excel.sheet.binary.macroEnabled.main"},
		{part{names: columnGrammar}, "spreadsheetml.table spreadsheetml.pivotCacheDefinition"},
		{part{text: chartGrammar}, "drawingml.chart"},
		{part{text: propertyGrammar}, "openxmlformats-package.core-properties"},
	} {
		for name := range strings.FieldsSeq(t.types) {
			types[name] = t.part
		}
	}
	return types
}()

// partOf returns how to read parts of a type; most are not read.
func partOf(contentType string) part {
	t := strings.TrimPrefix(contentType, "application/vnd.")
	t = strings.TrimPrefix(t, "openxmlformats-officedocument.")
	return partTypes[strings.TrimSuffix(t, "+xml")]
}

// ooxmlTypes returns the types of an OOXML document's parts by name. Other archives have none.
func (w *walker) ooxmlTypes(a *archive.Archive) map[string]string {
	types, extensions := map[string]string{}, map[string]string{}
	w.looks.Check(a.EachStart(contentTypes, xmlpart.Options{}, func(t xmlpart.Token) {
		switch t.Name.Local {
		case "Override":
			types[a.Named(strings.TrimPrefix(t.Attribute("PartName"), "/"))] = t.Attribute("ContentType")
		case "Default":
			extensions[strings.ToLower(t.Attribute("Extension"))] = t.Attribute("ContentType")
		}
	}))
	for _, name := range a.Names() {
		extension := name[strings.LastIndexByte(name, '.')+1:]
		if general := extensions[strings.ToLower(extension)]; types[name] == "" && general != "" {
			types[name] = general
		}
	}
	return types
}

// small returns a small part, or nil if there is none of that name.
func (w *walker) small(a *archive.Archive, name string) []byte {
	content, err := a.Small(name)
	w.looks.Check(err)
	return content
}

// parts returns the parts of a document of a kind to read, by name.
func (w *walker) parts(a *archive.Archive, kind string) map[string]part {
	if strings.HasPrefix(kind, "od") {
		return w.odfParts(a, kind)
	}
	parts := map[string]part{}
	for name, contentType := range w.ooxmlTypes(a) {
		if p := partOf(contentType); (p.text != nil || p.names != nil) && a.Has(name) {
			parts[name] = p
		}
		if storeName.MatchString(name) {
			parts[name] = part{text: storeGrammar}
		}
	}
	for name, p := range parts {
		if p.main != "xlsx" {
			continue
		}
		for name, sheet := range w.sheetsOf(a, name) {
			if p, ok := parts[name]; ok {
				p.sheet = sheet
				parts[name] = p
			}
		}
	}
	return parts
}

// odfParts returns the parts of an OpenDocument to read: its own, and those of its charts.
func (w *walker) odfParts(a *archive.Archive, kind string) map[string]part {
	if bytes.Contains(w.small(a, "META-INF/manifest.xml"), []byte("encryption-data")) {
		w.looks.Check(document.Refuse(nil, "the file has a password: save it without one"))
	}
	parts := map[string]part{}
	for _, name := range a.Names() {
		switch base := name[strings.LastIndexByte(name, '/')+1:]; {
		case strings.HasPrefix(name, "META-INF/"):
		case base == "content.xml":
			parts[name] = part{text: odfGrammar}
			if kind == "ods" && name == base {
				parts[name] = part{text: odfGrammar, names: odfFormulaGrammar}
			}
		case base == "styles.xml":
			parts[name] = part{text: odfStylesGrammar}
			if name == base {
				parts[name] = part{text: odfStylesGrammar, names: odfNamedStyles}
			}
		case name == "meta.xml":
			parts[name] = part{text: propertyGrammar}
		}
	}
	return parts
}

// identify refuses a document of another kind.
func (w *walker) identify(a *archive.Archive, kind string) {
	switch name := w.kindOf(a); name {
	case kind:
	case "":
		w.looks.Check(document.Refuse(nil, "the file is a zip archive, but no document of the kind %s", kind))
	default:
		w.looks.Check(document.Refuse(nil, "the file is taken for a document of the kind %s, but it is %s", kind, name))
	}
}

// kindOf returns the name of an archive's kind, or "".
func (w *walker) kindOf(a *archive.Archive) (found string) {
	media := strings.TrimSpace(string(w.small(a, "mimetype")))
	if odf, ok := strings.CutPrefix(media, "application/vnd.oasis.opendocument."); ok {
		names := map[string]string{"text": "odt", "presentation": "odp", "spreadsheet": "ods", "graphics": "odg"}
		return names[strings.TrimSuffix(odf, "-template")]
	}
	if media == "application/epub+zip" {
		return "epub"
	}
	for name, contentType := range w.ooxmlTypes(a) {
		if main := partOf(contentType).main; main != "" && a.Has(name) && (found == "" || main < found) {
			found = main
		}
	}
	return found
}

// sortParts sorts parts into reading order: first the document itself, then parts attached to it. Numbers in names are compared
// by value.
func sortParts(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(inOrder(a), inOrder(b)), strings.Compare(a, b))
	})
}

// rank returns the position of a part's folder or name in reading order.
func rank(name string) int {
	for i, start := range []string{"content.xml", "word/document", "word/footnotes", "word/endnotes", "word/", "ppt/slides/", "ppt/notesSlides/",
		"ppt/", "xl/sharedStrings", "xl/worksheets/", "xl/", "Object ", "styles.xml"} {
		if strings.HasPrefix(name, start) {
			return i
		}
	}
	return 99
}

var number = regexp.MustCompile(`\d+`)

// inOrder pads the numbers in a name so that names compare by value.
func inOrder(name string) string {
	return number.ReplaceAllStringFunc(name, func(digits string) string { return strings.Repeat("0", max(0, 20-len(digits))) + digits })
}
