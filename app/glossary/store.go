package glossary

import "context"

// Store keeps glossaries. All of it is safe for concurrent use, also by several processes where the
// store can be shared; what a method changes, it changes as a whole or not at all. An error that is
// none of those of this package means that the store does not work now; the method may have done
// its work then.
type Store interface {
	// Create adds a glossary with an id that is new. The error is [TooMany] where its owner
	// has as many as most already.
	Create(ctx context.Context, w Whole, most int) error
	// Get returns a glossary. The error is ErrUnknown where there is none.
	Get(ctx context.Context, id string) (Glossary, error)
	// List returns an owner's glossaries, the newest first.
	List(ctx context.Context, owner string) ([]Glossary, error)
	// Terms returns the terms of dictionaries as TSV, all as they are at one moment, "" where there
	// is no such dictionary (any more). They are not to be changed.
	Terms(ctx context.Context, id string, pairs []Pair) ([]string, error)
	// Change has a glossary changed: all but its id, owner and time of creation. Where somebody
	// else changes it meanwhile, alter may be called again. The error is ErrUnknown or alter's.
	Change(ctx context.Context, id string, alter func(*Whole) error) error
	// Remove forgets a glossary. The error is ErrUnknown where there is none.
	Remove(ctx context.Context, id string) error
	Close() error
}
