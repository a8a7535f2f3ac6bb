// Package textfile has the kinds of documents that are text. They are rewritten in place, so that all bytes except translations
// stay.
//
//	plain.go                     txt
//	markdown.go, anchor.go       Markdown: blocks, and paragraphs whose lines are wrapped; links to headings
//	mdx.go                       MDX: Markdown with JSX
//	html.go, attribute.go        HTML and SVG: units, and attributes that are shown
//	book.go                      parts of books
//	notebook.go                  Jupyter's notebooks, whose cells are Markdown
//	subtitles.go, speech.go      SRT, WebVTT, SBV, LRC: cues, and how a text is shared between lines and cues
//	ass.go                       (Advanced) SubStation Alpha: lines with tags in braces
//	table.go                     CSV and TSV
//	json.go, yaml.go, scalar.go  values of JSON and YAML
//	po.go                        PO and POT
//	properties.go, strings.go    Java's .properties, Apple's .strings
//	xcstrings.go                 Xcode's catalogues of strings, which are JSON
//	xml.go                       elements with their places, for the kinds that are XML:
//	  xliff.go, qt.go            XLIFF 1.2 and 2, Qt's .ts
//	  xliffparts.go              XLIFF of Trados Studio and of Phrase
//	  android.go, resx.go        resources of Android and .NET
//	  stringsdict.go             Apple's plural forms
//	  ttml.go                    TTML: captions
//	  tmx.go                     translation memories
//	fluent.go, php.go            Fluent, arrays of PHP
//	eml.go                       mails
//
// A kind is a function that goes through a document's text and tells a [pass] which bytes to replace by which text. A segment
// whose translation equals it keeps its bytes, so its notation in the document never needs to be reproduced.
package textfile

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"

	"dragoman/app/budget"
	"dragoman/app/document"
	"dragoman/app/text/markup"
)

// Kinds returns all kinds of this package.
func Kinds() []*document.Kind {
	return []*document.Kind{
		newKind("txt", []string{".txt", ".text"}, "text/plain", markup.Text, plain, each(20, "\n")),
		newKind("markdown", []string{".md", ".markdown", ".mdown", ".mkd"}, "text/markdown", markup.Text, markdown, markdownMemory),
		newKind("mdx", []string{".mdx"}, "text/mdx", markup.Text, mdx, markdownMemory),
		newKind("ipynb", []string{".ipynb"}, "application/x-ipynb+json", markup.Text, notebook, each(270, ",[{\n")),
		newKind("html", []string{".html", ".htm", ".xhtml"}, "text/html", markup.HTML, htmlUnits, each(500, "<=")),
		newKind("srt", []string{".srt"}, "application/x-subrip", markup.Text, srt, each(100, "\n")),
		newKind("vtt", []string{".vtt"}, "text/vtt", markup.Text, vtt, each(100, "\n")),
		newKind("sbv", []string{".sbv"}, "text/x-sbv", markup.Text, sbv, each(100, "\n")),
		newKind("lrc", []string{".lrc"}, "application/lrc", markup.Text, lrc, each(50, "\n")),
		newKind("ass", []string{".ass", ".ssa"}, "text/x-ssa", markup.XML, ass, marked(300, "\n\\", 1500, "{")),
		newKind("ttml", []string{".ttml", ".dfxp", ".itt", ".xml"}, "application/ttml+xml", markup.XML, ttml, each(350, "<=")),
		newKind("csv", []string{".csv"}, "text/csv", markup.Text, csv, each(50, "\n,;\t|")),
		newKind("tsv", []string{".tsv", ".tab"}, "text/tab-separated-values", markup.Text, tsv, each(50, "\n\t")),
		newKind("json", []string{".json", ".arb", ".jsonl", ".ndjson"}, "application/json", markup.Text, jsonValues, each(270, ",[{\n")),
		newKind("yaml", []string{".yaml", ".yml"}, "application/yaml", markup.Text, yamlValues, each(500, "\n-,:[{?")),
		newKind("po", []string{".po", ".pot"}, "text/x-gettext-translation", markup.Text, po, each(100, "\n")),
		newKind("ts", []string{".ts"}, "application/x-linguist", markup.Text, qt, each(100, "<=")),
		newKind("xliff", []string{".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff", ".xml"}, "application/xliff+xml", markup.XML, xliff, each(100, "<=")),
		newKind("tmx", []string{".tmx"}, "application/x-tmx+xml", markup.XML, tmx, each(100, "<=")),
		newKind("ftl", []string{".ftl"}, "text/x-fluent", markup.Text, fluent, each(100, "\n")),
		newKind("php", []string{".php"}, "application/x-httpd-php", markup.Text, php, each(20, "[(")),
		newKind("eml", []string{".eml"}, "message/rfc822", markup.HTML, eml, each(20, "\n")),
		newKind("svg", []string{".svg"}, "image/svg+xml", markup.HTML, svg, each(500, "<=")),
		newKind("properties", []string{".properties"}, "text/x-java-properties", markup.Text, properties, each(110, "\n\r")),
		newKind("android", []string{".xml"}, "application/xml", markup.XML, android, each(100, "<=")),
		newKind("resx", []string{".resx", ".resw"}, "text/microsoft-resx", markup.Text, resx, each(100, "<=")),
		newKind("strings", []string{".strings"}, "text/x-apple-strings", markup.Text, appleStrings, each(110, "\n;<=")),
		newKind("plist", []string{".plist"}, "application/x-plist", markup.Text, infoPlist, each(100, "<=")),
		newKind("stringsdict", []string{".stringsdict"}, "application/x-apple-stringsdict", markup.Text, stringsdict, each(100, "<=")),
		newKind("xcstrings", []string{".xcstrings"}, "application/x-apple-xcstrings", markup.Text, xcstrings, each(270, ",[{\n")),
	}
}

