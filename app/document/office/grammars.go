package office

// The grammars of parts. They are made by functions, for their elements lead back to them.

func wordGrammar() grammar {
	g := grammar{
		named("w", "p"):         (*walker).wordParagraph,
		named("w", "textInput"): (*walker).textInput,
		named("a", "p"):         (*walker).drawingParagraph,
	}
	return g.withLabels("w", wordLabels)
}

// wordStylesGrammar is that of Word's styles, which say what language text is in.
func wordStylesGrammar() grammar {
	return grammar{named("w", "lang"): (*walker).setWordLanguage}
}

func drawingGrammar() grammar {
	return grammar{named("a", "p"): (*walker).drawingParagraph}
}

// masterGrammar is that of masters and layouts of slides.
func masterGrammar() grammar {
	return grammar{named("p", "sp"): (*walker).ownShape, named("a", "p"): (*walker).drawingParagraph}
}

func slideCommentGrammar() grammar {
	return grammar{named("p", "text"): (*walker).plain, named("a", "p"): (*walker).drawingParagraph}
}

func chartGrammar() grammar {
	return grammar{
		named("a", "p"):                (*walker).drawingParagraph,
		named("c", "strCache"):         (*walker).cache,
		named("c", "multiLvlStrCache"): (*walker).cache,
		named("c", "v"):                (*walker).cachedValue,
	}
}

func sheetGrammar() grammar {
	return grammar{named("x", "si"): (*walker).sheetText, named("x", "is"): (*walker).sheetText}
}

func sheetCommentGrammar() grammar {
	return grammar{named("x", "text"): (*walker).sheetText}
}

func threadGrammar() grammar {
	return grammar{named("xtc", "text"): (*walker).plain}
}

// columnGrammar finds the names of columns that formulas and pivot tables use.
func columnGrammar() grammar {
	return grammar{named("x", "tableColumn"): (*walker).columnName, named("x", "cacheField"): (*walker).columnName}
}

// formulaGrammar finds the texts in formulas.
func formulaGrammar() grammar {
	g := grammar{}
	for _, local := range []string{"f", "formula", "formula1", "formula2", "definedName"} {
		g[named("x", local)] = (*walker).formula
	}
	return g
}

// odfFormulaGrammar finds those of OpenDocument.
func odfFormulaGrammar() grammar {
	return grammar{
		named("table", "table-cell"):         (*walker).odfFormula,
		named("table", "content-validation"): (*walker).odfFormula,
	}
}

// propertyGrammar is that of a document's properties: title, subject and description.
func propertyGrammar() grammar {
	return grammar{
		named("dc", "title"):       (*walker).plain,
		named("dc", "subject"):     (*walker).plain,
		named("dc", "description"): (*walker).plain,
	}
}

func odfGrammar() grammar {
	g := grammar{
		named("text", "p"):                   (*walker).odfParagraph,
		named("text", "h"):                   (*walker).odfParagraph,
		named("text", "tracked-changes"):     (*walker).verbatim,
		named("table", "tracked-changes"):    (*walker).verbatim,
		named("table", "table-cell"):         (*walker).odfCell,
		named("table", "covered-table-cell"): (*walker).odfCell,
		named("style", "style"):              (*walker).readStyle,
		named("style", "default-style"):      (*walker).readStyle,
		named("presentation", "footer-decl"): (*walker).plain,
		named("presentation", "header-decl"): (*walker).plain,
	}
	return g.withLabels("text", odfTextLabels).withLabels("form", odfFormLabels)
}

// odfStylesGrammar is that of styles.xml, whose master pages have headers, footers and shapes.
func odfStylesGrammar() grammar {
	g := odfGrammar()
	g[named("draw", "frame")] = (*walker).odfMasterShape
	g[named("draw", "custom-shape")] = (*walker).odfMasterShape
	return g
}
