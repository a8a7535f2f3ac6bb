package glossary

import "context"

// Store stores glossaries. It is safe for concurrent use, also by several processes if the store can be shared; each method is
// atomic. An error other than those of this package means that the store does not work now; the method may still have taken
// effect.
type Store interface {
	// Create adds a glossary with a new id. The error is [TooMany] if its owner already has the number most.
	Create(ctx context.Context, w Whole, most int) error
	// Get returns a glossary. The error is ErrUnknown if there is none.
	Get(ctx context.Context, id string) (Glossary, error)
	// List returns an owner's glossaries, the newest first.
	List(ctx context.Context, owner string) ([]Glossary, error)
	// Terms returns the terms of dictionaries as TSV, all from the same moment, and "" for a missing dictionary. The caller must
	// not modify them.
	Terms(ctx context.Context, id string, pairs []Pair) ([]string, error)
	// Change applies alter to a glossary, which may change all but its id, owner and time of creation. On concurrent changes
	// alter may be called again. The error is ErrUnknown or alter's.
	Change(ctx context.Context, id string, alter func(*Whole) error) error
	// Remove removes a glossary. The error is ErrUnknown if there is none.
	Remove(ctx context.Context, id string) error
	Close() error
}
