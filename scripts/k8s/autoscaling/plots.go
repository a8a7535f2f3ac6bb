package main

import (
	"fmt"
	"io"

	"dragoman/scripts/k8s/autoscaling/report"
	"dragoman/scripts/k8s/autoscaling/study"
)

// plottedDay is the seed of the day that is drawn.
const plottedDay = 1

// plots draws the days of what ships, and its highest spike beside alternatives.
func (w *writer) plots() error {
	if err := w.day("day-download.svg", "4 min"); err != nil {
		return err
	}
	if err := w.day("day-node-cache.svg", "30 s"); err != nil {
		return err
	}
	if err := w.spike("spike.svg", study.KeyMetrics, "pods start in 4 min, measured CPU pods", "4 min",
		"CPU only (80%)", "queue only", study.ShippedName); err != nil {
		return err
	}
	return w.spike("spike-gpu.svg", study.KeyGPU, "pods start in 4 min, assumed GPU pods", "4 min",
		"CPU only (80%)", "GPU only (80%)", "queue only", study.ShippedName)
}

// row finds a row that a plot needs.
func (w *writer) row(key, name, start string) (*study.Row, error) {
	for _, t := range w.tables {
		if t.Key == key {
			if row := t.Find(name, start); row != nil {
				return row, nil
			}
		}
	}
	return nil, fmt.Errorf("plot: there is no %q with a start of %s in the table %s", name, start, key)
}

func (w *writer) day(name, start string) error {
	row, err := w.row(study.KeyMetrics, study.ShippedName, start)
	if err != nil {
		return err
	}
	result, err := w.study.Day(row, plottedDay)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("A day as shipped, pods start in %s, measured CPU pods", start)
	return w.file(name, func(out io.Writer) error {
		return report.Day(out, title, result.Minutes, study.Capacity(row.Shape), study.Patience)
	})
}

func (w *writer) spike(name, key, title, start string, alternatives ...string) error {
	var compared []report.Alternative
	var at float64
	for _, a := range alternatives {
		row, err := w.row(key, a, start)
		if err != nil {
			return err
		}
		result, err := w.study.Day(row, plottedDay)
		if err != nil {
			return err
		}
		if at, err = study.HighestSpike(row.Shape, plottedDay); err != nil {
			return err
		}
		compared = append(compared, report.Alternative{Name: a, Minutes: result.Minutes})
	}
	const before, after = 15 * 60, 75 * 60
	return w.file(name, func(out io.Writer) error {
		return report.Comparison(out, "The highest spike: "+title, compared, at-before, at+after, study.Patience)
	})
}
