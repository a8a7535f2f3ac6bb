package catalog

import (
	"errors"
	"fmt"
	"time"

	"dragoman/app/translate"
	"dragoman/model"
)

// State is what an instance, or the model of one, is in.
type State string

// The states. A model without an instance is unloaded.
const (
	Unloaded State = "unloaded"
	Loading  State = "loading"
	Ready    State = "ready"
	Draining State = "draining" // it leaves as soon as nobody uses it
	Broken   State = "broken"   // of a version that cannot be loaded; no instance is
)

// instance is a model that is loaded, or about to be, for all versions that have its key.
type instance struct {
	resident
	key     string
	version *version                    // that is loaded for all
	loaded  Instance                    // nil until it is
	models  map[string]*translate.Model // by name and version

	begun  time.Time    // the load; zero while others are loaded first
	full   *NoRoomError // its device has no room for it, nil: that was not seen
	beside int          // instances were there then
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

// model is the instance as a version of a model.
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

// changed says whether the files of an instance were written while it was in use, so that it
// translates nothing any more. The next request loads it again, if they are sound then. What is loaded
// at the start and stays is not: the process is to be started again.
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

// residency is what is in memory, and what is about to be.
type residency struct {
	limit       int64 // bytes that all instances and what they decode may take; 0: no bound
	loader      Loader
	used        int64                    // bytes that they take
	instances   map[string]*instance     // by [version.key]
	queue       []*instance              // that are to be loaded, one at a time in this order
	loading     bool                     // the first of them
	loadWaiting bool                     // that one, for memory that is being given back
	took        map[string]time.Duration // to load an instance, the last time
}

func newResidency(cfg Config) residency {
	return residency{limit: cfg.Memory, loader: cfg.Loader, instances: make(map[string]*instance), took: make(map[string]time.Duration)}
}

// ready is the instance of a key that can be used; nil without one.
func (r *residency) ready(key string) *instance {
	if i := r.instances[key]; i != nil && i.state() == Ready {
		return i
	}
	return nil
}

// free is the memory that nothing has; below 0 where more is used than there should be.
func (r *residency) free() int64 { return r.limit - r.used }

// lacks is how much of some memory is not free.
func (r *residency) lacks(bytes int64) int64 {
	if r.limit == 0 {
		return 0
	}
	return bytes - r.free()
}

// add begins to wait for the load of a version.
func (r *residency) add(v *version) *instance {
	i := &instance{key: v.key, version: v, models: make(map[string]*translate.Model)}
	r.instances[i.key] = i
	r.queue = append(r.queue, i)
	return i
}

// begin has the first of the queue loaded, with some memory unless it has that.
func (r *residency) begin(bytes int64) *instance {
	i := r.queue[0]
	r.used += bytes - i.bytes
	i.bytes, i.begun, i.full, r.loading = bytes, time.Now(), nil, true
	return i
}

// finish ends the load of the first of the queue.
func (r *residency) finish(i *instance, loaded Instance) {
	now := time.Now()
	r.used += loaded.Bytes() - i.bytes
	i.loaded, i.bytes, i.since, i.last, i.took = loaded, loaded.Bytes(), now, now, now.Sub(i.begun)
	r.took[i.key] = i.took
	r.queue = r.queue[1:]
}

// left is about how long it takes until an instance is loaded, as far as the last load of it tells.
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

// clear takes all instances out and returns what is loaded, to be closed.
func (r *residency) clear() (loaded []Instance) {
	for _, i := range r.instances {
		if r.remove(i); i.loaded != nil {
			loaded = append(loaded, i.loaded)
		}
	}
	return loaded
}

// fits refuses versions that can never be in memory together.
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

// on are the instances on a device, "" for all, and what they are for a policy that lets them leave for
// another one, where some claims wait.
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
