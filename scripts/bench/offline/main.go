// Command offline is dragoman's side of the offline benchmark: it loads a model
// once and decodes a batch for each line of standard input.
//
//	go run ./scripts/bench/offline -model build/bench/int8 -library build/onnxruntime/libonnxruntime.so -threads 2
//
// The protocol is defined by scripts/bench/peers/protocol.py.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"dragoman/app/text/language"
	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/family"
	"dragoman/model/search"
	"dragoman/model/search/searchtest"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "offline:", err)
		os.Exit(1)
	}
}

// request is one batch: sources of [language token, pieces, </s>], which are all translated into the language of the token target
// (below 0: none is forced), with a length of length ids each.
type request struct {
	Sources [][]int64 `json:"sources"`
	Target  int64     `json:"target"`
	Beams   int       `json:"beams"`
	Length  int       `json:"length"`
}

// answer is a line of output. Its fields depend on the request.
type answer struct {
	Ready    bool              `json:"ready,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	Seconds  float64           `json:"seconds,omitempty"`
	IDs      [][]int64         `json:"ids,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// run loads the model named on the command line and answers requests until in ends.
func run(args []string, in io.Reader, out io.Writer) (err error) {
	flags := flag.NewFlagSet("offline", flag.ContinueOnError)
	dir := flags.String("model", "", "exported folder")
	library := flags.String("library", "", "path of ONNX Runtime's library")
	threads := flags.Int("threads", 2, "threads of a step")
	if err := flags.Parse(args); err != nil {
		return err
	}
	runtime, err := cpu.Load(*library)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	m, err := open(runtime, *dir, *threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()

	encoder := json.NewEncoder(out)
	if err := encoder.Encode(answer{Ready: true, Versions: map[string]string{"onnxruntime": runtime.Version()}}); err != nil {
		return err
	}
	decoder := json.NewDecoder(in)
	for {
		var req request
		if err := decoder.Decode(&req); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := encoder.Encode(respond(m, req)); err != nil {
			return err
		}
	}
}

// open opens a model with the service's settings.
func open(runtime *cpu.Runtime, dir string, threads int) (model.Model, error) {
	manifest, err := model.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	tok, err := family.OpenTokenizer(dir, manifest.Family, manifest.Languages)
	if err != nil {
		return nil, err
	}
	return runtime.Open(context.Background(), dir, cpu.Options{Threads: threads, Scripts: language.Scripts, Within: tok.Within})
}

// respond decodes one request and measures its time.
func respond(m model.Model, req request) answer {
	begin := time.Now()
	ids, err := decode(m, req)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Seconds: time.Since(begin).Seconds(), IDs: ids}
}

// decode translates the sources in a new batch.
func decode(m model.Model, req request) (ids [][]int64, err error) {
	spec := m.Spec()
	spec.ForcedEnd = false // as on all sides
	prefix := []int64{spec.DecoderStart}
	if req.Target >= 0 {
		prefix = append(prefix, req.Target)
	}
	options := search.DefaultOptions(spec.Generation)
	options.Beams = req.Beams
	options.MaxLength = len(prefix) + req.Length
	options.MinLength = options.MaxLength // never a </s>

	ctx := context.Background()
	batch, err := m.NewBatch(model.Limits{Rows: len(req.Sources) * req.Beams, MaxLength: options.MaxLength})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, batch.Close()) }()
	if err := batch.Join(ctx, req.Sources); err != nil {
		return nil, err
	}
	sequences := make([]*search.Sequence, len(req.Sources))
	for i := range sequences {
		if sequences[i], err = search.NewSequence(options, search.Constraints{}, prefix, spec); err != nil {
			return nil, err
		}
	}
	results, err := searchtest.Decode(ctx, batch, sequences)
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		ids = append(ids, r.Tokens)
	}
	return ids, nil
}
