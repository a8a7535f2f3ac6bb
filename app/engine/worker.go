package engine

import (
	"context"

	"dragoman/model"
)

// worker decodes on one model.
type worker struct {
	number   int
	spec     model.Spec
	mailbox  *mailbox
	snapshot *snapshot     // the loop's numbers
	stopped  chan struct{} // closed when the loop has ended
}

// startWorker starts a worker, which works until ctx is done. The model is used until
// wait returns.
func startWorker(ctx context.Context, cfg Config, number int, m model.Model) (*worker, error) {
	if err := cfg.validate(m); err != nil {
		return nil, err
	}
	w := &worker{number: number, spec: m.Spec(), mailbox: newMailbox(), snapshot: &snapshot{}, stopped: make(chan struct{})}
	l := newLoop(cfg, m, w)
	go func() {
		defer close(w.stopped)
		l.run(ctx)
	}()
	return w, nil
}

// wait returns when the worker has ended.
func (w *worker) wait() { <-w.stopped }

// stats are the worker's numbers.
func (w *worker) stats() Stats {
	s := w.snapshot.read()
	s.QueuedTokens = w.mailbox.waiting()
	return s
}
