package monitor

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the service calls its numbers is what is read.
func TestNamesAreThoseOfTheService(t *testing.T) {
	s := newService().load()
	s.work()
	got := sampleOf(t, s.text(), day)
	for n, v := range got.numbers {
		assert.False(t, math.IsNaN(v), "number %d: %+v", n, rules[n])
	}
	assert.Equal(t, map[ref]string{{"m", "1"}: "ready"}, got.states)
	assert.NotEmpty(t, got.requests)
	assert.NotEmpty(t, got.queue)
}

func TestDifferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		s.took = 80 * time.Millisecond
		s.work()
		before := sampleOf(t, s.text(), day)
		s.work()
		s.post("/healthz", 3) // counts for nothing
		row := newRow("a", before, sampleOf(t, s.text(), day.Add(2*time.Second)))

		want := map[number]float64{
			answered: 4, answering: .32, failed: 1, refused: 1, errored: 1, cancelled: 0,
			records: 8, tokensIn: 96, tokensOut: 120, detecting: 0, segmenting: 0, tokenizing: .0016, detokenizing: .0008,
			queued: 8, queueing: .24, encoding: .1, decoding: .8, scheduling: .1,
			joins: 2, steps: 100, stepRows: 6000, stepRoom: 8000, decoded: 8, loads: 0, evictions: 0, cacheHits: 3, cacheMisses: 9, cpu: 1.5,
		}
		assert.Len(t, want, int(counters))
		for c, v := range want {
			assert.InDelta(t, v, row.numbers[c], 1e-9, "counter %d", c)
		}
		for l, v := range map[number]float64{
			ready: 1, inFlight: 0, waitingRequests: 5, waitingSentences: 9, waitingTokens: 120, waitingTime: .3,
			rows: 40, workers: 2, memory: 600 << 20, resident: 1 << 20, started: 1e9,
		} {
			assert.Equal(t, v, row.numbers[l], "level %d", l)
		}
		assert.Equal(t, 2.0, row.Seconds)
		assert.False(t, row.Restarted)
		assert.Equal(t, 2.0, row.perSecond(answered))
		assert.InDelta(t, .25, row.busy(), 1e-9, "a second of two workers in two")
		assert.Equal(t, .75, row.each(stepRows, stepRoom))
		assert.InDelta(t, .075, row.requests.quantile(.5), 1e-9, "in the middle of the bucket from 50 to 100 ms")
		assert.InDelta(t, .025+.95*.025, row.queue.quantile(.95), 1e-9)
	})
}

func TestFirstSampleHasNoDifferences(t *testing.T) {
	row := newRow("a", nil, sampleOf(t, newService().load().text(), day))
	assert.True(t, math.IsNaN(row.Seconds))
	assert.True(t, math.IsNaN(row.numbers[records]))
	assert.True(t, math.IsNaN(row.requests.quantile(.5)))
	assert.Equal(t, 1.0, row.numbers[ready])
}

func TestServerThatLoads(t *testing.T) {
	s := newService()
	loading := sampleOf(t, s.text(), day)
	assert.Equal(t, 0.0, loading.numbers[ready])
	assert.True(t, math.IsNaN(loading.numbers[steps]), "it has no workers yet")
	s.load().work()
	row := newRow("a", loading, sampleOf(t, s.text(), day.Add(time.Second)))
	assert.False(t, row.Restarted)
	assert.Equal(t, 100.0, row.numbers[steps])
	assert.Equal(t, 4.0, row.numbers[answered])
}

func TestRestarts(t *testing.T) {
	busy := newService().load()
	busy.work()
	for _, test := range []struct {
		name        string
		change      func(s *service)
		want        bool
		wantRecords float64
	}{
		{"nothing happened", func(*service) {}, false, 0},
		{"work", (*service).work, false, 8},
		{"the clock was set", func(s *service) { s.started++ }, false, 0},
		{"began again", (*service).restart, true, 0},
		{"began again and worked", func(s *service) { s.restart(); s.work() }, true, 8},
		{"began again and did more than before", func(s *service) { s.restart(); s.work(); s.work() }, true, 16},
		{"began again at once", func(s *service) { s.restart(); s.started -= 100 }, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService().load()
			s.work()
			before := sampleOf(t, s.text(), day)
			test.change(s)
			row := newRow("a", before, sampleOf(t, s.text(), day.Add(time.Second)))
			assert.Equal(t, test.want, row.Restarted)
			assert.Equal(t, test.wantRecords, row.numbers[records])
		})
	}
}

