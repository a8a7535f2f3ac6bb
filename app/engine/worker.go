package engine

import (
	"context"

	"dragoman/model"
)

// worker decodes on one model. Its fields are shared by its loop and the sessions.
type worker struct {
	number   int
	spec     model.Spec
	mailbox  *mailbox
	snapshot *snapshot
	stopped  chan struct{} // closed when the loop has ended and does not use the model any more
}

// startWorker starts a worker, which works until ctx is done.
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

// lost returns the error with which the model has failed for good, nil while it works.
func (w *worker) lost() error { return w.snapshot.get().lost }

func (w *worker) stats() Stats {
	s := w.snapshot.get()
	s.QueuedTokens = int(w.mailbox.tokens.Load())
	s.Lost = s.lost != nil // visible before the round has published its statistics
	return s.Stats
}
