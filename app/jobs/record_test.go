package jobs

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/text/markup"
	"dragoman/app/text/wrap"
	"dragoman/app/translate"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)

// newRecord returns a job of two slices.
func newRecord(webhook string) *Record {
	return NewRecord(Draft{ID: "a", Request: Request{Request: translate.Request{To: []string{"fr"}}, Webhook: webhook}, Input: make([][]byte, 2)}, time.Hour, begin)
}

// The possible events of a job, and the states after them. The holder of the last claim makes each step.
func TestStates(t *testing.T) {
	const refused = "refused"
	for name, test := range map[string]struct {
		webhook string
		steps   string // events, with the state after each
	}{
		"done":             {"", "claim running, save running, save running, done done"},
		"failed":           {"", "claim running, fail failed"},
		"cancelled early":  {"", "cancel cancelled"},
		"cancelled late":   {"", "claim running, save running, cancel cancelled"},
		"given back":       {"", "claim running, release running, save refused, claim running, save running, done done"},
		"nothing after":    {"", "claim running, done done, save refused, done refused, fail refused, renew refused, release refused, cancel refused, delivered refused"},
		"nothing before":   {"", "save refused, done refused, renew refused, release refused, delivered refused"},
		"cancelled twice":  {"", "cancel cancelled, cancel refused"},
		"not delivered":    {"", "claim running, delivered refused, renew running"},
		"delivered":        {"x", "claim running, done done, claim done, renew done, delivered done, renew refused, delivered refused"},
		"delivered late":   {"x", "cancel cancelled, claim cancelled, release cancelled, delivered refused, claim cancelled, delivered cancelled"},
		"no work any more": {"x", "claim running, fail failed, claim failed, save refused, done refused, cancel refused"},
	} {
		t.Run(name, func(t *testing.T) {
			r, claim, saved := newRecord(test.webhook), Claim{Queue: Work}, 0
			for step := range strings.SplitSeq(test.steps, ", ") {
				what, want, _ := strings.Cut(step, " ")
				before := *r
				var err error
				switch what {
				case "claim":
					claim = r.Claim(begin, time.Minute)
				case "save":
					_, err = r.Save(claim, saved, Tally{Results: 1}, begin)
					saved = r.Chunks
				case "done":
					err = r.End(claim, Done, nil, begin)
				case "fail":
					err = r.End(claim, Failed, &Problem{Code: "internal"}, begin)
				case "release":
					err = r.Release(claim, begin, time.Second)
				case "renew":
					err = r.Renew(claim, begin, time.Minute)
				case "delivered":
					err = r.Delivered(claim)
				case "cancel":
					err = r.Cancel(begin)
				}
				if want == refused {
					assert.Error(t, err, step)
					assert.Equal(t, before, *r, "%s: nothing has changed", step)
					continue
				}
				require.NoError(t, err, step)
				assert.Equal(t, State(want), r.State, step)
				assert.Equal(t, r.State.Ended(), !r.Expires.IsZero())
				assert.Equal(t, r.Queue == "", r.Due.IsZero())
			}
		})
	}
}

// Attempts are counted while the same record runs alone. Each attempt doubles the time for which the job is left to others.
func TestTry(t *testing.T) {
	const lease = time.Minute
	for name, test := range map[string]struct {
		steps        string // numbers of records; 0: none; c(laim), s(ave), r(elease), k(eep)
		alone, tries int
		due          time.Duration
	}{
		"none":           {"c", 0, 0, lease},
		"one":            {"c 3", 3, 1, lease},
		"twice":          {"c 3 c 3", 3, 2, 2 * lease},
		"again":          {"c 3 c 3 c 3", 3, 3, 4 * lease},
		"survives":       {"c 3 c 3 1", 1, 1, lease},
		"another dies":   {"c 3 c 3 1 c 1 2", 2, 1, lease},
		"others' turn":   {"c 3 c 3 0", 0, 0, lease},
		"saved":          {"c 3 c 3 s", 0, 0, 2 * lease},
		"given back":     {"c 3 c 3 r c", 3, 1, lease},
		"renewed":        {"c 3 c 3 k", 3, 2, 2 * lease},
		"claimed, alone": {"c 3 c", 3, 1, lease},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord("")
			var c Claim
			for step := range strings.FieldsSeq(test.steps) {
				var err error
				switch step {
				case "c":
					c = r.Claim(begin, lease)
				case "s":
					_, err = r.Save(c, 0, Tally{}, begin)
				case "r":
					err = r.Release(c, begin, 0)
				case "k":
					err = r.Renew(c, begin, lease)
				default:
					err = r.Try(c, int(step[0]-'0'), begin, lease)
				}
				require.NoError(t, err, step)
			}
			assert.Equal(t, test.alone, r.Alone)
			assert.Equal(t, test.tries, r.Tries)
			assert.Equal(t, stamp(begin.Add(test.due)), r.Due)
		})
	}
	r := newRecord("x")
	c := r.Claim(begin, lease)
	require.NoError(t, r.End(c, Done, nil, begin))
	require.ErrorIs(t, r.Try(c, 1, begin, lease), ErrLost)
	require.ErrorIs(t, r.Try(r.Claim(begin, lease), 1, begin, lease), ErrLost, "there is nothing to translate any more")
}

func TestExpired(t *testing.T) {
	r := newRecord("")
	assert.False(t, r.Expired(begin.Add(1000*time.Hour)), "what has not ended stays")
	require.NoError(t, r.Cancel(begin))
	assert.False(t, r.Expired(begin.Add(time.Hour-2*time.Millisecond)))
	assert.True(t, r.Expired(begin.Add(time.Hour)))
}

