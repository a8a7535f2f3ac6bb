//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"dragoman/model"
	"dragoman/model/cpu"
)

// The parts of a step's time.
const (
	products  = "products"
	attention = "attention"
	head      = "head"          // the product with the vocabulary, its log-sum-exp and best candidates
	norm      = "normalization" // and quantization
	other     = "other operators"
	runtimes  = "runtime" // ONNX Runtime between operators
	inGo      = "Go"      // outside of ONNX Runtime, the search included
)

// partNames are the parts in the order of tables.
var partNames = []string{products, attention, head, norm, other, runtimes, inGo}

// operators says which part an operator is of, by its type. Old and new names are here, so
// that versions can be compared.
var operators = []struct {
	types *regexp.Regexp
	part  string
}{
	{regexp.MustCompile(`^Product|^Multiply|MatMul|Gemm`), products},
	{regexp.MustCompile(`Attention|^StoreCross`), attention},
	{regexp.MustCompile(`Candidates|TopK|LogSumExp`), head},
	{regexp.MustCompile(`Norm|Quantize|^Relu`), norm},
}

// part is the part that an operator of a model is of.
func (e event) part(vocabulary int) string {
	for _, o := range operators {
		if !o.types.MatchString(e.Args.Operator) {
			continue
		}
		for _, shape := range e.shapes() {
			if o.part == products && shape[len(shape)-1] == vocabulary {
				return head // where it is one operator with the rest of it, there is no other way
			}
		}
		return o.part
	}
	return other
}

// shapes are those of the outputs that have dimensions.
func (e event) shapes() (shapes [][]int) {
	for _, output := range e.Args.Outputs {
		for _, shape := range output {
			if len(shape) > 0 {
				shapes = append(shapes, shape)
			}
		}
	}
	return shapes
}

// parts are seconds by the names of parts.
type parts map[string]float64

// profile passes through the cells of a model with ONNX Runtime's profile.
func profile(ctx context.Context, library *cpu.Runtime, models string, side cell, r *results) error {
	dir, err := os.MkdirTemp("", "roofline")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	type taken struct {
		cell
		sample
	}
	var encoded, stepped []taken
	vocabulary := 0
	err = open(ctx, library, models, side, filepath.Join(dir, "profile"), func(m model.Model) error {
		vocabulary = m.Spec().VocabSize
		return pass(ctx, m, side, func(c cell, s sample) {
			if c.Beams == 0 {
				encoded = append(encoded, taken{c, s})
			} else {
				stepped = append(stepped, taken{c, s})
			}
		})
	})
	if err != nil {
		return err
	}
	for graph, all := range map[string][]taken{model.EncoderFile: encoded, model.DecoderFile: stepped} {
		runs, err := readProfile(filepath.Join(dir, "profile-"+graph+"*"), vocabulary)
		if err != nil {
			return err
		}
		if len(runs) < len(all) {
			return fmt.Errorf("%s: profile of %d runs, %d were made", graph, len(runs), len(all))
		}
		for i, run := range runs[len(runs)-len(all):] { // before it are forced tokens
			run.parts[inGo] = max(0, all[i].Seconds-run.seconds)
			r.recordParts(all[i].cell, run.parts)
		}
	}
	return nil
}

// event is what ONNX Runtime writes of an operator or a run. Times are in microseconds.
type event struct {
	Category string `json:"cat"`
	Name     string `json:"name"`
	Took     int    `json:"dur"`
	Args     struct {
		Operator string             `json:"op_name"`
		Outputs  []map[string][]int `json:"output_type_shape"`
	} `json:"args"`
}

// profiled is one run of a graph.
type profiled struct {
	seconds float64
	parts   parts // without inGo
}

// readProfile reads the runs of a profile, in their order, from the files that a pattern matches.
func readProfile(pattern string, vocabulary int) (runs []profiled, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, file := range files { // those of sessions that never ran have no runs
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var events []event
		if err := json.Unmarshal(data, &events); err != nil {
			return nil, fmt.Errorf("ONNX Runtime's profile %s: %w", file, err)
		}
		runs = append(runs, collect(events, vocabulary)...)
	}
	return runs, nil
}

// collect makes runs of events: a run's comes after those of its operators.
func collect(events []event, vocabulary int) (runs []profiled) {
	sums, nodes := parts{}, 0
	for _, e := range events {
		switch {
		case e.Category == "Node" && e.Args.Operator != "":
			sums[e.part(vocabulary)] += seconds(e.Took)
			nodes += e.Took
		case e.Name == "model_run":
			sums[runtimes] = seconds(max(0, e.Took-nodes))
			runs = append(runs, profiled{seconds(e.Took), sums})
			sums, nodes = parts{}, 0
		}
	}
	return runs
}

func seconds(micros int) float64 { return float64(micros) / 1e6 }
