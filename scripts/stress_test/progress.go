package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"dragoman/scripts/bench/openloop"
)

// progress shows how far a test is.
type progress struct {
	out io.Writer // nil: nothing is shown

	mu     sync.Mutex // guards all below
	bar    *progressbar.ProgressBar
	name   string // of the phase
	failed int
}

// newProgress shows progress on out if that is a terminal.
func newProgress(out io.Writer, quiet bool) *progress {
	f, ok := out.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{out: out}
}

// begin begins a phase of so many requests.
func (p *progress) begin(name string, requests int) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.failed = name, 0
	p.bar = progressbar.NewOptions(requests,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine behind our back
		progressbar.OptionClearOnFinish(),
	)
}

// done counts a request. It is safe for concurrent use. A display that fails must not
// fail the test, so errors are dropped.
func (p *progress) done(s openloop.Sample) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Err != nil {
		p.failed++
		p.bar.Describe(fmt.Sprintf("%s, %d failed", p.name, p.failed))
	}
	_ = p.bar.Add(1)
}

// end takes the bar away.
func (p *progress) end() {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.bar.Clear()
}
