package memory

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"dragoman/app/fault"
	"dragoman/app/translate"
)

// Config is the configuration of a [Service].
type Config struct {
	Store   Store // nil if there is none
	Missing error // the reason why there is no store, in words for clients
	Limits  Limits
	Now     func() time.Time // nil for time.Now
}

// Service serves memories to the APIs and to translations. It is safe for concurrent use. Each call is for an owner, to whom other
// owners' memories are unknown.
type Service struct {
	cfg     Config
	writing chan struct{} // has a place for each file that is being read
}

// mostWriting is the maximum number of files that are read at a time: each takes a core, and some ten MB.
const mostWriting = 2

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg, make(chan struct{}, mostWriting)}
}

// Limits returns the limits of memories.
func (s *Service) Limits() Limits { return s.cfg.Limits }

func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Millisecond) }

// do runs work with the store, and converts its error for the answer.
func (s *Service) do(work func(Store) error) error {
	if s.cfg.Store == nil {
		return &fault.Unavailable{Kind: fault.NoMemories, Reason: s.cfg.Missing}
	}
	return ofStore(work(s.cfg.Store))
}

func ofStore(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.OfStore(fault.NoMemories, "translation memories", err)
}

// Get returns a memory of an owner.
func (s *Service) Get(ctx context.Context, owner, id string) (m Memory, err error) {
	if checkID(id) != nil {
		return m, ErrUnknown
	}
	err = s.do(func(store Store) error {
		m, err = store.Get(ctx, owner, id)
		return err
	})
	return m, err
}

// List returns an owner's memories, the newest first.
func (s *Service) List(ctx context.Context, owner string) (list []Memory, err error) {
	err = s.do(func(store Store) error {
		list, err = store.List(ctx, owner)
		return err
	})
	return list, err
}

// Open opens a memory for translations. It implements [translate.Memories].
func (s *Service) Open(ctx context.Context, ref translate.MemoryRef) (translate.Memory, error) {
	m, err := s.Get(ctx, ref.Owner, ref.ID)
	if err != nil {
		return nil, err
	}
	return &finder{s.cfg.Store, m}, nil
}

// Report tells what became of a file or of a list of entries.
type Report struct {
	Created bool // the memory is new
	Taken   int  // entries
	Skipped int  // entries that could not be taken
	Reasons []string
}

// mostReasons is the maximum number of reasons of a report.
const mostReasons = 10

// skip counts an entry that cannot be taken.
func (r *Report) skip(place, reason string) {
	if r.Skipped++; len(r.Reasons) < mostReasons {
		r.Reasons = append(r.Reasons, place+": "+reason)
	}
}

// Source gives the entries of a file, one by one, or reports why it skips one.
type Source func(add func(place string, e Entry) error, skip func(place, reason string)) error

// Put makes the entries of a source a memory, in place of one with the same id. With add, the memory keeps its present entries as
// far as the source has none with equal sources.
func (s *Service) Put(ctx context.Context, owner, id string, add bool, from Source) (m Memory, report Report, err error) {
	if err := checkID(id); err != nil {
		return m, report, err
	}
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	default:
		return m, report, fault.New(fault.Busy, "", "%d files of translation memories are being read: try again in a moment", mostWriting)
	}
	err = s.do(func(store Store) error {
		m, report, err = s.put(ctx, store, owner, id, add, from)
		return err
	})
	return m, report, err
}

func (s *Service) put(ctx context.Context, store Store, owner, id string, add bool, from Source) (m Memory, report Report, err error) {
	b := newBuilder(rand.Text(), s.cfg.Limits)
	defer func() { err = errors.Join(err, b.close()) }()
	before := time.Time{}
	if add {
		m, err = store.Get(ctx, owner, id)
		if before = m.Changed; err != nil && !errors.Is(err, ErrUnknown) {
			return m, report, err
		}
		if err := each(ctx, store, m, b.add); err != nil {
			return m, report, err
		}
	}
	err = from(func(place string, e Entry) error {
		if reason := e.tidy(); reason != "" {
			report.skip(place, reason)
			return nil
		}
		report.Taken++
		return b.add(e)
	}, report.skip)
	if err != nil {
		return m, report, err
	}
	if report.Taken == 0 {
		reason := ""
		if len(report.Reasons) > 0 {
			reason = ": " + report.Reasons[0]
		}
		return m, report, wrong("", "there is no entry that could be taken%s", reason)
	}
	built := false
	if err := s.begin(ctx, store, owner, id, b.name); err != nil {
		return m, report, err
	}
	defer func() {
		if !built {
			err = errors.Join(err, s.abandon(context.WithoutCancel(ctx), store, owner, id, b))
		}
	}()
	parts, err := b.write(ctx, store)
	if err != nil {
		return m, report, err
	}
	err = store.Change(ctx, owner, id, s.cfg.Limits.PerOwner, func(stored *Memory, blocks Blocks) error {
		if !slices.Contains(stored.Building, b.name) || add && !stored.Changed.Equal(before) {
			return ErrChanged
		}
		for _, p := range stored.Parts {
			blocks.Clear(p.Blocks)
		}
		report.Created = stored.Changed.IsZero()
		stored.Parts, stored.Changed, stored.Building = parts, later(s.now(), stored.Changed), nil
		m = *stored
		return nil
	})
	built = err == nil
	return m, report, err
}

