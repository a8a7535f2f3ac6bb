package cuda

import (
	"errors"
	"fmt"

	"dragoman/model/cuda/driver"
	"dragoman/model/onnxruntime"
)

// shape determines the shapes of a run's inputs and outputs.
type shape struct {
	rows  int
	pages int // pages of candidates, see step.go
}

// program is a session on the memory of a batch. A program is bound once for each shape, and recorded at the second run with a
// shape.
type program struct {
	model   *Model
	session *onnxruntime.Session
	graphs  bool // record the runs
	bind    func(b *onnxruntime.Binding, s shape)
	bound   map[shape]*bound
}

// bound is a program bound for one shape.
type bound struct {
	binding *onnxruntime.Binding
	ran     bool
	graph   driver.Recording // nil: not recorded
	refused bool             // recording failed
}

// run starts the program with a shape.
func (p *program) run(s shape) error {
	b := p.bound[s]
	if b == nil {
		binding, err := p.session.NewBinding()
		if err != nil {
			return err
		}
		b = &bound{binding: binding}
		p.bound[s] = b
		p.bind(binding, s)
	}
	if b.graph != nil {
		return b.graph.Launch()
	}
	if b.ran && p.graphs && !b.refused {
		return p.record(b, s)
	}
	b.ran = true
	return b.binding.Run()
}

// record records the program and launches it. The program has run once, so all its memory is reserved. If recording fails, the
// program runs unrecorded.
func (p *program) record(b *bound, s shape) error {
	sessions := &p.model.runtime.sessions
	sessions.RLock()
	graph, err := p.model.machine.Record(b.binding.Run)
	sessions.RUnlock()
	if err != nil {
		b.refused = true
		p.model.opts.Log.Warn("a step cannot be recorded: it takes longer to start", "rows", s.rows, "error", err)
		return b.binding.Run()
	}
	b.graph = graph
	return graph.Launch()
}

// close releases the bindings and recordings. Closing nil does nothing.
func (p *program) close() error {
	if p == nil {
		return nil
	}
	var errs []error
	for s, b := range p.bound {
		if b.graph != nil {
			if err := b.graph.Close(); err != nil {
				errs = append(errs, fmt.Errorf("%d rows: %w", s.rows, err))
			}
		}
		b.binding.Close()
	}
	p.bound = nil
	return errors.Join(errs...)
}
