// Command random_checkpoint writes a checkpoint of random weights, for tests and benchmarks of shapes that are too large to
// download:
//
//	go run ./scripts/random_checkpoint --out DIR --shape 418M
//	go run ./scripts/random_checkpoint --out DIR --config config.json --dtype f16 --seed 7
//
// The folder has config.json, generation_config.json and model.safetensors, but no vocabulary. The same seed gives the same file,
// with any number of cores.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dragoman/model"
	"dragoman/model/checkpoint/safetensorstest"
	"dragoman/model/family"
)

func main() {
	err := run(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "random_checkpoint:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	out    string
	shape  string // a key of shapes
	config string // a config.json, instead of shape
	dtype  string
	seed   uint64
}

// parse reads the command line.
func parse(args []string, log io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("random_checkpoint", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&o.out, "out", "", "folder to write to (required)")
	f.StringVar(&o.shape, "shape", "418M", "sizes: "+strings.Join(shapeNames(), ", "))
	f.StringVar(&o.config, "config", "", "config.json to take the sizes from, instead of -shape")
	dtype := f.String("dtype", "f32", "element type: f32 or f16")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the random weights")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.dtype = strings.ToUpper(*dtype)
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.out == "":
		return o, errors.New("--out is missing: name the folder to write to")
	case o.dtype != safetensorstest.F32 && o.dtype != safetensorstest.F16:
		return o, fmt.Errorf("--dtype is %q: use f32 or f16", *dtype)
	}
	return o, nil
}

// run writes the checkpoint of the command line.
func run(args []string, log io.Writer) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := writeConfig(o); err != nil {
		return err
	}
	spec, network, err := family.ReadConfig(o.out)
	if err != nil {
		return err
	}
	path := filepath.Join(o.out, model.SafetensorsFile)
	if err := writeWeights(path, randomTensors(network, spec, o.dtype, o.seed)); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: %.1f MB of %s in %.1f s\n", path, float64(info.Size())/1e6, o.dtype, time.Since(start).Seconds())
	return nil
}

// writeConfig creates the folder and writes the two configuration files.
func writeConfig(o options) error {
	config, generation, err := configs(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, model.ConfigFile), config, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.out, model.GenerationConfigFile), []byte(generation), 0o644)
}

// writeWeights writes the tensors to a temporary file and renames it to path, so that an interrupted run leaves no file that
// looks complete.
func writeWeights(path string, tensors []safetensorstest.Tensor) (err error) {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(safetensorstest.Write(f, tensors), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
