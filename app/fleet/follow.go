package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"dragoman/model/repository"
)

// catalogues follows what workers serve.
type catalogues struct {
	broker *Broker
	known  map[string]*Catalogue // by hash
	served []string              // hashes, in order
}

// follow calls serve where workers serve something else than before. Without workers what was
// served last is served on.
func (c *catalogues) follow(ctx context.Context, workers []WorkerStatus, serve func(repository.Snapshot, []*Catalogue)) error {
	var hashes []string
	for _, w := range workers {
		if w.Catalogue != "" { // it has published one
			hashes = append(hashes, w.Catalogue)
		}
	}
	remembered := len(hashes) == 0
	if remembered {
		if c.served != nil {
			return nil
		}
		raw, err := c.broker.client.Get(ctx, c.broker.knownKey()).Bytes()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		_ = json.Unmarshal(raw, &hashes) // what is no list is none
	}
	if slices.Equal(hashes, c.served) || len(hashes) == 0 {
		return nil
	}
	known, list := make(map[string]*Catalogue), []*Catalogue(nil)
	var found []string
	for _, hash := range hashes {
		if known[hash] == nil {
			var err error
			if known[hash], err = c.get(ctx, hash); err != nil {
				return err
			}
		}
		if known[hash] != nil {
			list, found = append(list, known[hash]), append(found, hash)
		}
	}
	if len(list) == 0 || slices.Equal(found, c.served) {
		return nil
	}
	if !remembered {
		raw, _ := json.Marshal(slices.Compact(slices.Sorted(slices.Values(found))))
		if err := c.broker.client.Set(ctx, c.broker.knownKey(), raw, kept).Err(); err != nil {
			return err
		}
	}
	c.known, c.served = known, found
	serve(merge(list), list)
	return nil
}

// get is a worker's catalogue; nil where it is not there at present.
func (c *catalogues) get(ctx context.Context, hash string) (*Catalogue, error) {
	if known := c.known[hash]; known != nil {
		return known, nil
	}
	got, err := c.broker.catalogue(ctx, hash)
	switch {
	case errors.Is(err, redis.Nil): // its worker publishes it again soon
		return nil, nil
	case errors.Is(err, errCatalogue):
		c.broker.log.Error("what a worker has cannot be read: is it of another version?", "catalogue", hash, "error", err)
		return &Catalogue{}, nil // not again
	case err != nil:
		return nil, fmt.Errorf("a worker's catalogue: %w", err)
	}
	return got, nil
}
