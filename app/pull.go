package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"dragoman/app/config"
	"dragoman/model"
)

const pullUsage = `dragoman pull [model]

Fetches a model and exports it, so that serve finds it ready. The model is a Hugging Face repository (owner/name), an http(s) URL or a folder; without one,
MODEL_WEIGHTS names it. Prints the exported folder. Does nothing where that holds
the model already.

With --name the model becomes the next version of that name in a repository of models, and
NAME:VERSION is printed before the folder. Does nothing where the newest version is the same
model already: of the same revision and precision, and undamaged.`

// pull prepares the folder of a model.
func (p *program) pull(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("pull", pflag.ContinueOnError)
	revision := flags.String("revision", "", "branch, tag or commit (MODEL_REVISION)")
	out := flags.String("out", "", "folder for the exported model (SAVE_WEIGHTS)")
	precision := flags.String("precision", "", "auto, int8, fp32 or fp16 (PRECISION)")
	dir := flags.String("repository", "", "repository of models to add it to (MODEL_REPOSITORY, the first folder)")
	name := flags.String("name", "", "name of the model in the repository")
	rest, err := p.parse(flags, args, pullUsage)
	switch {
	case err != nil:
		return err
	case len(rest) > 1:
		return &usageError{fmt.Errorf("pull takes one model, got %q", rest)}
	case *dir != "" && *name == "":
		return &usageError{errors.New("pull --repository needs the model's name there: add --name NAME")}
	case *name != "" && *out != "":
		return &usageError{errors.New("pull takes --out, or --name and a repository, not both")}
	}
	cfg, log, err := configure(override(p.environ, map[string]string{
		"MODEL_WEIGHTS": strings.Join(rest, ""), "MODEL_REVISION": *revision, "SAVE_WEIGHTS": *out, "PRECISION": *precision,
	}), p.stderr)
	if err != nil {
		return err
	}
	l := p.loader(cfg, log)
	needed, err := l.pullPrecision()
	if err != nil {
		return err
	}
	if *name != "" {
		return p.pullVersion(ctx, &addition{loader: l, precision: needed, name: *name}, *dir)
	}
	exported, err := l.prepare(ctx, needed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, exported)
	return err
}

// pullPrecision is the precision for where serve is going to run the model, where
// PRECISION does not say: with DEVICE=cuda the GPU need not be in this machine.
func (l *loader) pullPrecision() (model.Precision, error) {
	if l.cfg.Device == config.CUDA {
		return model.FP16, nil
	}
	if !l.cfg.UseGPUs() {
		return "", nil
	}
	library, err := findLibrary(l.cfg.Library, libraryFolders())
	if err != nil {
		return "", nil // nor can it be told whether there are GPUs
	}
	g, err := l.openGPUs(library)
	if err != nil {
		l.log.Info("the model is exported for the CPU", "no_gpu", oneLine(err))
		return "", nil
	}
	return g.precision(), g.close()
}
