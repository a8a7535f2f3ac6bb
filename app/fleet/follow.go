package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"dragoman/model"
	"dragoman/model/repository"
)

// catalogues are the catalogues of the workers as a gateway follows them, and the models that it serves from them. A single
// goroutine uses them.
type catalogues struct {
	broker  *Broker
	known   map[string]*Catalogue // the offered catalogues, by hash
	hashes  []string              // hashes of the offered catalogues, one for each worker
	offered repository.Snapshot   // what the workers offer
	terms   terms                 // the names and limits of offered

	hold    hold
	content map[string]string     // what Redis is to have even without workers, by key: hashes, catalogues, files of tokenizers
	files   map[string]model.File // the files that are still to be read into content, by key

	served repository.Snapshot  // offered, and for a while what was offered before
	missed map[string]time.Time // since when no worker has had a model or a pipeline of served, by name
}

func newCatalogues(b *Broker) *catalogues {
	return &catalogues{broker: b, hold: hold{broker: b}, missed: make(map[string]time.Time)}
}

// follow takes what the workers offer, and reports whether that has changed. Without workers the offer stays as it was.
func (c *catalogues) follow(ctx context.Context, workers []WorkerStatus) (changed bool, err error) {
	hashes, err := c.published(ctx, workers)
	if err != nil || len(hashes) == 0 || slices.Equal(hashes, c.hashes) {
		return false, err
	}
	known := make(map[string]*Catalogue)
	for _, hash := range hashes {
		if known[hash] == nil {
			if known[hash], err = c.get(ctx, hash); err != nil {
				return false, err
			}
		}
	}
	hashes = slices.DeleteFunc(hashes, func(hash string) bool { return known[hash] == nil })
	if len(hashes) == 0 || slices.Equal(hashes, c.hashes) {
		return false, nil
	}
	maps.DeleteFunc(known, func(_ string, one *Catalogue) bool { return one == nil })
	if err := c.store(ctx, known); err != nil {
		return false, err
	}
	var list []*Catalogue
	for _, hash := range hashes {
		list = append(list, known[hash])
	}
	c.known, c.hashes = known, hashes
	c.take(list)
	return true, nil
}

// published returns the hashes of the workers' catalogues. If a gateway that has just been started finds no workers, it returns
// the hashes that gateways used last.
func (c *catalogues) published(ctx context.Context, workers []WorkerStatus) (hashes []string, err error) {
	for _, w := range workers {
		if w.Catalogue != "" { // the worker has published one
			hashes = append(hashes, w.Catalogue)
		}
	}
	if len(hashes) > 0 || c.hashes != nil {
		return hashes, nil
	}
	raw, err := c.broker.load(ctx, c.broker.keys.known())
	if raw != nil {
		_ = json.Unmarshal(raw, &hashes) // anything but a list counts as none
	}
	return hashes, err
}

// get returns a catalogue; nil if Redis does not have it now. A catalogue that cannot be read is empty.
func (c *catalogues) get(ctx context.Context, hash string) (*Catalogue, error) {
	if known := c.known[hash]; known != nil {
		return known, nil
	}
	raw, err := c.broker.load(ctx, c.broker.keys.catalogue(hash))
	if raw == nil {
		return nil, err
	}
	got := Catalogue{raw: raw}
	err = json.Unmarshal(raw, &got)
	for m, v := range versionsOf(got.Models) {
		if v.Manifest == nil || v.Identity == "" {
			err = fmt.Errorf("the model %s has no manifest", m.Name)
		}
	}
	if err != nil {
		c.broker.outages.reading.Note(fmt.Errorf("the catalogue is damaged: %w", err), "catalogue", hash)
		return &Catalogue{}, nil // an empty catalogue, so that it is not read again
	}
	return &got, nil
}