// Later versions read stored records: if this test fails, they must read both forms.
func TestStoredForm(t *testing.T) {
	penalty, size := 1.5, 3
	r := NewRecord(Draft{
		ID: "a", Owner: "alice", Key: "key", Fingerprint: "print", Bytes: 7,
		Request: Request{
			Request: translate.Request{
				From: "en", To: []string{"fr", "de"}, Model: "m", Caller: "alice", Priority: translate.Low, Format: translate.HTML,
				Whole: true, Wrapped: true, Wrap: wrap.Auto, Once: true, Alternatives: 2, Outline: markup.Outline{Splitting: []string{"a"}, NonSplitting: []string{"b"}, Undetected: true, Lines: true}, Flagged: true,
				Options: translate.Options{Beams: 1, MaxLength: 2, LengthPenalty: &penalty, NoRepeatNgramSize: &size, RepetitionPenalty: &penalty},
			},
			Detail: true, Languages: true, Webhook: "https://example.com",
		},
		Progress: Progress{Records: 4, Characters: 9}, Input: make([][]byte, 2),
		Document: &Document{Name: "n.csv", Kind: "csv", Bytes: 5, Parts: 1, Columns: []string{"text"}, Header: "auto", HeaderKept: true, Kept: 2, Wrapped: "on", Also: []string{"alt"}, Secret: "s"},
	}, time.Hour, begin)
	c := r.Claim(begin, time.Minute)
	require.NoError(t, r.End(c, Failed, &Problem{Code: "unfinished", Field: "payload.records[3].text", Message: "no end"}, begin))
	got, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/record.json")
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(string(want)), string(got))
	var read Record
	require.NoError(t, json.Unmarshal(want, &read))
	assert.Equal(t, *r, read)

	// A list reads only the fields that it shows.
	head, err := ParseHead(want)
	require.NoError(t, err)
	read.Request, read.Document = Request{}, &Document{Name: "n.csv", Kind: "csv", Bytes: 5, HeaderKept: true, Kept: 2}
	assert.Equal(t, read, *head)
	_, err = ParseHead([]byte("["))
	assert.ErrorContains(t, err, "cannot be read")
}

// A list reads the same amount of jobs of any size.
func TestHeadsAreSmall(t *testing.T) {
	allocated := func(columns int) float64 {
		r := NewRecord(Draft{Document: &Document{Columns: make([]string, columns)}, Request: Request{Request: translate.Request{Terms: make([]translate.Term, columns)}}}, time.Hour, begin)
		raw, err := json.Marshal(r)
		require.NoError(t, err)
		return testing.AllocsPerRun(3, func() { _, _ = ParseHead(raw) })
	}
	assert.InDelta(t, allocated(1), allocated(10_000), 10)
}

func TestSlices(t *testing.T) {
	of := func(lengths ...int) (records []translate.Record) {
		for _, n := range lengths {
			records = append(records, translate.Record{ID: "é\x00<", Text: strings.Repeat("é", n)})
		}
		return records
	}
	for name, test := range map[string]struct {
		records []translate.Record
		want    []int // records of each slice
	}{
		"none":             {nil, nil},
		"one":              {of(0), []int{1}},
		"as many as fit":   {of(10_000, 10_000, 1), []int{2, 1}},
		"one that is long": {of(5, 100_000, 5), []int{1, 1, 1}},
		"long at first":    {of(100_000, 5), []int{1, 1}},
		"many":             {of(make([]int, 600)...), []int{256, 256, 88}},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := slicesOf(test.records)
			require.NoError(t, err)
			var got []int
			var all []translate.Record
			for _, raw := range stored {
				s, err := parseSlice(raw)
				require.NoError(t, err)
				assert.Equal(t, len(all), s.First)
				all, got = append(all, s.Records...), append(got, len(s.Records))
			}
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.records, all)
		})
	}
	_, err := parseSlice([]byte("x"))
	assert.Error(t, err)
}

// A job that a request awaits is claimed from its start until the request has its results.
func TestAwaited(t *testing.T) {
	made := func() (*Record, Claim) {
		r := NewRecord(Draft{ID: "a", Request: Request{Request: translate.Request{To: []string{"fr"}}}, Input: make([][]byte, 1), Lease: time.Minute}, time.Hour, begin)
		return r, Claim{Job: r.Job, Queue: Awaited, Token: 1}
	}
	r, c := made()
	assert.Equal(t, Running, r.State)
	assert.False(t, r.Abandoned(begin))
	assert.True(t, r.Abandoned(begin.Add(time.Minute)))
	require.NoError(t, r.Try(c, 0, begin, time.Minute))
	add, err := r.Save(c, 0, Tally{Results: 1}, begin)
	require.NoError(t, err)
	assert.True(t, add)
	require.ErrorIs(t, r.Delivered(c), ErrLost)
	require.NoError(t, r.End(c, Done, nil, begin))
	require.ErrorIs(t, r.End(c, Done, nil, begin), ErrLost)
	_, err = r.Save(c, 1, Tally{}, begin)
	require.ErrorIs(t, err, ErrLost)
	require.ErrorIs(t, r.Cancel(begin), ErrEnded)
	require.NoError(t, r.Renew(c, begin, time.Hour))
	assert.False(t, r.Abandoned(begin.Add(time.Minute)))
	require.NoError(t, r.Delivered(c))
	assert.False(t, r.Abandoned(begin.Add(time.Hour)), "it is like others now")
	assert.Equal(t, Done, r.State)

	r, c = made()
	require.NoError(t, r.Cancel(begin))
	assert.Empty(t, r.Queue)
	require.ErrorIs(t, r.Renew(c, begin, time.Hour), ErrLost)
}
