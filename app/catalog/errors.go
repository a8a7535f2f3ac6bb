package catalog

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"dragoman/app/fault"
)

// ErrClosed means that the catalog is closed.
var ErrClosed error = fault.New(fault.ShuttingDown, "", "the service is shutting down: try again in a moment")

// noModels returns the error of a catalog without models, with advice.
func noModels(hint string) error { return fault.New(fault.NotReady, "", "there is no model: %s", hint) }

// BrokenError is the error of a version that cannot be loaded.
type BrokenError struct {
	Model string // name:version
	Err   error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the model %s cannot be loaded: %s", e.Model, e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// Explain returns the failure for the sender of the request. The fault of the model's files is only logged.
func (e *BrokenError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.ModelBroken, "", "the model %s cannot be loaded, and the service's log says why: use another one until it is repaired", e.Model)
}

// LoadingError is the error of a request that cannot wait for a loading model.
type LoadingError struct {
	Model   string
	Wait    time.Duration // expected duration, by the last load
	Waiting int           // number of requests that wait already; 0: the request has too little time
}

func (e *LoadingError) Error() string {
	if e.Waiting > 0 {
		return fmt.Sprintf("the model %s is loading, and %d requests wait for it", e.Model, e.Waiting)
	}
	return fmt.Sprintf("the model %s is loading, which takes longer than the request has", e.Model)
}

// RetryAfter returns the seconds after which another try may help, at least 1.
func (e *LoadingError) RetryAfter() int { return fault.Seconds(e.Wait) }

// Explain returns the failure for the sender of the request.
func (e *LoadingError) Explain(r fault.Situation) *fault.Failure {
	f := fault.New(fault.Loading, "", "%s: try again in %d s", e, e.RetryAfter())
	if r.Deadline && e.Waiting == 0 {
		f.Kind = fault.NoTime
	}
	f.Wait = e.RetryAfter()
	return f
}

// MemoryError is the error of a model that does not fit into memory, however many other models are unloaded.
type MemoryError struct {
	Model                string
	Needs, Limit, Pinned int64 // bytes
	// Device is set if the memory is that of a device, such as a GPU, and no other model can be unloaded from it. Then Limit is
	// the device's free memory.
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

// Explain returns the failure for the sender of the request.
func (e *MemoryError) Explain(fault.Situation) *fault.Failure {
	return fault.New(fault.NoRoom, "", "%s", e)
}

// NoRoomError means that devices with memory of their own, such as GPUs, currently have too little memory left for a model. A
// [Loader] fails with this error.
type NoRoomError struct {
	Device      string // as returned by [Instance.Device]
	Needs, Free int64  // bytes; Free is of the device with the most free memory
}

func (e *NoRoomError) Error() string {
	return fmt.Sprintf("it needs %s of a device's memory (%s), but no more than %s is free", size(e.Needs), e.Device, size(e.Free))
}

func size(bytes int64) string { return humanize.IBytesN(uint64(max(0, bytes)), 2) }