// newKind returns a kind whose documents rewrite goes through. memory returns the approximate heap for reading a text, beside a
// few copies of it.
func newKind(name string, extensions []string, mediaType string, form markup.Format, rewrite func(p *pass), memory func(text string) int64) *document.Kind {
	isXML := slices.Contains([]string{"html", "ttml", "ts", "xliff", "android", "resx", "stringsdict", "plist", "svg", "tmx"}, name)
	r := rewriter{rewrite, memory, name == "properties", name == "eml", isXML, slices.Contains([]string{"srt", "sbv", "lrc", "csv", "tsv", "html", "txt"}, name)}
	return &document.Kind{Name: name, Extensions: extensions, MediaType: mediaType, Form: form, Rewrite: r.rewrite}
}

// rewriter rewrites documents of a kind.
type rewriter struct {
	pass       func(p *pass)
	memory     func(text string) int64
	isLatin1   bool // text that is not UTF-8 is ISO 8859-1
	isRaw      bool // the text has parts in other encodings
	isXML      bool // the head may declare the encoding
	isCodePage bool // text that is not UTF-8 is in the code page of its language
}

// rewrite implements [document.Kind]. Before reading, it takes the memory that it needs beside a few copies of the document from
// the request: up to 300 times the size of Markdown and YAML that consist of short lines.
func (r rewriter) rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64,
	o document.Options, t document.Translate,
) error {
	raw := make([]byte, size)
	if n, err := in.ReadAt(raw, 0); n < len(raw) {
		return err
	}
	if err := budget.Work(ctx, len(raw)); err != nil {
		return err
	}
	text, enc, err := decode(raw, r, o.From)
	if err != nil {
		return err
	}
	if enc.isCodePage && o.To != "" {
		enc = utf8Marked
	}
	release, err := budget.Hold(ctx, r.memory(text))
	if err != nil {
		return err
	}
	defer release()
	buffer := bufio.NewWriter(cmp.Or(out, io.Discard))
	w := enc.writer(buffer)
	p := &pass{ctx: ctx, text: text, lineEnd: lineEnd(text), encoding: enc, options: o, out: w, translator: t.Within(ctx)}
	if err := p.run(r.pass); err != nil {
		return err
	}
	return cmp.Or(w.Close(), buffer.Flush())
}
