package memory

import "context"

// Store stores memories. It is safe for concurrent use, also by several processes if the store can be shared; each method is
// atomic. An error other than those of this package means that the store does not work now; the method may still have taken
// effect.
type Store interface {
	// Get returns a memory. The error is ErrUnknown if there is none.
	Get(ctx context.Context, owner, id string) (Memory, error)
	// List returns an owner's memories, the newest first.
	List(ctx context.Context, owner string) ([]Memory, error)
	// Blocks returns blocks by their name and numbers. The error is ErrChanged if one is missing.
	Blocks(ctx context.Context, name string, numbers []int) ([][]byte, error)
	// Write writes blocks that no memory has yet.
	Write(ctx context.Context, blocks []Block) error
	// Change applies alter to a memory. A memory that does not exist has no time of creation; if alter does not fail, it is created
	// unless its owner has the number most already: then the error is [TooMany]. On concurrent changes alter may be called again.
	Change(ctx context.Context, owner, id string, most int, alter func(m *Memory, blocks Blocks) error) error
	// Remove removes a memory with its blocks. The error is ErrUnknown if there is none.
	Remove(ctx context.Context, owner, id string) error
	// Clear removes blocks that no memory has.
	Clear(ctx context.Context, name string) error
	Close() error
}

// Block is a block of a part.
type Block struct {
	Name   string
	Number int
	Bytes  []byte
}

// Blocks reads and writes blocks in a change of their memory. Reads do not see the writes.
type Blocks interface {
	Get(name string, numbers []int) ([][]byte, error)
	Put(name string, number int, block []byte)
	Clear(name string)
}
