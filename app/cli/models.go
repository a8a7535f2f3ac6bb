package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"dragoman/app/config"
	"dragoman/model"
	"dragoman/model/repository"
)

// models returns the command that lists the models of repositories.
func (p *Program) models() *cobra.Command {
	var dirs []string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "models", Short: "List the models of a repository, or of the cache", Args: noArguments,
		Long: `Lists the models of a repository, their versions and the pipelines. Without a
repository it lists those in the user's cache folder, of MODEL_WEIGHTS and of
serve --models. Faults of the repository go to standard error, a line each.`,
		RunE: func(*cobra.Command, []string) error { return p.listModels(dirs, asJSON) },
	}
	cmd.Flags().StringSliceVar(&dirs, "repository", nil, "model repository; can be repeated (MODEL_REPOSITORY)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *Program) listModels(dirs []string, asJSON bool) error {
	cfg, _, err := Configure(p.Environ, p.Stderr)
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		dirs = cfg.Repositories
	}
	found := repository.Scan(dirs)
	if len(dirs) == 0 {
		found, err = prepared(cfg)
	}
	if err != nil {
		return err
	}
	l := listing(found)
	for _, line := range l.Problems {
		fmt.Fprintln(p.Stderr, line)
	}
	if asJSON {
		err = printJSON(p.Stdout, l)
	} else {
		err = l.print(p.Stdout)
	}
	if err != nil {
		return err
	}
	if found.Err != nil {
		return errors.New("a repository or its configuration cannot be read, so what it holds is not listed: see above")
	}
	return nil
}

// prepared returns the exported models that serve has without a repository: those in the user's cache folder, each named like its
// folder, that of SAVE_WEIGHTS or of the exported folder MODEL_WEIGHTS, and those that AUTO_PULL has fetched.
func prepared(cfg config.Config) (all repository.Snapshot, err error) {
	dirs := []string{cfg.SaveWeights, cfg.Weights}
	if cache, err := os.UserCacheDir(); err == nil {
		if fetched := config.PulledModels(cache); isFolder(fetched) {
			all = repository.Scan([]string{fetched})
		}
		found, _ := filepath.Glob(filepath.Join(cache, "dragoman", "*")) // fails only on a bad pattern
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, model.ManifestFile)); dir == "" || err != nil {
			continue
		}
		one, err := repository.Single(filepath.Base(dir), dir)
		if err != nil {
			all.Problems = append(all.Problems, repository.Problem{Path: dir, Text: err.Error()})
			continue
		}
		v := &one.Models[0].Versions[0]
		for _, file := range v.Manifest.Files {
			v.Bytes += file.Size
		}
		all.Models, all.Order = append(all.Models, one.Models...), append(all.Order, one.Order...)
	}
	if len(all.Models)+len(all.Problems) == 0 {
		return all, errors.New("there are no models yet: serve has the bundled one; dragoman pull fetches others, and --repository DIR names a repository")
	}
	return all, nil
}

// printJSON prints a value as indented JSON.
func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// modelList is the output of `dragoman models --json`.
type modelList struct {
	Models    []listedModel    `json:"models"`
	Pipelines []listedPipeline `json:"pipelines"`
	Order     []string         `json:"order"`
	Pivots    []string         `json:"pivots"`
	Problems  []string         `json:"problems"`
}

type listedModel struct {
	Name     string          `json:"name"`
	Folder   string          `json:"folder"`
	Aliases  []string        `json:"aliases,omitempty"`
	Error    string          `json:"error,omitempty"`
	Versions []listedVersion `json:"versions"`
}

type listedVersion struct {
	Version   int             `json:"version"`
	State     string          `json:"state"` // served, not served or broken
	Error     string          `json:"error,omitempty"`
	Family    string          `json:"family,omitempty"`
	Precision model.Precision `json:"precision,omitempty"`
	Languages []string        `json:"languages,omitempty"`
	License   string          `json:"license,omitempty"`
	Bytes     int64           `json:"bytes,omitempty"`
	Source    string          `json:"source,omitempty"`
	Revision  string          `json:"revision,omitempty"`
	Identity  string          `json:"identity,omitempty"`
}

