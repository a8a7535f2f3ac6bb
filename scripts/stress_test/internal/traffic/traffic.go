// Package traffic decides what the requests of a stress test ask for: which service,
// which pair of languages and which texts.
package traffic

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"dragoman/scripts/stress_test/internal/corpus"
)

// Model is what a request can be for: a service and a pair of languages.
type Model struct {
	URL string
	corpus.Pair
}

// Order is what one request asks for.
type Order struct {
	Model int // index into the models
	first int // of its texts
}

// Config makes a Deck.
type Config struct {
	Models  []Model // the most popular first
	Corpus  corpus.Corpus
	Records int // texts of a request
	// Lambda is the mean of the distribution that models are drawn by, see Popularity.
	// 0: they take turns.
	Lambda float64
	Seed   uint64
}

// Deck deals orders. The texts of a source language come in an order that the seed
// decides, and again only after all others: a service that remembers translations would
// otherwise look better than it is.
type Deck struct {
	models  []Model
	records int
	choose  func() int
	pools   []*pool // by model; models share those that have the same texts
}

// pool are the texts of a source language.
type pool struct {
	texts []string
	next  int // text of the next order
}

// New makes a deck. It fails where there are no models, or no texts for one.
func New(cfg Config) (*Deck, error) {
	if len(cfg.Models) == 0 || cfg.Records < 1 {
		return nil, errors.New("traffic needs a model and at least one record in a request")
	}
	d := &Deck{models: cfg.Models, records: cfg.Records, choose: turns(len(cfg.Models))}
	if cfg.Lambda > 0 {
		d.choose = Popularity(len(cfg.Models), cfg.Lambda, rand.NewPCG(cfg.Seed, popularityStream))
	}
	known := map[corpus.Pair]*pool{}
	for _, m := range cfg.Models {
		key := m.Pair
		if key.From != corpus.Auto {
			key.To = "" // the source language alone decides the texts
		}
		if known[key] == nil {
			texts := cfg.Corpus.Texts(m.Pair)
			if len(texts) == 0 {
				return nil, fmt.Errorf("the corpus has no text to translate from %s to %s, only for %v", m.From, m.To, cfg.Corpus.Pairs())
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

// Deal returns the next order. It is not safe for concurrent use.
func (d *Deck) Deal() Order {
	m := d.choose()
	o := Order{Model: m, first: d.pools[m].next}
	d.pools[m].next = (o.first + d.records) % len(d.pools[m].texts)
	return o
}

// Models are those of the configuration.
func (d *Deck) Models() []Model { return d.models }

// Texts returns an order's texts. It is safe for concurrent use.
func (d *Deck) Texts(o Order) []string {
	pool, texts := d.pools[o.Model].texts, make([]string, d.records)
	for i := range texts {
		texts[i] = pool[(o.first+i)%len(pool)]
	}
	return texts
}
