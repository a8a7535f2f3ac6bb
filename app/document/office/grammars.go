package office

import (
	"maps"
	"strings"

	"dragoman/app/document"
)

// The grammars of parts.
var (
	drawingGrammar = each("a", "p", (*walker).drawingParagraph).with(each("a", "fld", inside(each("a", "rPr", (*walker).dateLanguage))), alternatives, levelGrammar).withLabels("a", drawingLabels)
	// levelGrammar is the grammar of lists of styles, and of tables, which have a direction likewise.
	levelGrammar = each("a", "defPPr lvl1pPr lvl2pPr lvl3pPr lvl4pPr lvl5pPr lvl6pPr lvl7pPr lvl8pPr lvl9pPr tblPr", (*walker).drawingLevel)

	wordGrammar = grammar{
		named("w", "p"):         (*walker).wordParagraph,
		named("w", "textInput"): (*walker).textInput,
		named("w", "tblPr"):     (*walker).wordTable,
		named("w", "sdtPr"):     (*walker).contentControl,
		named("w", "instrText"): (*walker).fieldCode,
		named("w", "altChunk"):  (*walker).embedded,
		named("w", "lid"):       (*walker).dateLanguage,
		named("a", "p"):         (*walker).drawingParagraph,
	}.with(alternatives).withLabels("w", wordLabels).withLabels("v", map[string][]string{"textpath": {"string"}})
	// wordStylesGrammar is the grammar of Word's styles, which declare the language of text.
	wordStylesGrammar = each("w", "rPr pPr", (*walker).wordStyleProperties).with(each("w", "style", (*walker).wordStyle))
	numberingGrammar  = each("w", "lvlText", changing((*walker).levelText, "val"))
	wordNamedStyles   = each("w", "style", (*walker).learnStyle)

	// masterGrammar is the grammar of slide masters and layouts.
	masterGrammar       = drawingGrammar.with(each("p", "sp", (*walker).ownShape))
	slideCommentGrammar = each("p", "text", (*walker).plain).with(each("a", "p", (*walker).drawingParagraph))
	chartGrammar        = each("a", "p", (*walker).drawingParagraph).with(each("c", "numFmt formatCode", changing((*walker).numberFormat, "formatCode")), each("c", "strCache multiLvlStrCache strLit tx", inside(drawingGrammar.with(each("c", "v", (*walker).plain)))))
	chartExGrammar      = drawingGrammar.with(each("cx", "pt v", (*walker).plain))

	sheetGrammar = each("x", "si is", (*walker).sheetText).with(each("x", "c", (*walker).stringCell),
		each("x", "sheetView", (*walker).sheetView), headerGrammar).withLabels("x", sheetLabels)
	sheetStylesGrammar  = each("x", "numFmt", changing((*walker).numberFormat, "formatCode"))
	workbookGrammar     = grammar{named("x", "workbook"): (*walker).workbook}
	headerGrammar       = each("x", "oddHeader evenHeader firstHeader oddFooter evenFooter firstFooter", also(document.AlsoHeaders, changing((*walker).header)))
	sheetCommentGrammar = each("x", "text", (*walker).sheetText)
	threadGrammar       = each("xtc", "text", (*walker).plain)
	// columnGrammar finds the column names that formulas and pivot tables use.
	columnGrammar = each("x", "tableColumn cacheField", (*walker).columnName).with(each("x", "table", (*walker).learnTable),
		each("x", "worksheetSource", (*walker).learnSource))
	// formulaGrammar finds what formulas refer to, odfFormulaGrammar in OpenDocument.
	formulaGrammar = grammar{
		named("x", "row"):         (*walker).learnRow,
		named("x", "c"):           (*walker).learnCell,
		named("xm", "f"):          (*walker).learnFormula,
		named("x", "definedName"): (*walker).learnName,
	}.with(each("x", "dataValidation conditionalFormatting", (*walker).learnScope), each("x", "formula formula1 formula2", (*walker).learnFormula),
		each("x", "filter customFilter", (*walker).columnName))
	sharedGrammar     = each("x", "si", (*walker).learnShared)
	odfFormulaGrammar = grammar{
		named("table", "table"):     (*walker).learnODFTable,
		named("table", "table-row"): (*walker).learnODFRow,
	}.with(each("table", "table-cell covered-table-cell", (*walker).learnODFCell), each("calcext", "conditional-format condition", (*walker).learnODF),
		each("table", "content-validation named-range named-expression database-range source-cell-range data-pilot-field calculation-settings", (*walker).learnODF))

	// propertyGrammar is the grammar of document properties.
	propertyGrammar = each("dc", "title subject description", (*walker).plain).with(each("cp", "keywords category", (*walker).plain),
		each("meta", "keyword", (*walker).plain), each("dc", "language", (*walker).setLanguage))

	odfContentGrammar = each("text", "p h", (*walker).odfParagraph).with(
		each("text", "tracked-changes", (*walker).verbatim), each("table", "tracked-changes", (*walker).verbatim),
		each("table", "table-cell covered-table-cell", (*walker).odfCell),
		each("style", "style default-style page-layout", (*walker).readStyle), each("office", "automatic-styles", (*walker).automaticStyles),
		each("presentation", "footer-decl header-decl date-time-decl", (*walker).plain),
		each("text", "index-title-template index-entry-span", (*walker).plain),
		each("draw", "frame custom-shape g", (*walker).odfShape),
		each("number", "text", changing((*walker).formatText)), each("number", "date-style time-style", (*walker).odfDates),
		each("text", "list-level-style-number outline-level-style", changing((*walker).levelText, "num-prefix", "num-suffix", "num-list-format")),
	).withLabels("text", odfTextLabels).withLabels("table", odfTableLabels).withLabels("form", odfFormLabels)
	// odfGrammar is the grammar of OpenDocument. LibreOffice writes the displayed cells of a chart into its descriptions, which stay.
	odfGrammar = odfContentGrammar.with(each("office", "chart", inside(odfContentGrammar)), each("svg", "title desc", also(document.AlsoAlt, (*walker).plain)),
		each("table", "title desc", also(document.AlsoAlt, (*walker).plain)))
	odfNamedStyles = each("style", "style", (*walker).learnStyle)
	// odfStylesGrammar is the grammar of styles.xml, whose master pages have headers, footers and shapes.
	odfStylesGrammar = odfGrammar.with(each("draw", "frame custom-shape", (*walker).odfMasterShape))
)

// each returns the grammar that rewrites some elements of a namespace alike.
func each(space, elements string, rewrite rewriting) grammar {
	g := grammar{}
	for local := range strings.FieldsSeq(elements) {
		g[named(space, local)] = rewrite
	}
	return g
}

func (g grammar) with(more ...grammar) grammar {
	g = maps.Clone(g)
	for _, other := range more {
		maps.Copy(g, other)
	}
	return g
}