// store replaces the content that Redis is to have. It signs all of it, because what Redis has may be signed with a secret that
// is no longer the first.
func (c *catalogues) store(ctx context.Context, known map[string]*Catalogue) error {
	keys, before := c.broker.keys, c.content
	hashes, _ := json.Marshal(slices.Sorted(maps.Keys(known)))
	c.content, c.files = map[string]string{keys.known(): c.broker.seals.seal(keys.known(), hashes)}, make(map[string]model.File)
	for hash, one := range known {
		if one.raw == nil {
			continue // the catalogue cannot be read
		}
		key := keys.catalogue(hash)
		c.content[key] = c.broker.seals.seal(key, one.raw)
		for key, file := range one.files(keys) {
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

// keep reads the files into content, and restores the parts of content that Redis has lost, unless another member was faster.
func (c *catalogues) keep(ctx context.Context) error {
	for key, file := range c.files {
		raw, err := c.broker.client.Get(ctx, key).Result()
		switch {
		case errors.Is(err, redis.Nil): // a worker stores the file soon
		case err != nil:
			return err
		case isFile([]byte(raw), file):
			c.content[key] = raw
			delete(c.files, key)
		}
	}
	missing, err := c.hold.missing(ctx, slices.Collect(maps.Keys(c.content)))
	if err != nil {
		return err
	}
	return c.broker.do(ctx, func(p redis.Pipeliner) {
		for _, key := range missing {
			p.SetNX(ctx, key, c.content[key], kept)
		}
	})
}

// take takes what catalogues offer together.
func (c *catalogues) take(list []*Catalogue) {
	c.offered, c.terms = merge(list), terms{names: make(map[string]modelName)}
	for m, v := range versionsOf(c.offered.Models) {
		c.terms.names[queueOf(v.Identity)] = modelName{m.Name, strconv.Itoa(v.Number)}
	}
	least := func(limit *int, other int) {
		if other > 0 && (*limit == 0 || other < *limit) {
			*limit = other
		}
	}
	for _, one := range list {
		least(&c.terms.beams, one.MaxBeams)
		least(&c.terms.maxLength, one.MaxLength)
	}
}

// missedFor is how long a gateway serves a model that no worker has, while there are workers of other models: its workers may be
// about to be replaced.
const missedFor = 10 * time.Minute

// serve updates what is served, and reports whether that has changed.
func (c *catalogues) serve(now time.Time) (changed bool) {
	offered := make(map[string]bool)
	for _, m := range c.offered.Models {
		offered[m.Name] = true
	}
	for _, p := range c.offered.Pipelines {
		offered[p.Name] = true
	}
	isOver := func(name string) bool { // whether the model or pipeline is not to be served in addition
		since, known := c.missed[name]
		over := offered[name] || known && now.Sub(since) >= missedFor
		if over {
			delete(c.missed, name)
		} else if !known {
			c.missed[name] = now
		}
		return over
	}
	models := slices.DeleteFunc(slices.Clone(c.served.Models), func(m repository.Model) bool { return isOver(m.Name) })
	pipelines := slices.DeleteFunc(slices.Clone(c.served.Pipelines), func(p repository.Pipeline) bool { return isOver(p.Name) })
	order := slices.DeleteFunc(slices.Clone(c.served.Order), func(name string) bool { _, missed := c.missed[name]; return !missed })
	all := c.offered
	all.Models, all.Pipelines = union(all.Models, models, modelOf), union(all.Pipelines, pipelines, pipelineOf)
	all.Order = union(all.Order, order, itself)
	if changed = !reflect.DeepEqual(all, c.served); changed {
		c.served = all
	}
	return changed
}

// hold keeps keys in Redis for a member: Redis may lose them, and they expire unless a member renews them.
type hold struct {
	broker  *Broker
	renewed time.Time // when the keys were last renewed
}

// missing returns the keys that Redis does not have, and renews the others every few hours.
func (h *hold) missing(ctx context.Context, keys []string) (missing []string, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	there, err := h.broker.client.Exists(ctx, keys...).Result()
	now := time.Now()
	if err != nil || int(there) == len(keys) && now.Sub(h.renewed) < kept/24 {
		return nil, err
	}
	renewed := make([]*redis.BoolCmd, len(keys))
	if err := h.broker.do(ctx, func(p redis.Pipeliner) {
		for i, key := range keys {
			renewed[i] = p.Expire(ctx, key, kept)
		}
	}); err != nil {
		return nil, err
	}
	h.renewed = now
	for i, key := range keys {
		if !renewed[i].Val() {
			missing = append(missing, key)
		}
	}
	return missing, nil
}