func TestUnreadableMetrics(t *testing.T) {
	whole := newService().load().text()
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "these are not dragoman's metrics"},
		{"another service's", "# TYPE up gauge\nup 1\n", "these are not dragoman's metrics"},
		{"a page", "<!doctype html><title>Sign in</title>", "cannot be parsed: text format parsing error in line 1"},
		{"bytes", "\x1f\x8b\x00\xff\n", "cannot be parsed"},
		{"cut within a line", strings.TrimSuffix(whole, "\n"), "unexpected end of input stream"},
		{"no number", "dragoman_ready yes\n", `expected float as value, got "yes"`},
		{"a label without a name", "# TYPE dragoman_ready gauge\n{a=\"b\"} 1\n", "cannot be parsed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := readSample(test.text)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

// Numbers that cannot be are unknown; all others are read.
func TestOddNumbers(t *testing.T) {
	const frame = "dragoman_ready 1\ndragoman_workers 2\n"
	for _, test := range []struct {
		name, text string
		read       func(s *sample) float64
		want       float64
	}{
		{"missing", "", func(s *sample) float64 { return s.numbers[steps] }, math.NaN()},
		{"no events yet", "", func(s *sample) float64 { return s.numbers[answered] }, 0},
		{"untyped", "dragoman_steps_total 3\n", func(s *sample) float64 { return s.numbers[steps] }, 3},
		{"added up", "dragoman_steps_total{worker=\"0\"} 3\ndragoman_steps_total{worker=\"1\"} 4\n", func(s *sample) float64 { return s.numbers[steps] }, 7},
		{"not a number", "dragoman_steps_total NaN\n", func(s *sample) float64 { return s.numbers[steps] }, math.NaN()},
		{"infinite", "dragoman_steps_total +Inf\n", func(s *sample) float64 { return s.numbers[steps] }, math.NaN()},
		{"negative", "dragoman_steps_total -1\n", func(s *sample) float64 { return s.numbers[steps] }, math.NaN()},
		{"too large together", "dragoman_steps_total{worker=\"0\"} 1e308\ndragoman_steps_total{worker=\"1\"} 1e308\n",
			func(s *sample) float64 { return s.numbers[steps] }, math.NaN()},
		{"a histogram that is none", "dragoman_stage_duration_seconds{stage=\"queue\"} 1\n",
			func(s *sample) float64 { return s.numbers[queueing] }, math.NaN()},
		{"a number that is a histogram", "# TYPE dragoman_steps_total histogram\ndragoman_steps_total_count 3\n",
			func(s *sample) float64 { return s.numbers[steps] }, math.NaN()},
		{"a histogram without buckets", "# TYPE dragoman_stage_duration_seconds histogram\n" +
			"dragoman_stage_duration_seconds_count{stage=\"queue\"} 3\ndragoman_stage_duration_seconds_sum{stage=\"queue\"} 1.5\n",
			func(s *sample) float64 { return s.numbers[queueing] }, 1.5},
		{"a share of an observation", "# TYPE dragoman_stage_duration_seconds histogram\ndragoman_stage_duration_seconds_count{stage=\"queue\"} 2.5\n",
			func(s *sample) float64 { return s.numbers[queued] }, 2.5},
		{"a bucket without a bound", "# TYPE dragoman_stage_duration_seconds histogram\ndragoman_stage_duration_seconds_bucket{stage=\"queue\",le=\"NaN\"} 2\n",
			func(s *sample) float64 { return s.queue.quantile(.5) }, math.NaN()},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.read(sampleOf(t, frame+test.text, day))
			if math.IsNaN(test.want) {
				assert.True(t, math.IsNaN(got), "%v", got)
				return
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// short is a part of metrics: the fuzzer is slow with long texts.
const short = `dragoman_ready 1
dragoman_steps_total{worker="0"} 100
# TYPE dragoman_http_request_duration_seconds histogram
dragoman_http_request_duration_seconds_bucket{class="2xx",route="/translation",le="0.1"} 4
dragoman_http_request_duration_seconds_bucket{class="2xx",route="/translation",le="+Inf"} 5
dragoman_http_request_duration_seconds_sum{class="2xx",route="/translation"} 0.4
dragoman_http_request_duration_seconds_count{class="2xx",route="/translation"} 5
`

// several are metrics of two models, one of which has a name for terminals.
const several = `dragoman_model_state{model="a",version="1",state="ready"} 1
dragoman_model_state{model="` + "\x1b" + `[2J\n",version="10",state="broken"} 1
dragoman_model_loads_total{model="a",version="1",outcome="loaded"} 7
dragoman_steps_total{model="a",version="1",worker="0"} 70
`

// FuzzMetrics looks for answers that a monitor cannot stand.
func FuzzMetrics(f *testing.F) {
	f.Add(short, strings.ReplaceAll(short, "5", "9"))
	f.Add(short, "dragoman_ready 1\n")
	f.Add("", "<html>")
	f.Add("dragoman_ready 1\n", "dragoman_ready NaN\nprocess_resident_memory_bytes 1e308\n")
	f.Add("# TYPE dragoman_ready gauge\n{a=\"b\"} 1\n", "{}")
	f.Add(short+several, strings.ReplaceAll(short+several, "7", "3"))
	f.Add("dragoman_ready 1\n# TYPE dragoman_stage_duration_seconds histogram\ndragoman_stage_duration_seconds_bucket{stage=\"queue\",le=\"0\"} 9\n",
		"dragoman_ready 1\n# TYPE dragoman_stage_duration_seconds histogram\ndragoman_stage_duration_seconds_bucket{stage=\"queue\",le=\"-1\"} 9\n"+
			"dragoman_stage_duration_seconds_bucket{stage=\"queue\",le=\"+Inf\"} 1e300\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		var earlier *sample
		for i, text := range []string{first, second, first} {
			now, err := readSample(text)
			round := Round{Time: day, Rows: []Row{unknownRow("b", day, assert.AnError)}}
			if err == nil {
				now.time = day.Add(time.Duration(i) * time.Second)
				row := newRow("a", earlier, now)
				for _, c := range row.numbers[:counters] {
					assert.False(t, c < 0 || math.IsInf(c, 0), "%v", c)
				}
				round.Rows, earlier = append(round.Rows, row), now
			} else {
				require.NotEmpty(t, oneLine(err).Error())
				assert.NotContains(t, oneLine(err).Error(), "\n")
			}
			var csv, lines strings.Builder
			require.NoError(t, NewCSV(&csv).Put(round))
			require.NoError(t, NewTable(&lines, false).Put(round))
			want := len(round.Rows)
			for _, r := range round.Rows {
				want += len(r.Models)
			}
			assert.Equal(t, 1+want, strings.Count(csv.String(), "\n"))
			assert.Equal(t, 2+want, strings.Count(lines.String(), "\n"))
		}
	})
}
