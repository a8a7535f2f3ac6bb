package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The load on the fleet.
const (
	fleetGateways = 3
	fleetWorkers  = 4
	fleetClients  = 256
	fleetPace     = 18 * time.Millisecond // between requests
	fleetPatience = 2 * time.Minute       // of a client, per request
)

// underFire sends requests to the gateways of a fleet at a fixed rate, while members, Redis and the network between them fail.
// Clients retry after a refusal of a gateway or a broken connection. Each request must get one answer, equal to that of the
// model served alone.
func underFire(t *testing.T) {
	requests := 20_000
	if testing.Short() {
		requests = 1_000
	}
	l := &load{texts: textsByPair(t), outcomes: newCounts(), retries: newCounts()}
	l.serveAlone(t)
	f := startFleet(t, fleetWorkers, fleetGateways)
	f.watching.Go(f.watch)
	for _, g := range f.gateways {
		l.gateways = append(l.gateways, g.address)
	}
	begin, done := time.Now(), make(chan error, 1)
	go func() { done <- l.send(t.Context(), requests) }()
	events := f.fail(done)
	took := time.Since(begin)
	f.settle()
	t.Log("\n" + table([][2]string{
		{"requests", fmt.Sprintf("%d of %d sentences to %d gateways and %d workers, in %.0f s", requests, l.sentences, fleetGateways, fleetWorkers, took.Seconds())},
		{"failures", events.String()},
		{"outcomes", l.outcomes.String()},
		{"tries again", l.retries.String()},
		{"sentences that a worker took over from another", f.sum(`dragoman_fleet_taken_total{from="worker"}`)},
		{"sentences that a gateway submitted again", f.sum("dragoman_fleet_resubmitted_total")},
		{"second results, and those of requests that had ended", f.sum("dragoman_fleet_unwanted_results_total")},
		{"dead letters", strconv.Itoa(f.dead)},
		{"from due to answered", l.percentiles()},
	}))
	assert.Equal(t, map[string]int{"right": requests}, l.outcomes.of)
	assert.Zero(t, f.dead)
}

// table is Markdown.
func table(rows [][2]string) string {
	var b strings.Builder
	b.WriteString("| what | |\n|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	return b.String()
}

// pair is a direction of translation.
type pair struct{ from, to string }

// textsByPair has 20 short texts per pair of languages.
func textsByPair(t *testing.T) map[pair][]string {
	raw, err := os.ReadFile("../quality/dev.tsv")
	require.NoError(t, err)
	texts := make(map[pair][]string)
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(line, "\t")
		if p := (pair{fields[1], fields[2]}); len(texts[p]) < 20 && len(fields[3]) < 60 {
			texts[p] = append(texts[p], fields[3])
		}
	}
	return texts
}

// load is the load by clients.
type load struct {
	texts    map[pair][]string
	alone    map[question]answer
	gateways []string // their addresses

	outcomes, retries *counts

	mu        sync.Mutex // guards the rest
	latencies []time.Duration
	sentences int
}

// question is a text with the options of its translation.
type question struct {
	pair
	beams int
	text  string
}

// serveAlone gets the answers of a single process, one after the other.
func (l *load) serveAlone(t *testing.T) {
	s := serve(t, "ROLE=all")
	l.alone = make(map[question]answer)
	for p, texts := range l.texts {
		for _, beams := range []int{1, 3} {
			for _, text := range texts {
				status, got, _, err := post(t.Context(), s.client, s.address, newPayload(p, beams, "", text))
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, status)
				require.Len(t, got, 1)
				l.alone[question{p, beams, text}] = answer{got[0].Text, got[0].Detail.Score}
			}
		}
	}
}

// send sends each request when it is due, and waits until all are answered.
func (l *load) send(ctx context.Context, requests int) error {
	type due struct {
		number int
		at     time.Time
	}
	queue := make(chan due, requests)
	go func() {
		defer close(queue)
		begin := time.Now()
		for n := range requests {
			at := begin.Add(time.Duration(n) * fleetPace)
			time.Sleep(time.Until(at))
			queue <- due{n, at}
		}
	}()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: fleetClients}, Timeout: fleetPatience}
	defer client.CloseIdleConnections()
	return parallel(ctx, fleetClients, func(ctx context.Context, _ int) error {
		for d := range queue {
			l.outcomes.add(l.ask(ctx, client, d.number))
			l.mu.Lock()
			l.latencies = append(l.latencies, time.Since(d.at))
			l.mu.Unlock()
		}
		return nil
	})
}

