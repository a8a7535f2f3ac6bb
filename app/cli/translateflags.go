package cli

import (
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"dragoman/app/client"
	"dragoman/app/config"
	"dragoman/app/document"
	"dragoman/app/document/kinds"
	"dragoman/app/document/libreoffice"
	"dragoman/app/text/wrap"
	"dragoman/app/translate"
)

// translateFlags are the flags of the command translate. Their methods run the command.
type translateFlags struct {
	*Program
	from, to, model string
	format          string
	beams           int
	alternatives    int
	glossary        string
	memory          string
	termFile        string
	terms           []translate.Term // in termFile
	lines           []string         // files of lines
	asJob, json     bool
	strict          bool // a fault ends the command
	columns, also   []string
	asSource        bool   // also AlsoSource
	header, wrapped string // of documents
	output          output
	service         remote
	set             *pflag.FlagSet
}

// stdio, as the name of a file, is standard input or output.
const stdio = "-"

// defineLanguages adds flags for languages and, if model is not nil, for a model.
func defineLanguages(flags *pflag.FlagSet, from, to, model *string) {
	flags.SortFlags = false
	flags.StringVarP(from, "from", "f", "", "language of the texts")
	flags.StringVarP(to, "to", "t", "", "language to translate into")
	if model != nil {
		flags.StringVarP(model, "model", "m", "", "model to translate with, NAME or NAME:VERSION (any for the languages)")
	}
}

func (f *translateFlags) define(flags *pflag.FlagSet) {
	defineLanguages(flags, &f.from, &f.to, &f.model)
	f.output.define(flags, "file for the translated document, or folder for several: the arguments are files and folders then; - is standard output")
	flags.StringVar(&f.format, "format", "", "format of the texts: text, html or xml (text); with -o, of the documents, such as docx (by their names)")
	flags.IntVar(&f.beams, "beams", 0, "beams of the search, up to MAX_BEAMS (NUM_BEAMS)")
	flags.IntVar(&f.alternatives, "alternatives", 0, "translations of each text to print, including the best, up to MAX_BEAMS (only the best)")
	flags.StringArrayVar(&f.lines, "file", nil, "file of lines to translate; can be repeated; - is standard input")
	flags.StringVar(&f.termFile, "terms", "", "file of terms: each line has a term, a tab and its translation; a term alone is never translated")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns of tables to translate, by name or number, separated by commas (all)")
	flags.StringVar(&f.header, "header", "", "first row of tables: keep, translate or auto, which keeps names such as id, first_name (auto)")
	flags.StringSliceVar(&f.also, "also", nil, "further texts to translate: alt (texts of pictures), headers (of Excel's sheets); fuzzy marks translations of gettext; separated by commas (none)")
	flags.BoolVar(&f.asSource, "as-source", false, "translate the translations that a catalogue has, which are in the source language")
	flags.StringVar(&f.wrapped, "wrapped", "", "whether documents of plain text are wrapped at a width: on, off or auto (auto)")
	flags.StringVar(&f.output.as, "as", "", "format of translated PDFs: html or txt (PDF)")
	flags.BoolVar(&f.json, "json", false, "print a JSON object for each text")
	flags.BoolVar(&f.strict, "strict", false, "end at the first line or document that cannot be translated")
	flags.BoolVar(&f.asJob, "job", false, "translate with a running service, as a job")
	flags.StringVar(&f.glossary, "glossary", "", "with --job: id of a glossary of the service")
	flags.StringVar(&f.memory, "memory", "", "with --job: id of a translation memory of the service")
	f.service.define(flags)
	f.set = flags
}

func (f *translateFlags) documents() bool { return f.output.path != "" }

