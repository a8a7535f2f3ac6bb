package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"dragoman/app/config"
	"dragoman/app/text/language"
	"dragoman/model/source"
)

// pairOfLanguages matches what people write for a model of a pair.
var pairOfLanguages = regexp.MustCompile(`^[A-Za-z]{2,3}-[A-Za-z]{2,3}$`)

// Sources returns the settings for access to the sources of models.
func Sources(cfg config.Config, log *slog.Logger) source.Config {
	return source.Config{Endpoint: cfg.Endpoint, Token: cfg.Token, Offline: bool(cfg.Offline), Index: cfg.ModelIndex, Log: log}
}

// available returns the models that can be pulled and that all words describe. The error is of the sources that do not answer.
func available(ctx context.Context, cfg config.Config, log *slog.Logger, words ...string) ([]source.Available, error) {
	client, err := source.New(Sources(cfg, log))
	if err != nil {
		return nil, &UsageError{err}
	}
	list, errs := source.Large(), []error(nil)
	for _, name := range []string{source.Firefox, source.Opus} {
		found, err := client.Available(ctx, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("the models of %s are not known: %w", name, err))
		}
		list = append(list, found...)
	}
	return slices.DeleteFunc(list, func(m source.Available) bool {
		return slices.ContainsFunc(words, func(word string) bool { return !describes(word, m) })
	}), errors.Join(errs...)
}

// describes reports whether a word is a part of a model's name, its license, one of its languages or its pair of languages.
func describes(word string, m source.Available) bool {
	word = strings.ToLower(word)
	code, isLanguage := language.Named(word)
	if _, ok := language.NameOf(word); ok {
		code, isLanguage = word, true
	}
	pair := pairOfLanguages.MatchString(word) && word == m.From+"-"+m.To
	many := m.From == "" && (isLanguage || pairOfLanguages.MatchString(word))
	return strings.Contains(strings.ToLower(m.Ref), word) || m.License == word || pair || many || isLanguage && (m.From == code || m.To == code)
}

// listAvailable prints the models that can be pulled.
func (p *Program) listAvailable(ctx context.Context, words []string) error {
	cfg, log, err := Configure(warningsOnly(p.Environ), p.Stderr)
	if err != nil {
		return err
	}
	list, unknown := available(ctx, cfg, log, words...)
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tLANGUAGES\tSIZE\tLICENSE")
	for _, m := range list {
		languages := fmt.Sprint(m.Languages)
		if m.From != "" {
			languages = m.From + " to " + m.To
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.Ref, languages, sizeOf(m), m.License)
	}
	return errors.Join(w.Flush(), unknown)
}

func sizeOf(m source.Available) string {
	if m.Bytes == 0 {
		return ""
	}
	return humanize.Bytes(uint64(m.Bytes))
}

// choosePair returns the error for a pair of languages in the place of a model: three models that translate it, those of the pair alone
// first.
func (p *Program) choosePair(ctx context.Context, pair string) error {
	cfg, log, err := Configure(warningsOnly(p.Environ), p.Stderr)
	if err != nil {
		return err
	}
	list, _ := available(ctx, cfg, log, pair) // the list that the error refers to names the sources that do not answer
	slices.SortStableFunc(list, func(a, b source.Available) int { return min(len(b.From), 1) - min(len(a.From), 1) })
	var names []string
	for _, m := range list[:min(len(list), 3)] {
		names = append(names, strings.TrimSuffix(m.Ref+" ("+sizeOf(m)+")", " ()"))
	}
	return usagef("%s is a pair of languages, pull one of its models: %s (see dragoman pull --list %s)", pair, strings.Join(names, ", "), pair)
}