type listedPipeline struct {
	Name    string       `json:"name"`
	Version int          `json:"version"`
	State   string       `json:"state"` // served or broken
	Error   string       `json:"error,omitempty"`
	Steps   []listedStep `json:"steps"`
}

type listedStep struct {
	Detect bool   `json:"detect,omitempty"`
	Model  string `json:"model,omitempty"`
	To     string `json:"to,omitempty"`
}

// listing converts a snapshot to the output.
func listing(s repository.Snapshot) modelList {
	l := modelList{Models: []listedModel{}, Pipelines: []listedPipeline{}, Order: s.Order, Pivots: s.Pivots, Problems: []string{}}
	for _, m := range s.Models {
		listed := listedModel{Name: m.Name, Folder: m.Dir, Aliases: m.Aliases, Error: errorLine(m.Err), Versions: []listedVersion{}}
		for _, v := range m.Versions {
			listed.Versions = append(listed.Versions, listVersion(v, m.Err))
		}
		l.Models = append(l.Models, listed)
	}
	for _, p := range s.Pipelines {
		listed := listedPipeline{Name: p.Name, Version: p.Version, State: state(p.Err == nil, p.Err)}
		if p.Err != nil {
			listed.Error = p.Origin + ": " + OneLine(p.Err)
		}
		for _, step := range p.Steps {
			listed.Steps = append(listed.Steps, listedStep{step.Detect, step.Model.String(), step.To})
		}
		l.Pipelines = append(l.Pipelines, listed)
	}
	for _, problem := range s.Problems {
		l.Problems = append(l.Problems, strings.Join(strings.Fields(problem.String()), " "))
	}
	return l
}

// listVersion converts a version to the output. config is the error of the model's configuration.
func listVersion(v repository.Version, config error) listedVersion {
	err := errors.Join(config, v.Err)
	listed := listedVersion{Version: v.Number, State: state(v.Served, err), Error: errorLine(err), Bytes: v.Bytes, Identity: v.Identity}
	if m := v.Manifest; m != nil {
		listed.Precision, listed.Languages, listed.Source, listed.Revision = m.Precision, m.Languages, m.Source, m.Revision
		listed.Family, listed.License = m.Family, m.License
	}
	return listed
}

func state(served bool, err error) string {
	switch {
	case err != nil:
		return "broken"
	case served:
		return "served"
	}
	return "not served"
}

func errorLine(err error) string {
	if err == nil {
		return ""
	}
	return OneLine(err)
}

func (l modelList) print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tFAMILY\tPRECISION\tLANGUAGES\tLICENSE\tSIZE\tALIASES\tSTATE")
	for _, m := range l.Models {
		aliases := strings.Join(m.Aliases, " ")
		for _, v := range m.Versions {
			fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", m.Name, v.Version, v.Family, v.Precision, len(v.Languages), v.License,
				humanize.Bytes(uint64(v.Bytes)), aliases, described(v.State, v.Error))
		}
		if len(m.Versions) == 0 {
			fmt.Fprintf(w, "%s\t\t\t\t\t\t\t%s\t%s\n", m.Name, aliases, described("no version", m.Error))
		}
	}
	if len(l.Pipelines) > 0 {
		fmt.Fprintln(w, "\nPIPELINE\tVERSION\tSTEPS\tSTATE")
	}
	for _, p := range l.Pipelines {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", p.Name, p.Version, steps(p.Steps), described(p.State, p.Error))
	}
	return w.Flush()
}

func described(state, err string) string {
	if err == "" {
		return state
	}
	return state + ": " + err
}

// steps returns a pipeline in one line, such as `detect, m2m100 to en, small:2`.
func steps(list []listedStep) string {
	var words []string
	for _, s := range list {
		switch {
		case s.Detect:
			words = append(words, "detect")
		case s.To != "":
			words = append(words, s.Model+" to "+s.To)
		default:
			words = append(words, s.Model)
		}
	}
	return strings.Join(words, ", ")
}
