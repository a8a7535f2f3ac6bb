package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Repository is where a pulled model becomes a version of a name; the zero one is no repository.
type Repository struct{ Dir, Name string }

// pull makes the command that prepares the folder of a model.
func (p *Program) pull() *cobra.Command {
	var revision, out, precision string
	var into Repository
	cmd := &cobra.Command{
		Use: "pull [MODEL]", Short: "Fetch and export a model",
		Long: `Fetches a model and exports it, so that serve finds it ready. The model is a Hugging Face repository
(owner/name), an http(s) URL or a folder; without one, MODEL_WEIGHTS names it. Prints the exported
folder. Does nothing where that holds the model already.

With --name the model becomes the next version of that name in a repository of models, and
NAME:VERSION is printed before the folder. Does nothing where the newest version is the same
model already: of the same revision and precision, and undamaged.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef("pull takes one model, got %q", args)
			case into.Dir != "" && into.Name == "":
				return usagef("pull --repository needs the model's name there: add --name NAME")
			case into.Name != "" && out != "":
				return usagef("pull takes --out, or --name and a repository, not both")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.runPull(cmd.Context(), map[string]string{
				"MODEL_WEIGHTS": strings.Join(args, ""), "MODEL_REVISION": revision, "SAVE_WEIGHTS": out, "PRECISION": precision,
			}, into)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&revision, "revision", "", "branch, tag or commit (MODEL_REVISION)")
	flags.StringVar(&out, "out", "", "folder for the exported model (SAVE_WEIGHTS)")
	flags.StringVar(&precision, "precision", "", "auto, int8, fp32 or fp16 (PRECISION)")
	flags.StringVar(&into.Dir, "repository", "", "repository of models to add it to (MODEL_REPOSITORY, the first folder)")
	flags.StringVar(&into.Name, "name", "", "name of the model in the repository")
	return cmd
}

func (p *Program) runPull(ctx context.Context, environ map[string]string, into Repository) error {
	cfg, log, err := Configure(override(p.Environ, environ), p.Stderr)
	if err != nil {
		return err
	}
	if into.Name != "" && into.Dir == "" && len(cfg.Repositories) > 0 {
		into.Dir = cfg.Repositories[0]
	}
	if into.Name != "" && into.Dir == "" {
		return usagef("pull --name needs a repository: add --repository DIR, or set MODEL_REPOSITORY")
	}
	made, err := p.PullModel(ctx, cfg, log, into)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, made)
	return err
}
