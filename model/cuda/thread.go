package cuda

import (
	"runtime"
	"runtime/debug"

	"dragoman/model"
)

// thread is an OS thread for all of a model's calls to CUDA and ONNX Runtime, because both keep a context per thread. The context
// of ONNX Runtime's CUDA provider has handles of cuBLAS, on which a recorded graph depends.
type thread struct {
	work    chan func()
	stopped chan struct{}
}

func newThread() *thread {
	t := &thread{work: make(chan func()), stopped: make(chan struct{})}
	go func() {
		// Never unlocked, so that the OS thread ends with the goroutine, and so does all state that the driver left on the
		// thread.
		runtime.LockOSThread()
		defer close(t.stopped)
		for f := range t.work {
			f()
		}
	}()
	return t
}

// do calls f on the thread and waits for it. do passes a panic of f on as a [*model.Panic], which the caller can recover.
func (t *thread) do(f func() error) error {
	var err error
	var panicked *model.Panic
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				panicked = &model.Panic{Value: v, Stack: debug.Stack()}
			}
		}()
		err = f()
	}
	<-done
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// stop ends the thread. do must not be called any more.
func (t *thread) stop() {
	close(t.work)
	<-t.stopped
}
