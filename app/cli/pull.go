package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"dragoman/app/config"
	"dragoman/model/repository"
	"dragoman/model/source"
)

// Repository is the folder and the name under which a pulled model becomes a version; the zero value is no repository.
type Repository struct {
	Dir, Name string
	Server    string // URL#MODEL of a language model behind a server, which is not exported; "": the model of MODEL_WEIGHTS
}

// pull returns the command that prepares the folders of models.
func (p *Program) pull() *cobra.Command {
	var revision, out, precision string
	var list bool
	var into Repository
	cmd := &cobra.Command{
		Use: "pull [MODEL...]", Short: "Fetch and export models",
		Long: `Fetches a model and exports it for serve. The model is a Hugging Face repository
(owner/name) or a folder in it (owner/name/folder), an http(s) URL, a folder or an Argos package (.argosmodel); the
default is MODEL_WEIGHTS. firefox followed by pairs of languages, such as en-de de-en, are Firefox's own models (FIREFOX_MODELS
names another index than Mozilla's). openai:URL#MODEL, such as openai:http://127.0.0.1:8080/v1#hy-mt, is a language model behind
an OpenAI-compatible server, and becomes a config.yaml in the repository. Prints the exported folder. Does nothing if the folder has the model already.

With --repository or --name, or for several models, each becomes the next version of its name in a
model repository, and NAME:VERSION is printed before the folder. The default name comes from the
source: opus-mt-en-fr for Helsinki-NLP/opus-mt-en-fr. Does nothing if the newest version is the
same model already: of the same revision and precision, and undamaged. If one model fails, the
others are pulled all the same.`,
		Args: func(cmd *cobra.Command, models []string) error {
			if list {
				for _, name := range []string{"revision", "out", "precision", "repository", "name"} {
					if cmd.Flags().Changed(name) {
						return usagef("pull --list takes no --%s: it only lists", name)
					}
				}
				return nil
			}
			if len(models) == 1 && models[0] == "firefox" {
				if info, err := os.Stat("firefox"); err != nil || !info.IsDir() {
					return usagef("pull firefox needs pairs of languages, such as: pull firefox en-de")
				}
			}
			several := len(named(models)) > 1
			switch {
			case several && (into.Name != "" || out != ""):
				return usagef("pull takes --name and --out with one model, got %q", models)
			case several && revision != "":
				return usagef("pull takes --revision with one model: write owner/name@revision for each of %q", models)
			case out != "" && (into != Repository{}):
				return usagef("pull takes --out, or --name and a repository, not both")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, models []string) error {
			if list {
				return p.listAvailable(cmd.Context(), models)
			}
			return p.runPull(cmd.Context(), map[string]string{
				"MODEL_REVISION": revision, "SAVE_WEIGHTS": out, "PRECISION": precision,
			}, models, into)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&revision, "revision", "", "branch, tag or commit (MODEL_REVISION)")
	flags.StringVar(&out, "out", "", "folder for the exported model (SAVE_WEIGHTS)")
	flags.StringVar(&precision, "precision", "", "auto, int8, fp32 or fp16 (PRECISION)")
	flags.BoolVar(&list, "list", false, "list the models that can be pulled; arguments are words that describe them, such as french, en-fr or mit")
	flags.StringVar(&into.Dir, "repository", "", "model repository to add it to (first folder of MODEL_REPOSITORY)")
	flags.StringVar(&into.Name, "name", "", "name of the model in the repository")
	return cmd
}

func (p *Program) runPull(ctx context.Context, environ map[string]string, models []string, into Repository) error {
	for _, m := range models {
		if _, err := os.Stat(m); err != nil && pairOfLanguages.MatchString(m) && models[0] != "firefox" {
			return p.choosePair(ctx, strings.ToLower(m))
		}
	}
	pulls, err := planPulls(p.Environ, environ, p.Stderr, models, into)
	if err != nil {
		return err
	}
	failed := 0
	for _, one := range pulls {
		made, err := p.PullModel(ctx, one.cfg, one.log, one.into)
		if err == nil {
			_, err = fmt.Fprintln(p.Stdout, made)
		}
		if len(pulls) == 1 || ctx.Err() != nil && err != nil {
			return err
		}
		if err != nil {
			fmt.Fprintf(p.Stderr, "dragoman: %s: %s\n", one.source, OneLine(err))
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d models were not pulled: see above; what was downloaded is kept, pull them again", failed, len(pulls))
	}
	return nil
}

// onePull is the pull of one of several models.
type onePull struct {
	cfg    config.Config
	log    *slog.Logger
	source string // the model without secrets, for logs
	into   Repository
}

// planPulls determines the name of each model before any download.
func planPulls(environ []string, settings map[string]string, stderr io.Writer, models []string, into Repository) (pulls []onePull, err error) {
	models = named(models)
	toRepository := into != Repository{} || len(models) > 1
	if len(models) == 0 {
		models = []string{""} // the model of MODEL_WEIGHTS
	}
	sources := map[string]string{} // by name
	for _, m := range models {
		settings["MODEL_WEIGHTS"] = m
		server, isServer := strings.CutPrefix(m, source.ServerPrefix)
		if isServer {
			settings["MODEL_WEIGHTS"] = ""
		}
		cfg, log, err := Configure(override(environ, settings), stderr)
		if err != nil {
			return nil, err
		}
		one := onePull{cfg: cfg, log: log, source: m, into: into}
		if isServer {
			one.into.Server, one.source = server, source.ServerPrefix+"…"
			if one.into.Dir == "" && len(cfg.Repositories) == 0 {
				return nil, usagef("pull %s… needs a repository: add --repository DIR, or set MODEL_REPOSITORY", source.ServerPrefix)
			} else if one.into.Dir == "" {
				one.into.Dir = cfg.Repositories[0]
			}
			pulls = append(pulls, one)
			continue
		}
		var ref source.Ref
		if cfg.Weights != "" {
			if ref, err = source.ParseRef(cfg.Weights, cfg.Revision); err != nil {
				return nil, &UsageError{err}
			}
			if strings.Contains(m, "://") { // a URL may have a password or a token
				one.source = ref.String()
			}
		}
		if toRepository {
			if one.into, err = inRepository(into, cfg, ref); err != nil {
				return nil, err
			}
			if other, taken := sources[one.into.Name]; taken {
				return nil, usagef("%q and %q would both be called %s: pull one of them with --name", other, one.source, one.into.Name)
			}
			sources[one.into.Name] = one.source
		}
		pulls = append(pulls, one)
	}
	return pulls, nil
}

// named returns the models of the arguments: if the first of several is firefox, Firefox's models for the other arguments, which
// are pairs of languages.
func named(arguments []string) []string {
	if len(arguments) < 2 || arguments[0] != "firefox" {
		return arguments
	}
	models := make([]string, 0, len(arguments)-1)
	for _, pair := range arguments[1:] {
		models = append(models, "firefox:"+pair)
	}
	return models
}

// inRepository returns the repository and the name for the model that cfg names; ref is that model, parsed.
func inRepository(into Repository, cfg config.Config, ref source.Ref) (Repository, error) {
	if into.Dir == "" && len(cfg.Repositories) > 0 {
		into.Dir = cfg.Repositories[0]
	}
	if into.Dir == "" {
		return into, usagef("pull of several models, or with --name, needs a repository: add --repository DIR, or set MODEL_REPOSITORY")
	}
	if into.Name != "" {
		return into, nil
	}
	if cfg.Weights != "" {
		into.Name = repository.NameFor(ref.Name())
	}
	if into.Name == "" {
		return into, usagef("pull --repository needs the model's name there: add --name NAME")
	}
	return into, nil
}
