package device_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/device"
	"dragoman/model/modeltest"
	"dragoman/model/ort/orttest"
	"dragoman/model/search"
)

// load loads ONNX Runtime once for the process, which never unloads it. Package ort
// loads it as well, as in the service.
var load = sync.OnceValues(func() (*device.Runtime, error) { return device.Load(orttest.Library()) })

func runtime(t testing.TB) *device.Runtime {
	t.Helper()
	orttest.Runtime(t)
	r, err := load()
	require.NoError(t, err)
	return r
}

// open exports a checkpoint and opens it on the CPU; the model is closed when the test
// ends.
func open(t testing.TB, checkpoint string, precision model.Precision) *device.Model {
	t.Helper()
	return openWith(t, checkpoint, precision, device.Options{})
}

func openWith(t testing.TB, checkpoint string, precision model.Precision, opts device.Options) *device.Model {
	t.Helper()
	r := runtime(t)
	opts.Kind = device.Host
	m, err := r.Open(device.Exported(t, checkpoint, precision), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// job is a sentence and how to search its translation.
type job struct {
	modeltest.Case
	opts search.Options
}

// decode translates jobs in one batch. Before each step, as many sentences join as room
// says, which is told how many are in the batch.
func decode(t testing.TB, m model.Model, jobs []job, room func(running int) int) []search.Result {
	t.Helper()
	limits := model.Limits{MaxLength: 1}
	for _, j := range jobs {
		limits.Rows = min(limits.Rows+j.opts.Beams, 110)
		limits.MaxLength = max(limits.MaxLength, j.opts.MaxLength)
	}
	b, err := m.NewBatch(limits)
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()

	d := &decoder{t: t, batch: b, results: make([]search.Result, len(jobs))}
	for next := 0; next < len(jobs) || b.Len() > 0; {
		n := max(min(room(b.Len()), len(jobs)-next), 0)
		d.join(m.Spec(), jobs[next:][:n], next)
		next += n
		if b.Len() > 0 {
			d.step()
		}
	}
	return d.results
}

// decoder is the state of decode: the sequences of the batch's slots.
type decoder struct {
	t         testing.TB
	batch     model.Batch
	results   []search.Result
	sequences []*search.Sequence
	slots     []int // the job in each slot
}

func (d *decoder) join(spec model.Spec, jobs []job, first int) {
	var sources [][]int64
	for i, j := range jobs {
		s, err := search.NewSequence(j.opts, j.Prefix, spec.EOS, spec.VocabSize)
		require.NoError(d.t, err)
		d.sequences, d.slots = append(d.sequences, s), append(d.slots, first+i)
		sources = append(sources, j.Source)
	}
	if len(sources) > 0 {
		require.NoError(d.t, d.batch.Join(context.Background(), sources))
	}
}

func (d *decoder) step() {
	var feeds []model.Feed
	var first []int
	k, rows := 0, 0
	for _, s := range d.sequences {
		feeds, first, k = append(feeds, s.Feed()), append(first, rows), max(k, s.Candidates())
		rows += s.Rows()
	}
	c, err := d.batch.Step(context.Background(), feeds, k)
	require.NoError(d.t, err)
	for i := len(d.sequences) - 1; i >= 0; i-- {
		done, err := d.sequences[i].Advance(c, first[i])
		require.NoError(d.t, err)
		if !done {
			continue
		}
		d.results[d.slots[i]] = d.sequences[i].Result()
		last := len(d.sequences) - 1
		d.sequences[i], d.slots[i] = d.sequences[last], d.slots[last]
		d.sequences, d.slots = d.sequences[:last], d.slots[:last]
		d.batch.Leave(i)
	}
}
