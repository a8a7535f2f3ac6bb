package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"dragoman/app/client"
)

const glossariesUsage = `dragoman glossaries [list | add FILE | show ID | rm ID]

Glossaries of a running service: terms and what they become in another language. list, or nothing,
lists those that its client may see. add makes one of a file's terms, or with --id gives a glossary
these terms for their languages; - is standard input. show prints the terms, and rm deletes a glossary.

A file has a term in each line: source, tab, target, or CSV where it is called *.csv. A term without a
target is never translated.`

// termFlags are what the subcommands of glossaries take.
type termFlags struct {
	name, id, from, to string
	csv                bool
}

// glossaries does what the arguments say with glossaries of a running service.
func (p *program) glossaries(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("glossaries", pflag.ContinueOnError)
	var service remote
	var t termFlags
	flags.StringVar(&t.name, "name", "", "name of a new glossary; empty: that of the file")
	flags.StringVar(&t.id, "id", "", "glossary that terms are added to, in place of those that it has for the languages")
	flags.StringVar(&t.from, "from", "", "language of the terms")
	flags.StringVar(&t.to, "to", "", "language that they are translated into")
	flags.BoolVar(&t.csv, "csv", false, "terms are CSV, whatever the file is called; show prints CSV")
	service.define(flags)
	rest, err := p.parse(flags, args, glossariesUsage)
	if err != nil {
		return err
	}
	do, err := p.glossaryCommand(rest, t)
	if err != nil {
		return &usageError{err}
	}
	c, err := p.client(service)
	if err != nil {
		return err
	}
	defer c.Close()
	return said(do(ctx, c))
}

// glossaryCommand is what arguments mean.
func (p *program) glossaryCommand(args []string, t termFlags) (func(context.Context, *client.Client) error, error) {
	verb := strings.Join(args[:min(1, len(args))], "")
	switch {
	case len(args) == 0, len(args) == 1 && verb == "list":
		return p.listGlossaries, nil
	case len(args) == 2 && verb == "add":
		switch {
		case t.from == "" || t.to == "":
			return nil, errors.New("glossaries add needs --from and --to, such as --from en --to fr")
		case t.id != "" && t.name != "":
			return nil, errors.New("glossaries add takes --id or --name, not both")
		case t.id == "" && t.name == "" && args[1] == "-":
			return nil, errors.New("glossaries add needs --name where the terms come from standard input")
		}
		return func(ctx context.Context, c *client.Client) error { return p.addTerms(ctx, c, args[1], t) }, nil
	case len(args) == 2 && verb == "show":
		return func(ctx context.Context, c *client.Client) error { return p.showTerms(ctx, c, args[1], t) }, nil
	case len(args) == 2 && verb == "rm":
		return func(ctx context.Context, c *client.Client) error { return c.DeleteGlossary(ctx, args[1]) }, nil
	}
	return nil, fmt.Errorf("glossaries takes list, add FILE, show ID or rm ID, got %q", args)
}

// listGlossaries prints a table of glossaries, a line for each dictionary.
func (p *program) listGlossaries(ctx context.Context, c *client.Client) error {
	list, err := c.Glossaries(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tFROM\tTO\tTERMS\tCHANGED")
	for _, g := range list {
		if len(g.Dictionaries) == 0 {
			fmt.Fprintf(w, "%s\t%s\t\t\t0\t%s\n", g.ID, g.Name, moment(g.Changed))
		}
		for _, d := range g.Dictionaries {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", g.ID, g.Name, d.From, d.To, d.Terms, moment(g.Changed))
		}
	}
	return w.Flush()
}

// addTerms makes a glossary of a file, or adds it to one, and prints the id.
func (p *program) addTerms(ctx context.Context, c *client.Client, path string, t termFlags) error {
	terms := client.Terms{From: t.from, To: t.to, Format: client.TSV}
	base, extension := filepath.Base(path), filepath.Ext(path)
	if t.csv || strings.EqualFold(extension, ".csv") {
		terms.Format = client.CSV
	}
	var err error
	if path == "-" {
		terms.Text, err = io.ReadAll(p.stdin)
	} else {
		terms.Text, err = os.ReadFile(path)
	}
	if err != nil {
		return err
	}
	var g client.Glossary
	switch {
	case t.id != "":
		g, err = c.SetTerms(ctx, t.id, terms)
	case t.name != "":
		g, err = c.CreateGlossary(ctx, t.name, terms)
	default:
		g, err = c.CreateGlossary(ctx, strings.TrimSuffix(base, extension), terms)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, g.ID)
	return err
}

// showTerms prints the terms of a dictionary.
func (p *program) showTerms(ctx context.Context, c *client.Client, id string, t termFlags) error {
	format := client.TSV
	if t.csv {
		format = client.CSV
	}
	terms, err := c.GlossaryTerms(ctx, id, t.from, t.to, format)
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(terms.Text)
	return err
}
