// Command gpu_check checks and measures models on a GPU. It is what
// scripts/gpu_check.sh runs, and needs nothing but itself, ONNX Runtime for CUDA and
// the files that it is told of:
//
//	gpu_check -library DIR/libonnxruntime.so -bundled model/bundled \
//	    -goldens model/testdata/bundled.json.gz -checkpoint DIR -out report.json
//
// It writes a report as JSON and prints it as tables. Each part that fails says so in
// the report, and the others go on; the exit status is 1 then.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dragoman/model"
	"dragoman/model/bundled"
	"dragoman/model/cuda"
	"dragoman/model/export"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gpu_check:", err)
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	library, program, bundled, goldens, checkpoint, work, out string
	gpu                                                       int
	host                                                      bool
	bandwidth                                                 float64
	seconds                                                   time.Duration
	sentences                                                 []int
	every                                                     int
	peers                                                     peers
}

func parse(args []string) (options, error) {
	o := options{sentences: []int{1, 8, 32, 128, 512}}
	f := flag.NewFlagSet("gpu_check", flag.ContinueOnError)
	f.StringVar(&o.library, "library", "build/onnxruntime/libonnxruntime.so", "path of ONNX Runtime's library")
	f.StringVar(&o.program, "program", "build/dragoman", "the service; empty: it is not tried")
	f.StringVar(&o.bundled, "bundled", "model/bundled", "folder of the bundled checkpoint")
	f.StringVar(&o.goldens, "goldens", "model/testdata/bundled.json.gz", "what Hugging Face makes of it")
	f.IntVar(&o.every, "every", 1, "take one in so many of the goldens")
	f.StringVar(&o.checkpoint, "checkpoint", "", "checkpoint to measure speed with; empty: none")
	f.StringVar(&o.work, "work", "build/gpu_check", "folder for exported models")
	f.StringVar(&o.out, "out", "build/gpu_check/report.json", "the report")
	f.IntVar(&o.gpu, "gpu", 0, "number of the GPU")
	f.BoolVar(&o.host, "host", false, "use the CPU's memory and kernels: a check of this program, not of speed")
	f.Float64Var(&o.bandwidth, "bandwidth", 0, "the card's memory bandwidth in GB/s, for the floor of a step; 0: unknown")
	f.DurationVar(&o.seconds, "seconds", 3*time.Second, "time that each measurement takes at least")
	f.Var(&o.peers, "peer", "name=command of another side (see scripts/bench/peers/protocol.py); may come again")
	most := f.Int("most", 512, "most sentences at once")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for i, n := range o.sentences {
		if n > *most {
			o.sentences = o.sentences[:i]
			break
		}
	}
	if len(o.sentences) == 0 || o.every < 1 || f.NArg() > 0 {
		return o, errors.New("-most and -every must be 1 or more, and nothing follows the flags")
	}
	return o, nil
}

// report is what is found out.
type report struct {
	Time     time.Time     `json:"time"`
	Runtime  string        `json:"onnxruntime"`
	Device   string        `json:"device"`
	Checks   []check       `json:"checks"`
	Speed    []measurement `json:"speed"`
	Peers    []measurement `json:"peers"`
	Failures int           `json:"failures"`
}

// check is one thing that must hold.
type check struct {
	Name   string         `json:"name"`
	OK     bool           `json:"ok"`
	Error  string         `json:"error,omitempty"`
	Values map[string]any `json:"values,omitempty"`
}

// session is a run of the program.
type session struct {
	options
	out     io.Writer
	runtime *cuda.Runtime
	report  report
}

func run(args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	s := &session{options: o, out: out, report: report{Time: time.Now().UTC()}}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return err
	}
	if s.runtime, err = cuda.Load(o.library); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.runtime.Close()) }()
	s.report.Runtime = s.runtime.Version()
	s.correctness()
	if o.program != "" {
		s.service()
	}
	if o.checkpoint != "" {
		s.speed()
		s.comparePeers()
	}
	if err := s.write(); err != nil {
		return err
	}
	if n := s.report.Failures; n > 0 {
		return fmt.Errorf("%d checks failed: see %s", n, o.out)
	}
	return nil
}

// check runs one part and writes down how it went.
func (s *session) check(name string, f func(values map[string]any) error) {
	c := check{Name: name, Values: map[string]any{}}
	err := f(c.Values)
	if c.OK = err == nil; !c.OK {
		c.Error = err.Error()
		s.report.Failures++
	}
	s.report.Checks = append(s.report.Checks, c)
	fmt.Fprintf(s.out, "%-28s %s %s\n", name, map[bool]string{true: "ok    ", false: "FAILED"}[c.OK], c)
}

func (c check) String() string {
	raw, err := json.Marshal(c.Values)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(c.Error + " " + string(raw))
}

// export exports a checkpoint into a folder of its own, unless it is there.
func (s *session) export(checkpoint string, precision model.Precision) (string, error) {
	dir := filepath.Join(s.work, filepath.Base(checkpoint)+"-"+string(precision))
	if _, err := model.ReadManifest(dir); err == nil {
		return dir, nil
	}
	fmt.Fprintf(s.out, "exporting %s in %s\n", checkpoint, precision)
	_, err := export.Export(interrupted(), checkpoint, dir, export.Options{
		Precision: precision, Source: checkpoint, Languages: bundled.Languages(), // of any tokenizer that is at hand
	})
	return dir, err
}

// open opens an exported folder on the device.
func (s *session) open(dir string) (*cuda.Model, error) {
	opts := cuda.Options{Number: s.gpu, Verify: model.VerifyNever, Log: slog.New(slog.NewTextHandler(s.out, nil))}
	if s.host {
		opts.Kind = cuda.Host
	}
	m, err := s.runtime.Open(interrupted(), dir, opts)
	if err == nil {
		s.report.Device = m.Device()
	}
	return m, err
}

// write writes the report.
func (s *session) write() error {
	raw, err := json.MarshalIndent(s.report, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.options.out, append(raw, '\n'), 0o644); err != nil {
		return err
	}
	return s.tables()
}