// check validates flags and arguments together, and reads the file of terms.
func (f *translateFlags) check(texts []string) error {
	if f.asSource {
		f.also = append(f.also, document.AlsoSource)
	}
	switch {
	case f.from == "" || f.to == "":
		return usagef("translate needs --from and --to, such as --from en --to fr")
	case len(texts) > 0 && len(f.lines) > 0:
		return usagef("translate takes texts or files, not both")
	case len(texts) > 1 && slices.Contains(texts, stdio):
		return usagef("translate takes - for standard input alone, not with other texts or documents")
	case !f.asJob && f.memory != "":
		return usagef("translate takes --memory only with --job: a service has the translation memories")
	case !f.asJob && f.glossary != "":
		return usagef("translate takes --glossary only with --job: a service has the glossaries; --terms reads a file")
	case f.asJob && f.documents() && f.termFile != "":
		return usagef("translate takes no --terms for documents that a service translates: store them there by dragoman glossaries, and use --glossary")
	case !f.asJob && f.service.url+f.service.key != "":
		return usagef("translate takes --url and --key only with --job: without it, a model translates here")
	case !f.documents() && (f.output.force || len(f.columns) > 0 || f.header != "" || f.wrapped != "" || len(f.also) > 0 || f.output.as != ""):
		return usagef("translate takes --force, --columns, --header, --also, --wrapped and --as only with -o")
	case !document.Header(f.header).Known():
		return usagef("translate: --header %q: use auto, keep or translate", f.header)
	case !document.Also(f.also).Known():
		return usagef("translate: --also %q: use alt, headers, as-source, fuzzy with commas between", strings.Join(f.also, ","))
	case !wrap.Mode(f.wrapped).Known():
		return usagef("translate: --wrapped %q: use auto, on or off", f.wrapped)
	case f.output.as != "" && kinds.Named("pdf-"+f.output.as) == nil:
		return usagef("translate: --as %q: use html or txt", f.output.as)
	case f.documents() && (f.alternatives != 0 || f.json || len(f.lines) > 0):
		return usagef("translate takes --alternatives, --json and --file for texts, not with -o")
	}
	for name, value := range map[string]int{"beams": f.beams, "alternatives": f.alternatives} {
		if f.set.Changed(name) && value < 1 {
			return usagef("translate: --%s %d: use 1 or more", name, value)
		}
	}
	if err := f.checkFormat(); err != nil {
		return err
	}
	var err error
	if f.terms, err = readTerms(f.termFile); err != nil {
		return usagef("--terms: %w", err)
	}
	if !f.documents() {
		return missingOutput(texts)
	}
	return nil
}

// checkFormat returns an error for an unknown format.
func (f *translateFlags) checkFormat() error {
	known := []string{string(translate.Text), string(translate.HTML), string(translate.XML)}
	if f.documents() {
		known = nil
		for _, e := range append(kinds.Extensions(), libreoffice.Extensions()...) {
			known = append(known, strings.TrimPrefix(e, "."))
		}
	}
	if f.format = strings.TrimPrefix(f.format, "."); f.format != "" && !slices.Contains(known, f.format) {
		return usagef("translate: --format %q: use one of %s", f.format, strings.Join(known, ", "))
	}
	return nil
}

// bound returns an error if the flags exceed the configured limits of a local model.
func (f *translateFlags) bound(cfg config.Config) error {
	most := max(cfg.MaxBeams, cfg.Beams)
	for name, value := range map[string]int{"beams": f.beams, "alternatives": f.alternatives} {
		if value > most {
			return usagef("translate: --%s %d: use 1 to %d, or raise MAX_BEAMS", name, value, most)
		}
	}
	return nil
}

// options returns the options sent to a service.
func (f *translateFlags) options() *client.Options {
	if f.beams == 0 {
		return nil
	}
	return &client.Options{Beams: f.beams}
}

// missingOutput returns an error if a text is the name of a document: -o is missing, or the document.
func missingOutput(texts []string) error {
	for _, text := range texts {
		d, err := openDocument(text, "", nil, nil)
		switch {
		case err == nil:
			d.close()
			return usagef("%s is a document: name a file for its translation by -o", text)
		case isDocumentName(text):
			return usagef("%s is the name of a document (%w): as a text it can be translated from standard input", text, err)
		}
	}
	return nil
}

// isDocumentName reports whether a text is one word that ends as the names of documents do.
func isDocumentName(text string) bool {
	return !strings.ContainsFunc(text, unicode.IsSpace) && slices.ContainsFunc(kinds.Extensions(), func(e string) bool {
		return len(text) > len(e) && strings.HasSuffix(strings.ToLower(text), e)
	})
}
