// Package traffic decides what the requests of a stress test ask for: which model, which
// pair of languages and which texts.
package traffic

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"dragoman/scripts/stress_test/internal/corpus"
)

// Order is what one request asks for.
type Order struct {
	Model int // below Config.Models
	corpus.Pair
	Texts []string
}

// Config makes a Deck.
type Config struct {
	Models  int           // 0 counts as 1
	Pairs   []corpus.Pair // the most popular first
	Corpus  corpus.Corpus
	Records int // texts of a request
	// Lambda is the mean of the distribution that models are drawn by, see Popularity,
	// while pairs take turns. With one model pairs are drawn by it. 0: both take turns.
	Lambda float64
	Seed   uint64
}

// Deck deals orders. The texts of a source language come in an order that the seed
// decides, and again only after all others: a service that remembers translations would
// otherwise look better than it is. It is safe for concurrent use.
type Deck struct {
	cfg    Config
	models func() int
	pairs  func() int
	pools  []*pool // by pair; pairs share those that have the same texts

	mu    sync.Mutex // guards what follows, models, pairs and pools
	dealt []deal
}

// deal is an order, without its texts.
type deal struct{ model, pair, first int }

// pool are the texts of a source language.
type pool struct {
	texts []string
	next  int // text of the next order
}

// New makes a deck. It fails where there is no text for a pair.
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
			key.To = "" // the source language alone decides the texts
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

// Streams of random numbers that have nothing to do with each other, nor with those of
// the arrivals, which have number 0.
const (
	popularityStream = iota + 1
	shuffleStream
)

// turns are 0 to n-1 again and again.
func turns(n int) func() int {
	next := n - 1
	return func() int {
		next = (next + 1) % n
		return next
	}
}

// Order returns order number i, whatever the order of the calls.
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
