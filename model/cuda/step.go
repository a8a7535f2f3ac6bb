package cuda

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"dragoman/model"
	"dragoman/model/batch"
	"dragoman/model/cuda/kernels"
	"dragoman/model/onnx"
	"dragoman/model/onnxruntime"
)

// state is the state of a batch, in the memory of the device.
type state struct{ kv, cross, history unsafe.Pointer }

// step is the decoder bound to the state of a batch.
//
// Candidates come in pages of 32. Nearly all searches need one page; each further page costs the time of the first again.
type step struct {
	model   *Model
	program *program
	rows    int      // maximum per run
	feed    *channel // int32 [fields, rows]
	best    map[int]*channel
	none    unsafe.Pointer // memory bound to an input of which only the shape is used
	trash   batch.Row      // the padding row

	candidates model.Candidates
	busy       time.Duration // total time of steps on the device, see DeviceTime
}

// open reserves memory for the feed and the answer of a step.
func (s *step) open(m *Model, state state, limits model.Limits, graphs bool) (err error) {
	spec := m.manifest.Spec
	s.model, s.rows, s.best = m, int(maxRows(limits.Rows)), map[int]*channel{}
	last := int32(limits.Rows)
	s.trash = batch.Row{KV: last, From: 2 * last, To: 2 * last, Slot: last, Length: 1}
	if s.feed, err = newChannel(m.machine, kernels.StepFields*int64(s.rows)); err != nil {
		return fmt.Errorf("the decoder's input: %w", err)
	}
	if s.none, err = m.machine.Alloc(4 * (int64(spec.VocabSize)/kernels.Lanes + 1)); err != nil {
		return fmt.Errorf("the decoder's input: %w", err)
	}
	layers, rows, length, token := spec.Decoder.Layers, limits.Rows+1, limits.MaxLength, int(tokenSize(m.manifest))
	s.program = &program{model: m, session: m.decoder, graphs: graphs, bound: map[shape]*bound{}, bind: func(b *onnxruntime.Binding, sh shape) {
		b.Input("feed", s.feed.device, onnx.Int32, kernels.StepFields, sh.rows)
		b.Input("history", state.history, onnx.Int32, 2*rows, length)
		b.Input("kv", state.kv, onnx.Uint8, layers, rows, length, token)
		b.Input("cross", state.cross, onnx.Uint8, layers, rows, spec.MaxPositions, token)
		b.Input("pages", s.none, onnx.Int32, sh.pages)
		b.Output("best", s.best[sh.pages].device, onnx.Int32, sh.rows, bestWidth(sh.pages))
	}}
	return s.makeRoom(1)
}

// bestWidth returns the number of numbers in a row's answer: log-probabilities, ids, log-sum-exp.
func bestWidth(pages int) int { return 2*kernels.Lanes*pages + 1 }

// makeRoom reserves memory for answers with a number of pages.
func (s *step) makeRoom(pages int) error {
	if s.best[pages] != nil {
		return nil
	}
	c, err := newChannel(s.model.machine, int64(s.rows*bestWidth(pages)))
	if err != nil {
		return fmt.Errorf("the decoder's output: %w", err)
	}
	s.best[pages] = c
	return nil
}

// warmUp runs the decoder with every bucket of padding rows, twice, because the second run is recorded. The largest bucket comes
// first, so that smaller ones find memory.
func (s *step) warmUp() error {
	for _, n := range buckets(int64(s.rows)) {
		for range 2 {
			if _, err := s.start(nil, n, 1); err != nil {
				return fmt.Errorf("warm-up with %d rows: %w", n, err)
			}
		}
	}
	return nil
}

// run takes a step. The k best candidates of the rows with Wanted set are in s.candidates until the next step.
func (s *step) run(rows []batch.Row, k int) error {
	c := &s.candidates
	c.K, c.LogProbs, c.IDs, c.LogSumExp = k, c.LogProbs[:0], c.IDs[:0], c.LogSumExp[:0]
	pages := (k + kernels.Lanes - 1) / kernels.Lanes
	if err := s.makeRoom(pages); err != nil {
		return err
	}
	for len(rows) > 0 {
		part := rows[:min(len(rows), s.rows)]
		rows = rows[len(part):]
		best, err := s.start(part, bucket(len(part)), pages)
		if err != nil {
			return err
		}
		width, ids := bestWidth(pages), kernels.Lanes*pages
		for i, row := range part {
			if row.Wanted {
				addRow(c, best[i*width:][:width], ids, k)
			}
		}
	}
	return nil
}

// start runs the decoder on rows, padded to n, and waits for the answer.
func (s *step) start(rows []batch.Row, n, pages int) ([]int32, error) {
	feed := s.feed.view(kernels.StepFields * n)
	for i := range n {
		r := s.trash
		if i < len(rows) {
			r = rows[i]
		}
		put(feed, n, i, r.Token, r.Position, r.KV, r.From, r.To, r.Slot, r.Length)
	}
	begin := time.Now()
	defer func() { s.busy += time.Since(begin) }()
	best, answer := s.best[pages], n*bestWidth(pages)
	if err := s.feed.upload(len(feed)); err != nil {
		return nil, err
	}
	if err := s.program.run(shape{n, pages}); err != nil {
		return nil, err
	}
	if err := best.download(answer); err != nil {
		return nil, err
	}
	return best.view(answer), s.model.machine.Wait()
}

func (s *step) close() error {
	errs := []error{s.program.close(), s.feed.close()}
	for _, c := range s.best {
		errs = append(errs, c.close())
	}
	if s.none != nil {
		errs = append(errs, s.model.machine.Free(s.none))
	}
	return errors.Join(errs...)
}

// addRow adds the candidates of a row's answer, whose ids begin at column ids.
func addRow(c *model.Candidates, answer []int32, ids, k int) {
	for i := range k {
		c.LogProbs = append(c.LogProbs, math.Float32frombits(uint32(answer[i])))
		c.IDs = append(c.IDs, int64(answer[ids+i]))
	}
	c.LogSumExp = append(c.LogSumExp, math.Float32frombits(uint32(answer[2*ids])))
}
