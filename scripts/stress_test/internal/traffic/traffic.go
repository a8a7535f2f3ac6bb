// Package traffic decides the model, the pair of languages and the texts of a stress test's requests.
package traffic

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"dragoman/scripts/stress_test/internal/corpus"
)

// Order is the content of one request.
type Order struct {
	Model int // below Config.Models
	corpus.Pair
	Texts []string
}

// Config is the configuration of a Deck.
type Config struct {
	Models  int           // 0 counts as 1
	Pairs   []corpus.Pair // the most popular first
	Corpus  corpus.Corpus
	Records int // texts per request
	// Lambda is the mean of the distribution of models, see Popularity, while pairs alternate. With one model it is the
	// distribution of pairs. 0: both alternate.
	Lambda float64
	Seed   uint64
}

// Deck deals orders. The texts of a source language are in an order determined by the seed, and repeat only after all others: a
// service with a cache would otherwise look better than it is. It is safe for concurrent use.
type Deck struct {
	cfg    Config
	models func() int
	pairs  func() int
	pools  []*pool // by pair; pairs with the same texts share one

	mu    sync.Mutex // guards dealt, models, pairs and pools
	dealt []deal
}

// deal is an order, without its texts.
type deal struct{ model, pair, first int }

// pool has the texts of a source language.
type pool struct {
	texts []string
	next  int // index of the next order's text
}

// New returns a deck. It fails if there is no text for a pair.
func New(cfg Config) (*Deck, error) {
	d := &Deck{cfg: cfg, models: turns(max(1, cfg.Models)), pairs: turns(len(cfg.Pairs))}
	if cfg.Lambda > 0 {
		popular, n := &d.models, cfg.Models
		if n <= 1 {
			popular, n = &d.pairs, len(cfg.Pairs)
		}
		*popular = Popularity(n, cfg.Lambda, rand.NewPCG(cfg.Seed, popularityStream))
	}
	known := map[corpus.Pair]*pool{}
	for _, p := range cfg.Pairs {
		key := p
		if key.From != corpus.Auto {
			key.To = "" // only the source language determines the texts
		}
		if known[key] == nil {
			texts := cfg.Corpus.Texts(p)
			if len(texts) == 0 {
				return nil, fmt.Errorf("the corpus has no text to translate from %s to %s, only for %v", p.From, p.To, cfg.Corpus.Pairs())
			}
			shuffle := rand.New(rand.NewPCG(cfg.Seed, shuffleStream))
			shuffle.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
			known[key] = &pool{texts: texts}
		}
		d.pools = append(d.pools, known[key])
	}
	return d, nil
}

// Independent streams of random numbers; the arrivals have stream 0.
const (
	popularityStream = iota + 1
	shuffleStream
)

// turns returns 0 to n-1 repeatedly.
func turns(n int) func() int {
	next := n - 1
	return func() int {
		next = (next + 1) % n
		return next
	}
}

// Order returns order number i, independently of the order of the calls.
func (d *Deck) Order(i int) Order {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.dealt) <= i {
		pair := d.pairs()
		pool := d.pools[pair]
		d.dealt = append(d.dealt, deal{d.models(), pair, pool.next})
		pool.next = (pool.next + d.cfg.Records) % len(pool.texts)
	}
	dealt := d.dealt[i]
	o := Order{dealt.model, d.cfg.Pairs[dealt.pair], make([]string, d.cfg.Records)}
	pool := d.pools[dealt.pair].texts
	for j := range o.Texts {
		o.Texts[j] = pool[(dealt.first+j)%len(pool)]
	}
	return o
}
