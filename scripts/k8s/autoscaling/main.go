// Command autoscaling simulates days of traffic against the HorizontalPodAutoscaler of
// k8s/deployment.yaml and alternatives to it, and writes docs/autoscaling.md's tables,
// plots and raw numbers. In scripts/k8s:
//
//	go run ./autoscaling
//
// The results are the same on every machine. It takes about a minute on two cores;
// -days 2 is quicker, for trying things out with -docs somewhere else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"dragoman/scripts/k8s/autoscaling/manifest"
	"dragoman/scripts/k8s/autoscaling/pod"
	"dragoman/scripts/k8s/autoscaling/report"
	"dragoman/scripts/k8s/autoscaling/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "autoscaling:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	manifest string
	docs     string
	days     int
}

func parse(args []string, log io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("autoscaling", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&o.manifest, "manifest", "../../k8s/deployment.yaml", "file with the Deployment and its HorizontalPodAutoscaler")
	f.StringVar(&o.docs, "docs", "../../docs", "folder with autoscaling.md and benchmarks/served.json")
	f.IntVar(&o.days, "days", 5, "days to simulate of each alternative")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	return o, nil
}

func run(ctx context.Context, args []string, log io.Writer) error {
	o, err := parse(args, log)
	if err != nil {
		return err
	}
	shipped, err := manifest.Read(o.manifest)
	if err != nil {
		return err
	}
	measured, err := study.ReadMeasured(filepath.Join(o.docs, "benchmarks", "served.json"), "418M")
	if err != nil {
		return err
	}
	s, err := study.New(shipped, o.days)
	if err != nil {
		return err
	}
	tables, err := s.Run(ctx, func(done, total int) {
		if done%20 == 0 || done == total {
			fmt.Fprintf(log, "%d of %d days simulated\n", done, total)
		}
	})
	if err != nil {
		return err
	}
	w := writer{docs: o.docs, study: s, tables: tables}
	return w.write(study.Calibrate(pod.CPU418M(), measured))
}

// writer writes what came out into the folder of documents.
type writer struct {
	docs   string
	study  *study.Study
	tables []*study.Table
}

func (w *writer) write(calibration []study.Calibration) error {
	if err := os.MkdirAll(filepath.Join(w.docs, "autoscaling"), 0o755); err != nil {
		return fmt.Errorf("make the folder for plots: %w", err)
	}
	if err := w.file("results.csv", func(out io.Writer) error { return report.Runs(out, w.tables) }); err != nil {
		return err
	}
	if err := w.plots(); err != nil {
		return err
	}
	return w.document(calibration)
}

// document fills in the tables of autoscaling.md.
func (w *writer) document(calibration []study.Calibration) error {
	path := filepath.Join(w.docs, "autoscaling.md")
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the document: %w", err)
	}
	text, err := report.Insert(string(data), "calibration", report.Calibration(calibration))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if text, err = report.Insert(text, "shipped", report.Shipped(w.study.Settings())); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, t := range w.tables {
		if text, err = report.Insert(text, t.Key, report.Markdown(t, t.Head)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// file writes a file of docs/autoscaling.
func (w *writer) file(name string, write func(io.Writer) error) (err error) {
	f, err := os.Create(filepath.Join(w.docs, "autoscaling", name))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if closed := f.Close(); err == nil && closed != nil {
			err = fmt.Errorf("write %s: %w", name, closed)
		}
	}()
	return write(f)
}
