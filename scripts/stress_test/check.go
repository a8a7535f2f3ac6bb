package main

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"dragoman/scripts/stress_test/internal/corpus"
	"dragoman/scripts/stress_test/internal/traffic"
)

// Bounds of what a test can be.
const (
	mostRequests = 1_000_000 // all are kept until the report
	mostRecords  = 100_000
	mostRate     = 100_000
	mostLambda   = 100
	mostModels   = 1000
	mostRates    = 100
	mostInFlight = 65_536
	mostRetries  = 100
)

// check says what is wrong with options by themselves.
func (o *options) check() error {
	for _, check := range []func() error{o.checkWays, o.checkNumbers, o.checkRates, o.checkURLs, o.checkThresholds} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkWays sees to it that one way of timing requests is chosen, and nothing that
// belongs to another.
func (o *options) checkWays() error {
	changed := o.flags.Changed
	rates := changed("rate") || changed("sweep")
	switch {
	case changed("clients") && (rates || changed("sleep") || changed("num-req")):
		return errors.New("--clients does not go with --rate, --sweep, --sleep or --num-req")
	case changed("rate") && changed("sweep"):
		return errors.New("--rate and --sweep: use one of them")
	case rates && changed("sleep"):
		return errors.New("--sleep does not go with --rate or --sweep: use one of them")
	case changed("sweep") && changed("num-req"):
		return errors.New("--num-req does not go with --sweep: use --duration")
	case !rates && changed("windows"):
		return errors.New("--windows needs --rate or --sweep")
	case !rates && !changed("clients") && changed("duration"):
		return errors.New("--duration needs --rate, --sweep or --clients")
	case !changed("sweep") && changed("refine"):
		return errors.New("--refine needs --sweep")
	}
	return nil
}

// checkNumbers checks that numbers are within their bounds.
func (o *options) checkNumbers() error {
	for _, n := range []struct {
		flag             string
		value, low, high float64
	}{
		{"pay-size", float64(o.paySize), 1, mostRecords},
		{"num-req", float64(o.numReq), 1, mostRequests},
		{"lambda", o.lambda, 0, mostLambda},
		{"refine", float64(o.refine), 0, mostRates},
		{"warmup", float64(o.warmup), 0, mostRequests},
		{"clients", float64(o.clients), 0, mostInFlight},
		{"max-in-flight", float64(o.maxInFlight), 1, mostInFlight},
		{"retries", float64(o.retries), 0, mostRetries},
		{"beams", float64(o.beams), 0, math.MaxInt32},
		{"max-length", float64(o.maxLength), 0, math.MaxInt32},
		{"timeout", o.timeout.value(), 0.001, mostSeconds},
		{"limit", o.limit.value(), 0.0001, mostSeconds},
		{"duration", o.duration.value(), 0.001, mostSeconds},
		{"max-duration", o.maxDuration.value(), 0.001, mostSeconds},
	} {
		if !(n.value >= n.low && n.value <= n.high) {
			return fmt.Errorf("--%s is %g, expected %g to %g", n.flag, n.value, n.low, n.high)
		}
	}
	if total := float64(o.numReq) * o.sleep.value(); total > mostSeconds {
		return fmt.Errorf("--num-req and --sleep come to %.0f s, at most %.0f are possible", total, mostSeconds)
	}
	return nil
}

// checkRates checks the rates, and the number of requests that they come to.
func (o *options) checkRates() error {
	rates := o.sweep
	if o.flags.Changed("rate") {
		rates = []float64{o.rate}
	}
	if o.flags.Changed("sweep") && len(rates) == 0 || len(rates) > mostRates {
		return fmt.Errorf("--sweep has %d rates, expected 1 to %d", len(rates), mostRates)
	}
	total := 0.0
	for _, rate := range rates {
		if !(rate > 0 && rate <= mostRate) {
			return fmt.Errorf("a rate is %g, expected more than 0 and at most %d requests per second", rate, mostRate)
		}
		total += rate * o.duration.value()
	}
	if len(rates) > 0 {
		total += float64(o.refine) * slices.Max(rates) * o.duration.value()
	}
	if total > mostRequests {
		return fmt.Errorf("rates and --duration come to %.0f requests, at most %d are possible: make it shorter", total, mostRequests)
	}
	return nil
}

func (o *options) checkURLs() error {
	if len(o.urls) == 0 {
		return errors.New("--url is empty")
	}
	for i, text := range o.urls {
		u, err := url.Parse(text)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return fmt.Errorf("--url is %q: use one such as http://localhost:9527", text)
		}
		if u.User != nil { // it would be in all reports
			return fmt.Errorf("--url has a user name, for %s: leave it out, and use --key", u.Host)
		}
		o.urls[i] = strings.TrimSuffix(text, "/")
	}
	return nil
}

// models are the services and pairs of languages that requests are for: each pair at
// each service, the most popular first.
func (o *options) models(c corpus.Corpus) ([]traffic.Model, error) {
	pairs, err := o.pairs(c)
	if err != nil {
		return nil, err
	}
	var models []traffic.Model
	for _, u := range o.urls {
		for _, p := range pairs {
			models = append(models, traffic.Model{URL: u, Pair: p})
		}
	}
	if len(models) > mostModels {
		return nil, fmt.Errorf("%d URLs and %d pairs of languages: at most %d of both are possible", len(o.urls), len(pairs), mostModels)
	}
	return models, nil
}

// pairs are those of --from and --to, one by one; where one of them has a single
// language, it goes with all of the other. Without both they are those of the corpus.
func (o *options) pairs(c corpus.Corpus) ([]corpus.Pair, error) {
	from, to := o.from, o.to
	switch {
	case len(from) == 0 && len(to) == 0:
		if pairs := c.Pairs(); len(pairs) > 0 {
			return pairs, nil
		}
		return nil, errors.New("the corpus does not say its languages: use --from and --to")
	case len(from) == 0 || len(to) == 0:
		return nil, errors.New("--from and --to: use both or none")
	case len(from) == 1:
		from = slices.Repeat(from, len(to))
	case len(to) == 1:
		to = slices.Repeat(to, len(from))
	}
	if len(from) != len(to) {
		return nil, fmt.Errorf("--from has %d languages and --to has %d: give as many, or one of one of them", len(from), len(to))
	}
	var pairs []corpus.Pair
	for i := range from {
		p := corpus.Pair{From: strings.TrimSpace(from[i]), To: strings.TrimSpace(to[i])}
		if p.From == "" || p.To == "" || p.To == corpus.Auto || p.From == p.To {
			return nil, fmt.Errorf("%q cannot be translated to %q", p.From, p.To)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}
