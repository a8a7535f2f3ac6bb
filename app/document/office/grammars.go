package office

import (
	"maps"

	"dragoman/app/document"
)

// The grammars of parts.
var (
	drawingGrammar = grammar{named("a", "p"): (*walker).drawingParagraph}.with(alternatives).with(levelGrammar).withLabels("a", drawingLabels)
	// levelGrammar is the grammar of lists of styles.
	levelGrammar = func() grammar {
		g := grammar{named("a", "defPPr"): (*walker).drawingLevel}
		for level := '1'; level <= '9'; level++ {
			g[named("a", "lvl"+string(level)+"pPr")] = (*walker).drawingLevel
		}
		return g
	}()

	wordGrammar = grammar{
		named("w", "p"):         (*walker).wordParagraph,
		named("w", "textInput"): (*walker).textInput,
		named("w", "tblPr"):     (*walker).wordTable,
		named("w", "sdtPr"):     (*walker).contentControl,
		named("w", "instrText"): (*walker).fieldCode,
		named("a", "p"):         (*walker).drawingParagraph,
	}.with(alternatives).withLabels("w", wordLabels)
	// wordStylesGrammar is the grammar of Word's styles, which declare the language of text.
	wordStylesGrammar = grammar{named("w", "rPr"): (*walker).wordStyleProperties, named("w", "pPr"): (*walker).wordStyleProperties}

	// masterGrammar is the grammar of slide masters and layouts.
	masterGrammar       = drawingGrammar.with(grammar{named("p", "sp"): (*walker).ownShape})
	slideCommentGrammar = grammar{named("p", "text"): (*walker).plain, named("a", "p"): (*walker).drawingParagraph}
	chartGrammar        = grammar{
		named("a", "p"):                (*walker).drawingParagraph,
		named("c", "strCache"):         (*walker).cache,
		named("c", "multiLvlStrCache"): (*walker).cache,
		named("c", "v"):                (*walker).cachedValue,
	}

	sheetGrammar = grammar{named("x", "si"): (*walker).sheetText, named("x", "is"): (*walker).sheetText, named("x", "c"): (*walker).stringCell,
		named("x", "sheetView"): (*walker).sheetView}.with(headerGrammar).withLabels("x", sheetLabels)
	headerGrammar = grammar{
		named("x", "oddHeader"):   also(document.AlsoHeaders, (*walker).sheetHeader),
		named("x", "evenHeader"):  also(document.AlsoHeaders, (*walker).sheetHeader),
		named("x", "firstHeader"): also(document.AlsoHeaders, (*walker).sheetHeader),
		named("x", "oddFooter"):   also(document.AlsoHeaders, (*walker).sheetHeader),
		named("x", "evenFooter"):  also(document.AlsoHeaders, (*walker).sheetHeader),
		named("x", "firstFooter"): also(document.AlsoHeaders, (*walker).sheetHeader),
	}
	sheetCommentGrammar = grammar{named("x", "text"): (*walker).sheetText}
	threadGrammar       = grammar{named("xtc", "text"): (*walker).plain}
	// columnGrammar finds the column names that formulas and pivot tables use.
	columnGrammar = grammar{
		named("x", "table"):           (*walker).learnTable,
		named("x", "tableColumn"):     (*walker).columnName,
		named("x", "cacheField"):      (*walker).columnName,
		named("x", "worksheetSource"): (*walker).learnSource,
	}
	// formulaGrammar finds what formulas refer to, odfFormulaGrammar in OpenDocument.
	formulaGrammar = grammar{
		named("x", "row"):                   (*walker).learnRow,
		named("x", "c"):                     (*walker).learnCell,
		named("x", "dataValidation"):        (*walker).learnScope,
		named("x", "conditionalFormatting"): (*walker).learnScope,
		named("x", "formula"):               (*walker).learnFormula,
		named("x", "formula1"):              (*walker).learnFormula,
		named("x", "formula2"):              (*walker).learnFormula,
		named("xm", "f"):                    (*walker).learnFormula,
		named("x", "filter"):                (*walker).columnName,
		named("x", "customFilter"):          (*walker).columnName,
		named("x", "definedName"):           (*walker).learnName,
	}
	sharedGrammar     = grammar{named("x", "si"): (*walker).learnShared}
	odfFormulaGrammar = grammar{
		named("table", "table"):                (*walker).learnODFTable,
		named("table", "table-row"):            (*walker).learnODFRow,
		named("table", "table-cell"):           (*walker).learnODFCell,
		named("table", "covered-table-cell"):   (*walker).learnODFCell,
		named("table", "content-validation"):   (*walker).learnODF,
		named("table", "named-range"):          (*walker).learnODF,
		named("table", "named-expression"):     (*walker).learnODF,
		named("table", "database-range"):       (*walker).learnODF,
		named("table", "source-cell-range"):    (*walker).learnODF,
		named("table", "data-pilot-field"):     (*walker).learnODF,
		named("table", "calculation-settings"): (*walker).learnODF,
		named("calcext", "conditional-format"): (*walker).learnODF,
		named("calcext", "condition"):          (*walker).learnODF,
	}

	// propertyGrammar is the grammar of document properties.
	propertyGrammar = grammar{
		named("dc", "title"):       (*walker).plain,
		named("dc", "subject"):     (*walker).plain,
		named("dc", "description"): (*walker).plain,
		named("dc", "language"):    (*walker).setLanguage,
		named("cp", "keywords"):    (*walker).plain,
		named("cp", "category"):    (*walker).plain,
		named("meta", "keyword"):   (*walker).plain,
	}

	odfGrammar = grammar{
		named("text", "p"):                   (*walker).odfParagraph,
		named("text", "h"):                   (*walker).odfParagraph,
		named("text", "tracked-changes"):     (*walker).verbatim,
		named("table", "tracked-changes"):    (*walker).verbatim,
		named("table", "table-cell"):         (*walker).odfCell,
		named("table", "covered-table-cell"): (*walker).odfCell,
		named("style", "style"):              (*walker).readStyle,
		named("style", "default-style"):      (*walker).readStyle,
		named("style", "page-layout"):        (*walker).readStyle,
		named("presentation", "footer-decl"): (*walker).plain,
		named("presentation", "header-decl"): (*walker).plain,
		named("office", "chart"):             (*walker).odfChart,
		named("draw", "frame"):               (*walker).odfShape,
		named("draw", "custom-shape"):        (*walker).odfShape,
		named("draw", "g"):                   (*walker).odfShape,
		named("svg", "title"):                also(document.AlsoAlt, (*walker).plain),
		named("svg", "desc"):                 also(document.AlsoAlt, (*walker).plain),
	}.withLabels("text", odfTextLabels).withLabels("table", odfTableLabels).withLabels("form", odfFormLabels)
	// odfStylesGrammar is the grammar of styles.xml, whose master pages have headers, footers and shapes.
	odfStylesGrammar = odfGrammar.with(grammar{
		named("draw", "frame"):        (*walker).odfMasterShape,
		named("draw", "custom-shape"): (*walker).odfMasterShape,
	})
)

func (g grammar) with(more grammar) grammar {
	g = maps.Clone(g)
	maps.Copy(g, more)
	return g
}
