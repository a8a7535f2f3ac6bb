package catalog

import (
	"errors"
	"fmt"
	"time"

	"dragoman/app/translate"
	"dragoman/model"
)

// State is the state of an instance, or of its model.
type State string

// States of a model. A model without an instance is unloaded.
const (
	Unloaded State = "unloaded"
	Loading  State = "loading"
	Ready    State = "ready"
	Draining State = "draining" // to be unloaded as soon as it has no users
	Broken   State = "broken"   // only of a version that cannot be loaded, never of an instance
)

// instance is a model that is loaded, or about to be, for all versions with its key.
type instance struct {
	resident
	key     string
	version *version                    // the version from which it was loaded
	loaded  Instance                    // nil until loaded
	models  map[string]*translate.Model // by name and version

	begun  time.Time    // start of the load; zero while others are loaded first
	full   *NoRoomError // the error of a device without room for the instance; nil: none known
	beside int          // number of instances on the device at the time of full
}

func (i *instance) state() State {
	switch {
	case i.loaded == nil:
		return Loading
	case i.drains:
		return Draining
	}
	return Ready
}

// model returns the instance as a version of a model.
func (i *instance) model(s Source) (*translate.Model, error) {
	if m := i.models[s.ref()]; m != nil {
		return m, nil
	}
	m, err := i.loaded.Model(s.Name, s.Version)
	if err != nil {
		return nil, fmt.Errorf("the model %s: %w", s.ref(), err)
	}
	i.models[s.ref()] = m
	return m, nil
}

// changed reports whether the files of an instance were written while it was in use, so that it does not translate any more. The
// next request loads the model again, if the files are sound by then. A model that is loaded at the start and stays is an
// exception: the process must be restarted.
func (i *instance) changed() bool {
	if i.version.fingerprint == "" {
		return false
	}
	for _, m := range i.models {
		if errors.Is(m.Engine.Err(), model.ErrDamaged) {
			return true
		}
	}
	return false
}

// residency holds the models in memory, and those about to be loaded.
type residency struct {
	limit       int64 // limit for all instances and their decoding state, in bytes; 0: none
	loader      Loader
	used        int64                    // bytes in use
	instances   map[string]*instance     // by [version.key]
	queue       []*instance              // instances to be loaded, one at a time in this order
	loading     bool                     // the first of the queue is loading
	loadWaiting bool                     // the first of the queue waits for memory that is being returned
	took        map[string]time.Duration // duration of the last load, by key
}

func newResidency(cfg Config) residency {
	return residency{limit: cfg.Memory, loader: cfg.Loader, instances: make(map[string]*instance), took: make(map[string]time.Duration)}
}

// ready returns the instance of a key if it is ready, else nil.
func (r *residency) ready(key string) *instance {
	if i := r.instances[key]; i != nil && i.state() == Ready {
		return i
	}
	return nil
}

// free returns the free memory; below 0 if more is used than the limit.
func (r *residency) free() int64 { return r.limit - r.used }

// lacks returns the missing part of some memory.
func (r *residency) lacks(bytes int64) int64 {
	if r.limit == 0 {
		return 0
	}
	return bytes - r.free()
}

// add queues the load of a version.
func (r *residency) add(v *version) *instance {
	i := &instance{key: v.key, version: v, models: make(map[string]*translate.Model)}
	r.instances[i.key] = i
	r.queue = append(r.queue, i)
	return i
}

// begin starts the load of the first instance of the queue, and reserves its memory.
func (r *residency) begin(bytes int64) *instance {
	i := r.queue[0]
	r.used += bytes - i.bytes
	i.bytes, i.begun, i.full, r.loading = bytes, time.Now(), nil, true
	return i
}

// finish ends the load of the first instance of the queue.
func (r *residency) finish(i *instance, loaded Instance) {
	now := time.Now()
	r.used += loaded.Bytes() - i.bytes
	i.loaded, i.bytes, i.since, i.last, i.took = loaded, loaded.Bytes(), now, now, now.Sub(i.begun)
	r.took[i.key] = i.took
	r.queue = r.queue[1:]
}

// left returns the estimated time until an instance is loaded, by the duration of its last load.
func (r *residency) left(key string) time.Duration {
	if i := r.instances[key]; i != nil && !i.begun.IsZero() {
		return max(0, r.took[key]-time.Since(i.begun))
	}
	return r.took[key]
}

func (r *residency) remove(i *instance) {
	r.used -= i.bytes
	delete(r.instances, i.key)
	if len(r.queue) > 0 && r.queue[0] == i {
		r.queue = r.queue[1:]
	}
}

// clear removes all instances and returns the loaded ones, which the caller must close.
func (r *residency) clear() (loaded []Instance) {
	for _, i := range r.instances {
		if r.remove(i); i.loaded != nil {
			loaded = append(loaded, i.loaded)
		}
	}
	return loaded
}

// fits returns a [*MemoryError] for versions that can never be in memory together.
func (r *residency) fits(versions []*version) error {
	if r.limit == 0 {
		return nil
	}
	e := MemoryError{Limit: r.limit}
	for n, v := range versions {
		if hasKey(versions[:n], v.key) {
			continue
		}
		if n > 0 {
			e.Model += " and "
		}
		e.Model += v.source.Name
		if i := r.ready(v.key); i != nil {
			e.Needs += i.bytes
		} else {
			e.Needs += r.loader.Needs(v.source)
		}
	}
	for _, i := range r.instances {
		if i.pinned && i.state() == Ready && !hasKey(versions, i.key) {
			e.Pinned += i.bytes
		}
	}
	if e.Needs <= e.Limit-e.Pinned {
		return nil
	}
	return &e
}

// on returns the instances on a device, "" for all, and their residents for a policy that makes room for another instance while
// some claims wait.
func (r *residency) on(device string, forOther string, waiting claims) (list []*instance, all []resident) {
	for _, i := range r.instances {
		if i.loaded == nil || device != "" && i.loaded.Device() != device {
			continue
		}
		i.reserved, i.joint = waiting.reserved(i.key), device != "" && waiting.joint(i.key, forOther)
		list, all = append(list, i), append(all, i.resident)
	}
	return list, all
}

func (s *Source) ref() string { return s.Name + ":" + s.Version }
