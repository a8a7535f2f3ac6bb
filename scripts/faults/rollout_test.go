package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	rolloutSentences = 600
	rolloutWorkers   = 3
	rolloutClients   = 3
	rolloutJobs      = 2                       // at a time
	rolloutLease     = 4500 * time.Millisecond // and a heartbeat
)

// the successive exports of the model
var rolloutExports = []string{"PRECISION=fp32", "PRECISION=int8"}

// rollout replaces the workers of a fleet one by one by workers with another export of the model, as Kubernetes does: a new
// worker is ready before an old one is told to end. Meanwhile clients send requests and jobs of 600 sentences. Each must be
// answered at the first attempt, with the answer of one export alone, and within twice its time (the other export may have to
// repeat all work) and a lease.
func rollout(t *testing.T) {
	texts := englishTexts(t)
	c := &clientsOfRollout{t: t, payload: newPayload(pair{"en", "fr"}, 1, "r", texts...)}
	for _, export := range rolloutExports {
		s := start(t, "ROLE=all", export)
		status, got, _, err := post(t.Context(), s.client, s.address, c.payload)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		c.alone = append(c.alone, textsOf(got))
		require.NoError(t, s.stop())
	}
	require.NotEqual(t, c.alone[0], c.alone[1], "the exports can be told apart")
	f := startFleet(t, rolloutWorkers, 2, rolloutExports[0])
	for _, g := range f.gateways {
		c.gateways = append(c.gateways, g.address)
	}
	before := c.load(func() { time.Sleep(5 * time.Second) })
	during := c.load(func() {
		for i := range f.workers {
			old := f.workers[i]
			f.workers[i] = f.join("worker", rolloutWorkers+i, rolloutExports[1])
			f.workers[i].isReady()
			time.Sleep(time.Second)
			old.signal(syscall.SIGTERM)
			require.NoError(t, <-old.service.exited)
		}
	})
	t.Log("\n" + table([][2]string{
		{"before", before.String()},
		{"during", during.String()},
		{"own time", before.slowest().Round(10 * time.Millisecond).String()},
		{"sentences that a gateway submitted again", f.sum("dragoman_fleet_resubmitted_total")},
	}))
	assert.LessOrEqual(t, during.slowest(), 2*max(before.slowest(), during.median())+rolloutLease)
	close(f.watched)
	for _, m := range f.members() {
		assert.NoError(t, m.service.stop(), m.name)
	}
}

// englishTexts returns the different texts of a request.
func englishTexts(t *testing.T) (texts []string) {
	raw, err := os.ReadFile("../quality/dev.tsv")
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(line, "\t"); fields[1] == "en" && !slices.Contains(texts, fields[3]) && len(texts) < rolloutSentences {
			texts = append(texts, fields[3])
		}
	}
	require.Len(t, texts, rolloutSentences)
	return texts
}

// clientsOfRollout send a request repeatedly, and jobs of the same records.
type clientsOfRollout struct {
	t        *testing.T
	payload  payload
	alone    [][]string // answers of each export
	gateways []string
}

// times has the durations of requests.
type times struct {
	*counts
	mu   sync.Mutex // guards list
	list []time.Duration
}

func (x *times) slowest() time.Duration { return slices.Max(x.list) }

func (x *times) median() time.Duration {
	slices.Sort(x.list)
	return x.list[len(x.list)/2]
}

func (x *times) String() string {
	return fmt.Sprintf("%s; requests took %.1f s (median), %.1f s at most", x.counts, x.median().Seconds(), x.slowest().Seconds())
}

// load sends requests and jobs while during runs, and waits for the last answers. Each must be the answer of one export.
func (c *clientsOfRollout) load(do func()) *times {
	x := &times{counts: newCounts()}
	ctx, stop := context.WithCancel(c.t.Context())
	var running sync.WaitGroup
	for i := range rolloutClients + rolloutJobs {
		ask, what := c.ask, "request"
		if i >= rolloutClients {
			ask, what = c.job, "job"
		}
		running.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				begin := time.Now()
				got, err := ask(c.gateways[n%len(c.gateways)])
				switch by := slices.IndexFunc(c.alone, func(want []string) bool { return slices.Equal(got, want) }); {
				case err != nil:
					x.add(what + " lost: " + err.Error())
				case by < 0 && what == "request":
					x.add("request mixed")
				case what == "request":
					x.add(what + " by " + rolloutExports[by])
					x.mu.Lock()
					x.list = append(x.list, time.Since(begin))
					x.mu.Unlock()
				default:
					x.add(c.judgeJob(got))
				}
			}
		})
	}
	do()
	stop()
	running.Wait()
	require.NotEmpty(c.t, x.list, "no request was answered: %s", x.counts)
	for what := range x.of {
		assert.NotContains(c.t, what, "lost")
		assert.NotContains(c.t, what, "mixed")
	}
	return x
}

// ask sends the request once.
func (c *clientsOfRollout) ask(gateway string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fleetPatience)
	defer cancel()
	status, got, why, err := post(ctx, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, gateway, c.payload)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d %s: %s", status, why.Code, why.Message)
	}
	return textsOf(got), err
}

// job submits the request as a job, and waits for its end.
func (c *clientsOfRollout) job(gateway string) ([]string, error) {
	raw, err := json.Marshal(map[string]any{"payload": c.payload})
	if err != nil {
		return nil, err
	}
	resp, err := http.Post("http://"+gateway+"/jobs", "application/json", strings.NewReader(string(raw)))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return nil, fmt.Errorf("a job: status %d", resp.StatusCode)
	}
	for give := time.Now().Add(fleetPatience); time.Now().Before(give); time.Sleep(100 * time.Millisecond) {
		var answer struct {
			Job struct {
				State string
				Error refusal
			}
			Result []translated
		}
		status, err := http.Get("http://" + gateway + resp.Header.Get("Location"))
		if err != nil {
			return nil, err
		}
		err = json.NewDecoder(status.Body).Decode(&answer)
		status.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case answer.Job.State == "done":
			return textsOf(answer.Result), nil
		case answer.Job.State == "failed":
			return nil, fmt.Errorf("%s: %s", answer.Job.Error.Code, answer.Job.Error.Message)
		}
	}
	return nil, fmt.Errorf("it is not done after %s", fleetPatience)
}

// judgeJob returns the exports that have made a job, one per slice.
func (c *clientsOfRollout) judgeJob(got []string) string {
	const slice = 256 // records
	if len(got) != rolloutSentences {
		return fmt.Sprintf("job lost: it has %d results", len(got))
	}
	made := "job by"
	for first := 0; first < len(got); first += slice {
		last := min(first+slice, len(got))
		by := slices.IndexFunc(c.alone, func(want []string) bool { return slices.Equal(got[first:last], want[first:last]) })
		switch {
		case by < 0:
			return "job mixed in a slice"
		case slices.Equal(c.alone[0][first:last], c.alone[1][first:last]):
			made += " either"
		default:
			made += " " + rolloutExports[by]
		}
	}
	return made
}

func textsOf(list []translated) (texts []string) {
	for _, r := range list {
		texts = append(texts, r.Text)
	}
	return texts
}
