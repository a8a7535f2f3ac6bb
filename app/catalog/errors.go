package catalog

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"dragoman/app/fault"
)

// ErrClosed means that the catalog was closed.
var ErrClosed error = fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment")

// noModels means that there is no model at all, and says what to do.
func noModels(hint string) error { return fault.New(fault.NotReady, "", "there is no model: %s", hint) }

// BrokenError is a version of a model that cannot be loaded.
type BrokenError struct {
	Model string // name:version
	Err   error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the model %s cannot be loaded: %s", e.Model, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// Explain says what is told to the sender of a request. What is wrong with a model's files belongs into
// the log.
func (e *BrokenError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.ModelBroken, "", "the model %s cannot be loaded, and the service's log says why: use another one until it is repaired", e.Model)
}

// LoadingError is a request that cannot wait for a model that is not loaded yet.
type LoadingError struct {
	Model   string
	Wait    time.Duration // that it will take, as far as the last load tells
	Waiting int           // requests that wait already; 0: the request has less time than that
}

func (e *LoadingError) Error() string {
	if e.Waiting > 0 {
		return fmt.Sprintf("the model %s is loading, and %d requests wait for it", e.Model, e.Waiting)
	}
	return fmt.Sprintf("the model %s is loading, which takes longer than the request has", e.Model)
}

// RetryAfter is the seconds after which another try may help, at least 1.
func (e *LoadingError) RetryAfter() int { return fault.Seconds(e.Wait) }

// Explain says what is told to the sender of a request.
func (e *LoadingError) Explain(r fault.Situation) *fault.Failure {
	f := fault.New(fault.Loading, "", "%s: try again in %d s", e, e.RetryAfter())
	if r.Deadline && e.Waiting == 0 {
		f.Kind = fault.NoTime
	}
	f.Wait = e.RetryAfter()
	return f
}

// MemoryError is a model for which there is not enough memory, however many others leave.
type MemoryError struct {
	Model                string
	Needs, Limit, Pinned int64 // bytes
	// Device is set where it is the memory of a device, such as a GPU, and nobody is there who
	// could leave. Limit is what it has free then.
	Device string
}

func (e *MemoryError) Error() string {
	if e.Device != "" {
		return fmt.Sprintf("the model %s needs %s of a device's memory (%s), but no more than %s is free: lower KV_MEMORY, or end what else uses it",
			e.Model, size(e.Needs), e.Device, size(e.Limit))
	}
	text := fmt.Sprintf("the model %s needs %s of memory, but MODEL_MEMORY is %s", e.Model, size(e.Needs), size(e.Limit))
	if e.Pinned > 0 {
		text += fmt.Sprintf(", of which pinned models have %s", size(e.Pinned))
	}
	return text + ": raise it, or lower KV_MEMORY"
}

// Explain says what is told to the sender of a request.
func (e *MemoryError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.NoRoom, "", "%s", e)
}

// NoRoomError is a model for which devices with memory of their own, such as GPUs, have too little
// left at the moment. A [Loader] fails with it.
type NoRoomError struct {
	Device      string // as [Instance.Device] calls it
	Needs, Free int64  // bytes; Free is that of the emptiest device
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("it needs %s of a device's memory (%s), but no more than %s is free", size(e.Needs), e.Device, size(e.Free))
}

func size(bytes int64) string { return humanize.IBytesN(uint64(max(0, bytes)), 2) }