// begin notes that blocks are being written, and removes those of a writer that did not finish.
func (s *Service) begin(ctx context.Context, store Store, owner, id, name string) error {
	return store.Change(ctx, owner, id, s.cfg.Limits.PerOwner, func(m *Memory, blocks Blocks) error {
		for _, name := range m.Unfinished() {
			blocks.Clear(name)
		}
		if m.Created.IsZero() {
			m.Created = s.now()
		}
		m.Building = []string{name}
		return nil
	})
}

// abandon removes the blocks of a memory that is not written to its end.
func (s *Service) abandon(ctx context.Context, store Store, owner, id string, b *builder) error {
	var err error
	for _, x := range b.pairs {
		err = errors.Join(err, store.Clear(ctx, x.part.Blocks))
	}
	m, got := store.Get(ctx, owner, id)
	switch {
	case got != nil || !slices.Contains(m.Building, b.name):
	case m.Changed.IsZero():
		return errors.Join(err, store.Remove(ctx, owner, id))
	default:
		err = errors.Join(err, store.Change(ctx, owner, id, s.cfg.Limits.PerOwner, func(m *Memory, _ Blocks) error {
			m.Building = slices.DeleteFunc(m.Building, func(name string) bool { return name == b.name })
			return nil
		}))
	}
	return err
}

// each calls visit with all entries of a memory.
func each(ctx context.Context, store Store, m Memory, visit func(Entry) error) error {
	for _, p := range m.Parts {
		for n := range 1 << p.Bits {
			blocks, err := store.Blocks(ctx, p.Blocks, []int{n})
			if err != nil {
				return err
			}
			list, err := decodeEntries(blocks[0], nil)
			if err != nil {
				return err
			}
			for _, e := range list {
				if err := visit(Entry{p.Pair, e.source, e.target}); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Each calls visit with all entries of a memory of an owner, in no particular order.
func (s *Service) Each(ctx context.Context, m Memory, visit func(Entry) error) error {
	return s.do(func(store Store) error { return each(ctx, store, m, visit) })
}

// Add adds up to [MaxAdded] entries to a memory, which is created if it does not exist; an entry takes the place of one with an
// equal source. place returns the place of entry i, for errors.
func (s *Service) Add(ctx context.Context, owner, id string, entries []Entry, place func(i int) string) (m Memory, created bool, err error) {
	if err := checkID(id); err != nil {
		return m, false, err
	}
	for i := range entries {
		if reason := entries[i].tidy(); reason != "" {
			return m, false, &fault.ItemError{Kind: fault.InvalidMemory, Place: place(i), Field: place(i), Message: reason}
		}
	}
	full := false
	err = s.do(func(store Store) error {
		return store.Change(ctx, owner, id, s.cfg.Limits.PerOwner, func(stored *Memory, blocks Blocks) error {
			created = stored.Changed.IsZero()
			if full = stored.isFull(len(entries)); full {
				return ErrChanged // nothing is changed
			}
			if stored.Created.IsZero() {
				stored.Created = s.now()
			}
			stored.Changed = later(s.now(), stored.Changed)
			err := stored.add(blocks, entries)
			if err == nil {
				err = s.cfg.Limits.checkCount(stored.Entries())
			}
			m = *stored
			return err
		})
	})
	if !full {
		return m, created, err
	}
	m, _, err = s.Put(ctx, owner, id, true, func(add func(string, Entry) error, _ func(string, string)) error {
		for i, e := range entries {
			if err := add(place(i), e); err != nil {
				return err
			}
		}
		return nil
	})
	return m, false, err
}

// later returns now, or a millisecond after before if now is not later: each change must be noticed.
func later(now, before time.Time) time.Time {
	if next := before.Add(time.Millisecond); !before.IsZero() && now.Before(next) {
		return next
	}
	return now
}

// Delete removes the entry for a source from a memory of an owner.
func (s *Service) Delete(ctx context.Context, owner, id string, p Pair, source string) error {
	if checkID(id) != nil {
		return ErrUnknown
	}
	return s.do(func(store Store) error {
		return store.Change(ctx, owner, id, s.cfg.Limits.PerOwner, func(m *Memory, blocks Blocks) error {
			if m.Created.IsZero() {
				return ErrUnknown
			}
			m.Changed = later(s.now(), m.Changed)
			part, _ := m.find(p)
			found, err := m.remove(blocks, part.Pair, source)
			if err == nil && !found {
				err = fault.New(fault.NotFound, "text", "the translation memory has no entry with this source from %.40s", p)
			}
			return err
		})
	})
}

// Remove removes a memory of an owner.
func (s *Service) Remove(ctx context.Context, owner, id string) error {
	if checkID(id) != nil {
		return ErrUnknown
	}
	return s.do(func(store Store) error { return store.Remove(ctx, owner, id) })
}