// ask sends one request until it is answered, and records the outcome.
func (l *load) ask(ctx context.Context, client *http.Client, number int) string {
	r := l.payload(number)
	give := time.Now().Add(fleetPatience)
	for try := 0; ; try++ {
		status, got, refusal, err := post(ctx, client, l.gateways[(number+try)%len(l.gateways)], r)
		var again string
		switch {
		case err == nil && status == http.StatusOK:
			return l.judge(r, got)
		case err == nil && status == http.StatusServiceUnavailable:
			again = "503 " + refusal.Code
		case err == nil:
			return fmt.Sprintf("lost: status %d: %s: %s", status, refusal.Code, refusal.Message)
		case timedOut(err):
			return "lost: no answer"
		default:
			again = "connection broken"
		}
		if time.Now().After(give) {
			return "lost: given up after " + again
		}
		l.retries.add(again)
		time.Sleep(200 * time.Millisecond)
	}
}

// timedOut reports whether an error is a timeout.
func timedOut(err error) bool {
	of, ok := errors.AsType[net.Error](err)
	return ok && of.Timeout()
}

// payload returns the request of a number, mostly with one text and greedy search.
func (l *load) payload(number int) payload {
	random := rand.New(rand.NewPCG(uint64(number), *seed))
	pairs := make([]pair, 0, len(l.texts))
	for p := range l.texts {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.from+a.to, b.from+b.to) })
	p, beams := pairs[random.IntN(len(pairs))], 1
	if random.IntN(10) == 0 {
		beams = 3
	}
	var texts []string
	for range 1 + min(3, bits.TrailingZeros64(random.Uint64())) {
		texts = append(texts, l.texts[p][random.IntN(len(l.texts[p]))])
	}
	l.mu.Lock()
	l.sentences += len(texts)
	l.mu.Unlock()
	return newPayload(p, beams, strconv.Itoa(number), texts...)
}

// judge compares an answer with the answers of the model served alone.
func (l *load) judge(r payload, got []translated) string {
	if len(got) != len(r.Records) {
		return fmt.Sprintf("wrong: %d results for %d records", len(got), len(r.Records))
	}
	for i, record := range r.Records {
		want := l.alone[question{pair{r.From, r.To}, r.Options.Beams, record.Text}]
		switch {
		case got[i].ID != record.ID:
			return fmt.Sprintf("wrong: id %q instead of %q", got[i].ID, record.ID)
		case got[i].Text != want.text || got[i].Detail.Score != want.score:
			return fmt.Sprintf("different: %q (%v) instead of %q (%v)", got[i].Text, got[i].Detail.Score, want.text, want.score)
		}
	}
	return "right"
}

// percentiles returns percentiles of the latencies.
func (l *load) percentiles() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.latencies)
	at := func(share float64) float64 { return l.latencies[int(share*float64(len(l.latencies)-1))].Seconds() }
	return fmt.Sprintf("p50 %.3f s, p90 %.2f s, p99 %.1f s, at most %.1f s", at(0.5), at(0.9), at(0.99), at(1))
}

// payload is the body of a request.
type payload struct {
	From    string   `json:"fromLang"`
	To      string   `json:"toLang"`
	Records []record `json:"records"`
	Detail  bool     `json:"detail"`
	Options options  `json:"options"`
}

type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type options struct {
	Beams int `json:"beams"`
}

// newPayload returns a request. The ids of its records begin with id.
func newPayload(p pair, beams int, id string, texts ...string) payload {
	r := payload{From: p.from, To: p.to, Detail: true, Options: options{beams}}
	for i, text := range texts {
		r.Records = append(r.Records, record{fmt.Sprintf("%s-%d", id, i), text})
	}
	return r
}

// translated is a result of a request.
type translated struct {
	record
	Detail struct {
		Score float64 `json:"score"`
	} `json:"detail"`
}

// refusal is an error as the service writes it.
type refusal struct{ Code, Message string }

// post sends a request once. A truncated answer is an error.
func post(ctx context.Context, client *http.Client, address string, r payload) (status int, got []translated, why refusal, err error) {
	raw, err := json.Marshal(map[string]any{"payload": r})
	if err != nil {
		return 0, nil, why, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/translation", bytes.NewReader(raw))
	if err != nil {
		return 0, nil, why, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, why, err
	}
	defer resp.Body.Close()
	var answer struct {
		Result []translated
		Error  refusal
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, nil, why, errors.Join(err, fmt.Errorf("status %d", resp.StatusCode))
	}
	return resp.StatusCode, answer.Result, answer.Error, nil
}
