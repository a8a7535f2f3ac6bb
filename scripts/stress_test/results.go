package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dragoman/scripts/stress_test/internal/plots"
	"dragoman/scripts/stress_test/internal/report"
)

// results is the folder for files; "" for none.
type results string

// openResults makes the folder and finds out whether it can be written to.
func openResults(dir string) (results, error) {
	if dir == "" {
		return "", nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	return results(dir), errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// write writes a file.
func (r results) write(name string, content func(io.Writer) error) error {
	var out bytes.Buffer
	if err := content(&out); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(string(r), name), out.Bytes(), 0o644)
}

// say prints the line of a phase, with its rate where there are several.
func (t *test) say(s report.Summary) {
	if len(t.o.sweep) > 0 {
		fmt.Fprintf(t.stdout, "%s: ", s.Name)
	}
	fmt.Fprintln(t.stdout, s.Line())
}

// report prints the numbers, writes the files and returns the thresholds that were
// missed.
func (t *test) report(to results) (missed []string, err error) {
	d := report.Document{Began: t.began, Services: t.services, Settings: t.o.settings(), Phases: t.sums, Missed: []string{}}
	if len(t.o.sweep) > 0 {
		c := report.Cross(t.sums, time.Duration(t.o.limit))
		d.Crossing = &c
		missed = t.o.thresholds.missedBySweep(c)
	} else if len(t.sums) > 0 {
		missed = t.o.thresholds.missed(t.sums[0])
	}
	d.Missed = append(d.Missed, missed...)
	if err := t.print(d); err != nil {
		return missed, err
	}
	if to == "" || len(t.phases) == 0 {
		return missed, nil
	}
	if err := t.writeFiles(to, d); err != nil {
		return missed, fmt.Errorf("--out: %w", err)
	}
	return missed, nil
}

// print prints what comes after the lines of the phases.
func (t *test) print(d report.Document) error {
	if d.Crossing != nil && len(t.sums) > 0 {
		if !t.o.quiet {
			fmt.Fprintln(t.stdout)
			if err := report.WriteTable(t.stdout, t.sums); err != nil {
				return err
			}
			fmt.Fprintln(t.stdout)
		}
		fmt.Fprintln(t.stdout, d.Crossing)
		return nil
	}
	if t.o.quiet {
		return nil
	}
	for _, s := range t.sums {
		fmt.Fprintln(t.stdout)
		if err := s.WriteText(t.stdout, t.o.limits()); err != nil {
			return err
		}
	}
	return nil
}

func (t *test) writeFiles(to results, d report.Document) error {
	timeline, err := plots.Timeline(t.phases, t.o.limits())
	if err != nil {
		return err
	}
	var latency []byte
	if d.Crossing != nil {
		latency, err = plots.Sweep(t.sums, time.Duration(t.o.limit))
	} else {
		latency, err = plots.Distribution(t.phases[0], t.o.limits())
	}
	if err != nil {
		return err
	}
	svg := func(content []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(content); return err }
	}
	err = errors.Join(
		to.write("latency.svg", svg(latency)), to.write("timeline.svg", svg(timeline)), to.write("summary.json", d.WriteJSON),
		to.write("requests.csv", func(w io.Writer) error { return report.WriteCSV(w, t.phases, t.deck.Models()) }),
	)
	if err == nil && !t.o.quiet {
		fmt.Fprintf(t.stdout, "\nNumbers and plots are in %s.\n", to)
	}
	return err
}

// verdict is the error that a test ends with.
func (t *test) verdict(ctx context.Context, missed []string) error {
	answered := 0
	for _, s := range t.sums {
		answered += s.Answered
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; the report is of what was done until then")
	case answered == 0:
		return fmt.Errorf("no request was successful: %s", t.why())
	case len(missed) > 0:
		return fmt.Errorf("missed %s", strings.Join(missed, "; missed "))
	}
	return nil
}

// why is what was said of the first failure.
func (t *test) why() string {
	for _, p := range t.phases {
		for _, r := range p.Requests {
			if r.Err != nil {
				return t.sums[0].Examples[r.Err.Error()]
			}
		}
	}
	return "none was due"
}
