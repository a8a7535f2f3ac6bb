package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"dragoman/model"
	"dragoman/model/repository"
)

// catalogues follows what workers serve.
type catalogues struct {
	broker *Broker
	known  map[string]*Catalogue // by hash
	served []string              // hashes, in order
	held   hold
	// content is what Redis is to have where no worker is left that knows it, by key: the list of
	// what is served, the catalogues, and the files of tokenizers. These are fetched as they come.
	content map[string]string
	files   map[string]model.File // that are still to be fetched, by key
}

func newCatalogues(b *Broker) *catalogues { return &catalogues{broker: b, held: hold{broker: b}} }

// keep has Redis hold what is served.
func (c *catalogues) keep(ctx context.Context) error {
	for key, file := range c.files {
		raw, err := c.broker.client.Get(ctx, key).Result()
		switch {
		case errors.Is(err, redis.Nil): // a worker puts it there soon
		case err != nil:
			return err
		case isFile([]byte(raw), file):
			c.content[key] = raw
			delete(c.files, key)
		}
	}
	return c.held.restore(ctx, c.content)
}

// hold has Redis hold something else from now on. What is there may be signed with a secret that is no
// longer the first.
func (c *catalogues) hold(ctx context.Context, known string, catalogues map[string]*Catalogue) error {
	before := c.content
	c.content, c.files = map[string]string{c.broker.keys.known(): known}, make(map[string]model.File)
	for hash, one := range catalogues {
		if one == nil || one.raw == nil {
			continue // it is not there, or cannot be read
		}
		key := c.broker.keys.catalogue(hash)
		c.content[key] = c.broker.seals.seal(key, one.raw)
		for key, file := range one.files(c.broker) {
			if raw, has := before[key]; has {
				c.content[key] = raw
			} else {
				c.files[key] = file
			}
		}
	}
	return c.broker.do(ctx, func(p redis.Pipeliner) {
		for key, value := range c.content {
			if before[key] != value {
				p.Set(ctx, key, value, kept)
			}
		}
	})
}

// follow calls serve where workers serve something else than before. Without workers what was
// served last is served on.
func (c *catalogues) follow(ctx context.Context, workers []WorkerStatus, serve func(repository.Snapshot, []*Catalogue)) error {
	hashes, err := c.hashes(ctx, workers)
	if err != nil || len(hashes) == 0 || slices.Equal(hashes, c.served) {
		return err
	}
	known, list := make(map[string]*Catalogue), []*Catalogue(nil)
	var found []string
	for _, hash := range hashes {
		if known[hash] == nil {
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
	raw, _ := json.Marshal(slices.Compact(slices.Sorted(slices.Values(found))))
	if err := c.hold(ctx, c.broker.seals.seal(c.broker.keys.known(), raw), known); err != nil {
		return err
	}
	c.known, c.served = known, found
	serve(merge(list), list)
	return nil
}

// hashes are those of the workers' catalogues; at first, where there are no workers, of those that were used last.
func (c *catalogues) hashes(ctx context.Context, workers []WorkerStatus) (list []string, err error) {
	for _, w := range workers {
		if w.Catalogue != "" { // it has published one
			list = append(list, w.Catalogue)
		}
	}
	if len(list) > 0 || c.served != nil {
		return list, nil
	}
	sealed, err := c.broker.client.Get(ctx, c.broker.keys.known()).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if raw, err := c.broker.open(c.broker.keys.known(), sealed); err == nil {
		_ = json.Unmarshal(raw, &list) // what is no list is none
	}
	return list, nil
}

// get is a worker's catalogue; nil where it is not there at present.
func (c *catalogues) get(ctx context.Context, hash string) (*Catalogue, error) {
	if known := c.known[hash]; known != nil {
		return known, nil
	}
	got, err := c.broker.catalogue(ctx, hash)
	switch {
	case errors.Is(err, redis.Nil), errors.Is(err, errForged): // its worker publishes it again soon
		return nil, nil
	case errors.Is(err, errCatalogue):
		c.broker.outages.reading.Note(err, "catalogue", hash)
		return &Catalogue{}, nil // not again
	case err != nil:
		return nil, fmt.Errorf("a worker's catalogue: %w", err)
	}
	return got, nil
}
