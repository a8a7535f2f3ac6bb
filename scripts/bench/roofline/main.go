//go:build linux && (amd64 || arm64)

// Command roofline measures what this machine can do at most, and how close to that the
// model's steps come: see README.md of the folder above.
//
//	go run ./scripts/bench/roofline -models build/bench -library build/onnxruntime/libonnxruntime.so -out docs/benchmarks
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"dragoman/model"
	"dragoman/model/cpu"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "roofline:", err)
		os.Exit(1)
	}
}

// options are those of the command line.
type options struct {
	models, library, out string
	rounds, threads      int
	precisions           []model.Precision
	add                  bool
}

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("roofline", flag.ContinueOnError)
	flags.StringVar(&o.models, "models", "build/bench", "folder of the exported models, int8 and fp32")
	flags.StringVar(&o.library, "library", "build/onnxruntime/libonnxruntime.so", "ONNX Runtime's library")
	flags.StringVar(&o.out, "out", "docs/benchmarks", "folder for what is written")
	flags.IntVar(&o.rounds, "rounds", 5, "rounds; 0: only write the tables again")
	flags.IntVar(&o.threads, "threads", runtime.NumCPU(), "all threads")
	flags.BoolVar(&o.add, "add", false, "keep the samples of earlier calls")
	precisions := flags.String("precisions", "int8 fp32", "precisions to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, p := range strings.Fields(*precisions) {
		o.precisions = append(o.precisions, model.Precision(p))
	}
	file := filepath.Join(o.out, "roofline.json")
	r := newResults()
	if o.add || o.rounds == 0 {
		if err := r.load(file); err != nil {
			return err
		}
	}
	if o.rounds > 0 {
		if err := measure(ctx, o, r, file); err != nil {
			return err
		}
	}
	return report(r, o.out)
}

// measure adds samples to results, and saves them to a file after each side.
func measure(ctx context.Context, o options, r *results, file string) (err error) {
	library, err := cpu.Load(o.library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	r.Octets, r.Floats = instructions()
	for round := range o.rounds {
		for _, precision := range o.precisions {
			for _, threads := range []int{1, o.threads} {
				fmt.Fprintf(os.Stderr, "round %d of %d: %s, threads: %d\n", round+1, o.rounds, precision, threads)
				side := cell{Precision: precision, Threads: threads}
				if err := r.peaks(threads).measure(threads); err != nil {
					return err
				}
				if err := measureSide(ctx, library, o.models, side, r); err != nil {
					return fmt.Errorf("%s, threads %d: %w", precision, threads, err)
				}
				if err := r.save(file); err != nil {
					return err
				}
				if threads == o.threads && o.threads == 1 {
					break
				}
			}
		}
	}
	return nil
}

// measureSide passes once through the cells of a model, and once more with ONNX Runtime's profile.
func measureSide(ctx context.Context, library *cpu.Runtime, models string, side cell, r *results) error {
	for _, beams := range []int{1, 5} {
		side.Beams = beams
		err := open(ctx, library, models, side, "", func(m model.Model) error {
			s := newShape(m, side.Precision)
			return pass(ctx, m, side, func(c cell, taken sample) { r.record(c, s, taken) })
		})
		if err != nil {
			return err
		}
		if err := profile(ctx, library, models, side, r); err != nil {
			return err
		}
	}
	return nil
}

// open opens a model for use.
func open(ctx context.Context, library *cpu.Runtime, models string, side cell, profile string, use func(model.Model) error) error {
	dir := filepath.Join(models, string(side.Precision))
	m, err := library.Open(ctx, dir, cpu.Options{Threads: side.Threads, Profile: profile})
	if err != nil {
		return err
	}
	return errors.Join(use(m), m.Close())
}
