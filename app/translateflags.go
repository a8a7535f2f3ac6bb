package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"dragoman/app/client"
	"dragoman/app/translate"
)

// translateFlags are what the command line says of a translation.
type translateFlags struct {
	from, to, model string
	beams           int
	alternatives    int
	glossary        string
	termFile        string
	terms           []translate.Term // in termFile
	lines           []string         // files of lines
	asJob           bool
	columns         []string
	output          output
	service         remote
	set             *pflag.FlagSet
}

func (f *translateFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.from, "from", "", "language of the texts")
	flags.StringVar(&f.to, "to", "", "language to translate into")
	flags.StringVar(&f.model, "model", "", "model of MODEL_REPOSITORY to translate with, NAME or NAME:VERSION (any that can)")
	flags.IntVar(&f.beams, "beams", 0, "beams of the search (NUM_BEAMS)")
	flags.IntVar(&f.alternatives, "alternatives", 0, "translations of each text to print, the best one included (the best alone)")
	flags.StringArrayVar(&f.lines, "file", nil, "file of lines to translate; can be repeated")
	flags.StringVar(&f.termFile, "terms", "", "file of terms: on each line a term, a tab, and what it becomes; a term alone stays as it is")
	flags.StringVar(&f.glossary, "glossary", "", "with --job: id of a glossary of the service whose terms are used")
	flags.BoolVar(&f.asJob, "job", false, "let a running service translate, as a job")
	flags.StringSliceVar(&f.columns, "columns", nil, "columns of tables that are translated, by name or number, with commas between (all)")
	f.output.define(flags)
	f.service.define(flags)
	f.set = flags
}

// check fails where flags and arguments do not fit together, and reads the file of terms.
func (f *translateFlags) check(texts []string) error {
	usage := func(text string) error { return &usageError{errors.New(text)} }
	documents := f.output.path != ""
	switch {
	case f.from == "" || f.to == "":
		return usage("translate needs --from and --to, such as --from en --to fr")
	case len(texts) > 0 && len(f.lines) > 0:
		return usage("translate takes texts or files, not both")
	case !f.asJob && f.glossary != "":
		return usage("translate takes --glossary only with --job: a service has the glossaries; --terms reads a file")
	case f.asJob && documents && f.termFile != "":
		return usage("translate takes no --terms for documents that a service translates: store them there by dragoman glossaries, and use --glossary")
	case !f.asJob && f.service != remote{}:
		return usage("translate takes --url and --key only with --job: without it, a model translates here")
	case !documents && (f.output.force || len(f.columns) > 0):
		return usage("translate takes --force and --columns only with -o")
	case documents && f.alternatives != 0:
		return usage("translate takes --alternatives for texts, not with -o")
	case documents && len(texts) == 0:
		return usage("-o needs files or folders to translate, such as report.docx -o rapport.docx")
	}
	var err error
	if f.terms, err = readTerms(f.termFile); err != nil {
		return &usageError{fmt.Errorf("--terms: %w", err)}
	}
	if !documents {
		return forgotten(texts)
	}
	return nil
}

// options are those that a service is sent.
func (f *translateFlags) options() *client.Options {
	if f.beams == 0 {
		return nil
	}
	return &client.Options{Beams: f.beams}
}

// forgotten fails where a text is the name of a document that is there: it lacks -o.
func forgotten(texts []string) error {
	for _, text := range texts {
		if in, _, _, err := openDocument(text); err == nil {
			_ = in.Close()
			return &usageError{fmt.Errorf("%s is a document: name a file for its translation by -o", text)}
		}
	}
	return nil
}
