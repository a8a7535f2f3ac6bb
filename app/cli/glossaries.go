package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dragoman/app/client"
)

// termFlags are the flags of the subcommands of glossaries.
type termFlags struct {
	name, id, from, to string
	csv                bool
}

func (p *Program) glossaries() *cobra.Command {
	cmd := &cobra.Command{
		Use: "glossaries", Short: "List, make or delete glossaries of a running service",
		Long: `Glossaries of a running service: terms and their translations. Without a command, lists the
glossaries that the caller may see.`,
	}
	service := serviceCommands(p, cmd, (*client.Client).Glossaries, "ID\tNAME\tFROM\tTO\tTERMS\tCHANGED", listGlossary)
	cmd.AddCommand(addGlossary(service), showGlossary(service), &cobra.Command{
		Use: "rm ID", Short: "Delete a glossary", Args: oneArgument("the id of a glossary"),
		RunE: service.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return c.DeleteGlossary(ctx, args[0])
		}),
	})
	return cmd
}

// addGlossary returns the command that stores the terms of a file.
func addGlossary(service *remote) *cobra.Command {
	var t termFlags
	cmd := &cobra.Command{
		Use: "add FILE", Short: "Make a glossary from a file, or replace terms of one",
		Long: `Makes a glossary from the terms in a file; - is standard input. With --id, the terms replace those of
a glossary for their languages. Each line of the file is a term: source, tab, target, or CSV if the
file is called *.csv. A term without a target is never translated. Prints the id.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usagef("glossaries add takes one file, got %q", args)
			case t.from == "" || t.to == "":
				return usagef("glossaries add needs --from and --to, such as -f en -t fr")
			case t.id != "" && t.name != "":
				return usagef("glossaries add takes --id or --name, not both")
			case t.id == "" && t.name == "" && args[0] == "-":
				return usagef("glossaries add needs --name where the terms come from standard input")
			}
			return nil
		},
		RunE: service.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return t.add(ctx, c, args[0], service.Stdin, service.Stdout)
		}),
	}
	t.define(cmd.Flags())
	cmd.Flags().StringVar(&t.name, "name", "", "name of a new glossary (the name of the file)")
	cmd.Flags().StringVar(&t.id, "id", "", "glossary whose terms for the languages are replaced")
	return cmd
}

// showGlossary returns the command that prints terms.
func showGlossary(service *remote) *cobra.Command {
	var t termFlags
	cmd := &cobra.Command{
		Use: "show ID", Short: "Print the terms of a glossary", Args: oneArgument("the id of a glossary"),
		RunE: service.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return t.show(ctx, c, args[0], service.Stdout)
		}),
	}
	t.define(cmd.Flags())
	return cmd
}

func (t *termFlags) define(flags *pflag.FlagSet) {
	defineLanguages(flags, &t.from, &t.to, nil)
	flags.BoolVar(&t.csv, "csv", false, "read CSV, whatever the name of the file")
}

// listGlossary writes a row for each dictionary of a glossary.
func listGlossary(w io.Writer, g client.Glossary) {
	if len(g.Dictionaries) == 0 {
		fmt.Fprintf(w, "%s\t%s\t\t\t0\t%s\n", g.ID, g.Name, moment(g.Changed))
	}
	for _, d := range g.Dictionaries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", g.ID, g.Name, d.From, d.To, d.Terms, moment(g.Changed))
	}
}

// add creates a glossary from a file, or adds the file to an existing glossary, and prints the id.
func (t *termFlags) add(ctx context.Context, c *client.Client, path string, in io.Reader, out io.Writer) error {
	terms := client.Terms{From: t.from, To: t.to, Format: client.TSV}
	base, extension := filepath.Base(path), filepath.Ext(path)
	if t.csv || strings.EqualFold(extension, ".csv") {
		terms.Format = client.CSV
	}
	var err error
	if path == "-" {
		terms.Text, err = io.ReadAll(in)
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
	_, err = fmt.Fprintln(out, g.ID)
	return err
}

// show prints the terms of a dictionary.
func (t *termFlags) show(ctx context.Context, c *client.Client, id string, out io.Writer) error {
	format := client.TSV
	if t.csv {
		format = client.CSV
	}
	terms, err := c.GlossaryTerms(ctx, id, t.from, t.to, format)
	if err != nil {
		return err
	}
	_, err = out.Write(terms.Text)
	return err
}
