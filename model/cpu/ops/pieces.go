package ops

// #include "pieces.h"
import "C"

import (
	"errors"
	"runtime"
	"time"
)

// Pieces is a run of a session with these operators that is divided into pieces: the run pauses between operators, and within
// large operators. Pieces must be used by one goroutine.
type Pieces struct {
	c   *C.Pieces
	err chan error // receives the error of the finished run
}

// InPieces prepares a run, on a thread of its own. The caller must call Continue until the run is done, or Close, to release it.
func InPieces(run func() error) (*Pieces, error) {
	p := &Pieces{c: C.pieces_new(), err: make(chan error, 1)}
	if p.c == nil {
		return nil, errors.New("out of memory")
	}
	go func() {
		runtime.LockOSThread() // the operators identify the run by the thread
		defer runtime.UnlockOSThread()
		C.pieces_begin(p.c)
		err := errStopped
		defer func() {
			p.err <- err
			C.pieces_end(p.c)
		}()
		err = run()
	}()
	return p, nil
}

var errStopped = errors.New("the run was given up")

// Continue continues the run for about the time most. done reports whether the run has ended; err is its error.
func (p *Pieces) Continue(most time.Duration) (done bool, err error) {
	if C.pieces_continue(p.c, C.int64_t(most)) == 0 {
		return false, nil
	}
	C.pieces_free(p.c)
	return true, <-p.err
}

// Close abandons a run that has not ended.
func (p *Pieces) Close() {
	C.pieces_stop(p.c)
	C.pieces_free(p.c)
}
