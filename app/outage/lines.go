package outage

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	"dragoman/app/wait"
)

// mostWaiting is the maximum number of bytes of waiting lines.
const mostWaiting = 1 << 20

// Lines writes the lines of a log on a goroutine of its own, so that no request waits for the reader of the log. Lines that do
// not fit because the reader is slow, or cannot be written because it has gone, are dropped and counted. Each call of Write is a
// line. It is safe for concurrent use.
type Lines struct {
	out     io.Writer
	more    wait.Signal
	ended   chan struct{}
	dropped atomic.Uint64

	mu      sync.Mutex // guards the fields below
	waiting [][]byte
	bytes   int
	missing uint64 // lines dropped since the last report
	log     *slog.Logger
	closed  bool
}

// NewLines returns a log that writes to out until it is closed.
func NewLines(out io.Writer) *Lines {
	l := &Lines{out: out, more: wait.NewSignal(), ended: make(chan struct{})}
	go l.write()
	return l
}

// Report makes log, which writes to l, report the number of dropped lines once lines are written again.
func (l *Lines) Report(log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = log
}

// Dropped returns the number of dropped lines.
func (l *Lines) Dropped() uint64 { return l.dropped.Load() }

// Write implements [io.Writer]. It never fails or blocks.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.bytes+len(line) > mostWaiting {
		l.drop(1)
		return len(line), nil
	}
	l.waiting = append(l.waiting, bytes.Clone(line))
	l.bytes += len(line)
	l.more.Give()
	return len(line), nil
}

// drop counts dropped lines. The caller must hold mu.
func (l *Lines) drop(n int) {
	l.missing += uint64(n)
	l.dropped.Add(uint64(n))
}

// Close refuses further lines, and returns when all are written or ctx is done.
func (l *Lines) Close(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.more.Give()
	select {
	case <-l.ended:
	case <-ctx.Done():
	}
}

// write writes waiting lines until the log is closed.
func (l *Lines) write() {
	defer close(l.ended)
	for {
		lines, closed := l.take()
		for i, line := range lines {
			_, err := l.out.Write(line)
			l.written(len(line), err)
			if err == nil && i == len(lines)-1 {
				l.sayWhatIsMissing()
			}
		}
		if closed && len(lines) == 0 {
			return
		}
		if len(lines) == 0 {
			<-l.more
		}
	}
}

// take returns the waiting lines. Their bytes count until they are written.
func (l *Lines) take() (lines [][]byte, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines, l.waiting = l.waiting, nil
	return lines, l.closed
}

func (l *Lines) written(size int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes -= size; err != nil {
		l.drop(1)
	}
}

// sayWhatIsMissing reports the number of dropped lines once lines are written again.
func (l *Lines) sayWhatIsMissing() {
	l.mu.Lock()
	log, missing := l.log, l.missing
	if log == nil || missing == 0 || l.closed {
		l.mu.Unlock()
		return
	}
	l.missing = 0
	l.mu.Unlock()
	log.Warn("log lines were dropped: the reader of the log was too slow or gone", "lines", missing)
}
