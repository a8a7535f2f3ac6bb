package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"dragoman/app/config"
	"dragoman/app/document/kinds"
	"dragoman/app/text/language"
	"dragoman/app/translate"
	"dragoman/model/repository"
)

// completions sets what shells offer for the values of flags, in a command and those below it.
func (p *Program) completions(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" { // the command of cobra answers an unknown shell with help, as if it had succeeded
			cmd.Args, cmd.RunE = noArguments, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	values := map[string]func(cmd *cobra.Command) []string{
		"from": func(*cobra.Command) []string {
			return append([]string{translate.Auto + "\tdetected"}, p.languages()...)
		},
		"to":    func(*cobra.Command) []string { return p.languages() },
		"model": func(*cobra.Command) []string { return p.repositories().Order }, // also pipelines
		"format": func(cmd *cobra.Command) []string {
			if output := cmd.Flags().Lookup("output"); output == nil || !output.Changed {
				return []string{string(translate.Text), string(translate.HTML), string(translate.XML)}
			}
			var names []string
			for _, e := range kinds.Extensions() {
				names = append(names, strings.TrimPrefix(e, "."))
			}
			return names
		},
		"precision": fixed("auto", "int8", "fp32", "fp16"), "header": fixed("auto", "keep", "translate"), "wrapped": fixed("auto", "on", "off"),
		"as": fixed("html", "txt"), "also": fixed("alt", "headers", "fuzzy"),
	}
	var define func(cmd *cobra.Command)
	define = func(cmd *cobra.Command) {
		for name, of := range values {
			if cmd.LocalFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
					return of(cmd), cobra.ShellCompDirectiveNoFileComp
				}) // fails only if it is registered twice
			}
		}
		for _, c := range cmd.Commands() {
			define(c)
		}
	}
	define(root)
}

func fixed(names ...string) func(*cobra.Command) []string {
	return func(*cobra.Command) []string { return names }
}

// repositories returns the repositories of the environment; none if it is invalid.
func (p *Program) repositories() repository.Snapshot {
	cfg, err := config.Parse(p.Environ)
	if err != nil {
		return repository.Snapshot{}
	}
	return repository.Scan(cfg.Repositories)
}

// languages returns the codes and names of the languages that the models of the repositories have, or else of all languages.
func (p *Program) languages() (list []string) {
	codes := map[string]bool{}
	for _, m := range p.repositories().Models {
		for _, v := range m.Versions {
			if v.Manifest != nil {
				for _, code := range v.Manifest.Languages {
					codes[code] = true
				}
			}
		}
	}
	for _, code := range language.Codes() {
		if name, _ := language.NameOf(code); len(codes) == 0 || codes[code] {
			list = append(list, code+"\t"+name.English)
		}
	}
	return list
}
