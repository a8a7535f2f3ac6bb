package cli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dragoman/app/config"
)

// helpWidth is the width of help in columns.
const helpWidth = 80

// setHelp makes the help of a command and of those below it fit a screen; the program's own help is a list of commands.
func (p *Program) setHelp(root *cobra.Command) {
	usage, usual := root.UsageFunc(), root.HelpFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		var text strings.Builder
		out := cmd.OutOrStderr()
		cmd.SetOut(&text)
		err := usage(cmd)
		cmd.SetOut(out)
		_, wrote := io.WriteString(out, wrapFlags(text.String(), cmd.LocalFlags(), cmd.InheritedFlags()))
		return errors.Join(err, wrote)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			usual(cmd, args)
			return
		}
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "%s\n\nUsage: dragoman [COMMAND]; without a command it serves HTTP\n\nCommands:\n", root.Long)
		for _, c := range root.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(out, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
		fmt.Fprint(out, "\ndragoman help COMMAND explains a command, dragoman help config the environment\nvariables; dragoman man is a manual page.\n")
	})
	environment := &cobra.Command{Use: "config", Short: "Environment variables"}
	environment.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprint(cmd.OutOrStdout(), variables()) })
	root.AddCommand(
		environment,
		&cobra.Command{Use: "man", Short: "Print the manual page", Hidden: true, Args: noArguments,
			Long: "Prints the manual page: dragoman man | man -l -",
			RunE: func(*cobra.Command, []string) error { return p.manual(root, p.Stdout) }},
	)
	for _, c := range root.Commands() {
		if c.Name() != "completion" { // it is cobra's
			reflow(c)
		}
	}
}

// wrapFlags returns the text of a command's usage with its descriptions of flags in lines of helpWidth columns.
func wrapFlags(usage string, sets ...*pflag.FlagSet) string {
	for _, flags := range sets {
		if long := strings.TrimSpace(flags.FlagUsages()); long != "" {
			usage = strings.Replace(usage, long, strings.TrimSpace(flags.FlagUsagesWrapped(helpWidth)), 1)
		}
	}
	return usage
}

// reflow wraps the paragraphs of the descriptions of a command and of those below it.
func reflow(cmd *cobra.Command) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, one := range paragraphs {
		if one != "" && !strings.Contains("\n"+one, "\n ") { // an indented line is an example
			paragraphs[i] = strings.TrimSuffix(wrapped(one, ""), "\n")
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	for _, below := range cmd.Commands() {
		reflow(below)
	}
}

// variables returns a table of the environment variables.
func variables() string {
	var text strings.Builder
	text.WriteString("dragoman config: environment variables of all commands, with their defaults.\n\n")
	for _, v := range config.Variables() {
		fmt.Fprintf(&text, "%s\n%s", strings.TrimRight(fmt.Sprintf("%-20s %s", v.Name, v.Default), " "), wrapped(plain(v.Help), "    "))
	}
	return text.String() + "\n" + wrapped(telemetryHelp, "")
}

const telemetryHelp = "Traces go to OTEL_EXPORTER_OTLP_ENDPOINT, if it is set. The other variables of OpenTelemetry's SDK (OTEL_SERVICE_NAME, " +
	"OTEL_TRACES_SAMPLER, ...) apply, too."

var markdownLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// plain returns a text of the documentation without its Markdown.
func plain(text string) string {
	return strings.ReplaceAll(markdownLink.ReplaceAllString(text, "$1"), "`", "")
}

// wrapped returns a paragraph in lines of helpWidth columns with an indent, as far as its words allow.
func wrapped(text, indent string) string {
	var lines strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && len(line)+1+len(word) > helpWidth {
			lines.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return lines.String() + line + "\n"
}

// manual writes the manual page, in the language of man(7).
func (p *Program) manual(root *cobra.Command, to io.Writer) error {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH DRAGOMAN 1 \"\" \"dragoman %s\"\n.SH NAME\ndragoman \\- %s\n.SH SYNOPSIS\n.B dragoman\n[\\fICOMMAND\\fR] [\\fIflags\\fR]\n", roff(p.Version), roff(root.Short))
	fmt.Fprintf(&page, ".SH DESCRIPTION\n%s\nWithout a command it serves HTTP.\n.SH COMMANDS\n", roff(root.Long))
	var describe func(*cobra.Command)
	describe = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if !c.IsAvailableCommand() || c.Name() == "help" || cmd.Name() == "completion" {
				continue
			}
			fmt.Fprintf(&page, ".SS \"%s\"\n%s\n", roff(c.UseLine()), roff(strings.ReplaceAll(strings.TrimSpace(c.Long+"\n"), "\n\n", "\n.PP\n")))
			if c.Long == "" {
				page.WriteString(roff(c.Short) + ".\n")
			}
			if c.Example != "" {
				fmt.Fprintf(&page, ".PP\n.nf\n%s\n.fi\n", roff(c.Example))
			}
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				name, usage := pflag.UnquoteUsage(f)
				short := ""
				if f.Shorthand != "" {
					short = "-" + f.Shorthand + ", "
				}
				fmt.Fprintf(&page, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(short+"--"+f.Name), roff(name), roff(usage))
			})
			describe(c)
		}
	}
	describe(root)
	page.WriteString(".SH ENVIRONMENT\n")
	for _, v := range config.Variables() {
		fmt.Fprintf(&page, ".TP\n\\fB%s\\fR %s\n%s\n", roff(v.Name), roff(v.Default), roff(plain(v.Help)))
	}
	fmt.Fprintf(&page, ".PP\n%s\n.SH EXIT STATUS\n%s\n", roff(telemetryHelp), roff("0: success. 1: an error. 2: an invalid command line or configuration. "+
		"3: some lines or documents were not translated. 128 and the signal's number: a signal."))
	_, err := io.WriteString(to, page.String())
	return err
}

// roff returns a text whose characters have no meaning to man, but for a line .PP.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != ".PP" && (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
