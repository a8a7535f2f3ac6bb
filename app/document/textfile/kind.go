// Package textfile has the kinds of documents that are text: they are rewritten in place, so that
// every byte outside of what is translated stays.
//
//	plain.go                     txt
//	markdown.go, paragraph.go    Markdown: blocks, and paragraphs whose lines are wrapped
//	html.go, attribute.go        HTML: units, and attributes that are shown
//	subtitles.go, balance.go     SRT and WebVTT: cues, and how a text is shared between lines
//	table.go                     CSV and TSV
//	json.go, yaml.go, scalar.go  values of JSON and YAML
//	po.go                        PO and POT
//	properties.go, strings.go    Java's .properties, Apple's .strings
//	xcstrings.go                 Xcode's catalogues of strings, which are JSON
//	xml.go                       elements with their places, for the kinds that are XML:
//	  xliff.go, android.go       XLIFF 1.2 and 2, Android's resources
//	  stringsdict.go             Apple's plural forms
//
// A kind is a function that goes through a document's text and tells a [pass] which bytes are to be
// replaced by what. A segment whose translation equals it keeps its bytes, so that nothing has to be
// written the way in which somebody else did.
package textfile

import (
	"context"
	"io"

	"dragoman/app/document"
	"dragoman/app/translate"
)

// Kinds are all kinds of this package.
func Kinds() []document.Kind {
	return []document.Kind{
		kind{"txt", []string{".txt", ".text"}, "text/plain", translate.Text, lines},
		kind{"markdown", []string{".md", ".markdown", ".mdown", ".mkd"}, "text/markdown", translate.Text, markdown},
		kind{"html", []string{".html", ".htm", ".xhtml"}, "text/html", translate.HTML, htmlUnits},
		kind{"srt", []string{".srt"}, "application/x-subrip", translate.Text, srt},
		kind{"vtt", []string{".vtt"}, "text/vtt", translate.Text, vtt},
		kind{"csv", []string{".csv"}, "text/csv", translate.Text, csv},
		kind{"tsv", []string{".tsv", ".tab"}, "text/tab-separated-values", translate.Text, tsv},
		kind{"json", []string{".json", ".arb", ".jsonl", ".ndjson"}, "application/json", translate.Text, jsonValues},
		kind{"yaml", []string{".yaml", ".yml"}, "application/yaml", translate.Text, yamlValues},
		kind{"po", []string{".po", ".pot"}, "text/x-gettext-translation", translate.Text, po},
		kind{"xliff", []string{".xlf", ".xliff", ".xml"}, "application/xliff+xml", translate.XML, xliff},
		kind{"properties", []string{".properties"}, "text/x-java-properties", translate.Text, properties},
		kind{"android", []string{".xml"}, "application/xml", translate.XML, android},
		kind{"strings", []string{".strings"}, "text/x-apple-strings", translate.Text, appleStrings},
		kind{"stringsdict", []string{".stringsdict"}, "application/x-apple-stringsdict", translate.Text, stringsdict},
		kind{"xcstrings", []string{".xcstrings"}, "application/x-apple-xcstrings", translate.Text, xcstrings},
	}
}

// kind is one of them.
type kind struct {
	name       string
	extensions []string
	mediaType  string
	form       translate.Format
	rewrite    func(p *pass) error
}

func (k kind) Name() string           { return k.name }
func (k kind) Extensions() []string   { return k.extensions }
func (k kind) MediaType() string      { return k.mediaType }
func (k kind) Form() translate.Format { return k.form }

// Rewrite is as [document.Kind] says. It takes memory in proportion to the document: ten to thirty times its
// size for most, up to 200 times for Markdown and YAML that are nothing but short lines.
func (k kind) Rewrite(ctx context.Context, out io.Writer, in io.ReaderAt, size int64,
	o document.Options, t document.Translate,
) error {
	raw := make([]byte, size)
	if n, err := in.ReadAt(raw, 0); n < len(raw) {
		return err
	}
	text, enc, err := decode(raw, k.name == "properties")
	if err != nil {
		return err
	}
	w := enc.writer(out)
	p := &pass{text: text, encoding: enc, options: o, ctx: ctx, out: w, translator: t}
	if err := k.rewrite(p); err != nil {
		return err
	}
	if err := p.copy(len(text)); err != nil {
		return err
	}
	return w.Close()
}
