package modeltest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"dragoman/model"
	"dragoman/model/search"
)

// Job is a sentence with the options of its search.
type Job struct {
	Case
	Search search.Options
}

// MixedJobs returns jobs for the cases with alternating searches of 1, 5 and 2 beams, up to maxLength.
func MixedJobs(m model.Model, cases []Case, maxLength int) []Job {
	jobs := make([]Job, len(cases))
	for i, c := range cases {
		jobs[i] = Job{Case: c, Search: search.DefaultOptions(m.Spec().Generation)}
		jobs[i].Search.Beams, jobs[i].Search.MaxLength = []int{1, 5, 2}[i%3], maxLength
	}
	return jobs
}

// Decode translates jobs in one batch and returns their results in order. Before each step, room returns the number of sentences
// that may join, given the number in the batch. maxRows limits the batch's rows, and room must keep to the limit; 0 means room
// for all jobs.
func Decode(m model.Model, jobs []Job, maxRows int, room func(running int) int) ([]search.Result, error) {
	return decode(m, jobs, maxRows, room, nil)
}

func decode(m model.Model, jobs []Job, maxRows int, room func(running int) int, divide *rand.Rand) (_ []search.Result, err error) {
	limits := model.Limits{Rows: 1, MaxLength: 1}
	for _, j := range jobs {
		limits.Rows += j.Search.Beams
		limits.MaxLength = max(limits.MaxLength, j.Search.MaxLength)
	}
	if maxRows > 0 {
		limits.Rows = min(limits.Rows, maxRows)
	}
	b, err := m.NewBatch(limits)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r := NewRunner(b, m.Spec(), len(jobs))
	r.Divide = divide
	for next := 0; next < len(jobs) || b.Len() > 0; {
		n := max(min(room(b.Len()), len(jobs)-next), 0)
		if err := r.Join(jobs[next:][:n], next); err != nil {
			return nil, err
		}
		next += n
		if err := r.Step(); err != nil {
			return nil, err
		}
	}
	return r.Results, nil
}

// Runner searches the translations of the sentences in a batch that nothing else uses. It must be used by one goroutine.
type Runner struct {
	Results   []search.Result // of finished jobs, by number
	Jobs      []int           // the number of the job in each slot
	batch     model.Batch
	spec      model.Spec
	sequences []*search.Sequence // by slot
	// Divide, if set, makes the runner encode sources in pieces between steps, and leave sentences out of steps at random.
	Divide *rand.Rand
}

// NewRunner returns a runner for jobs with the numbers 0 to n-1.
func NewRunner(b model.Batch, spec model.Spec, n int) *Runner {
	return &Runner{Results: make([]search.Result, n), batch: b, spec: spec}
}

// Join lets jobs join the batch; first is the number of the first job.
func (r *Runner) Join(jobs []Job, first int) error {
	var sources [][]int64
	for i, j := range jobs {
		s, err := search.NewSequence(j.Search, search.Constraints{}, j.Prefix, r.spec)
		if err != nil {
			return fmt.Errorf("job %d: %w", first+i, err)
		}
		if r.Divide != nil {
			if err := r.encode(j.Source); err != nil {
				return fmt.Errorf("job %d: %w", first+i, err)
			}
		}
		r.sequences, r.Jobs = append(r.sequences, s), append(r.Jobs, first+i)
		sources = append(sources, j.Source)
	}
	if len(sources) == 0 || r.Divide != nil {
		return nil
	}
	return r.batch.Join(context.Background(), sources)
}

// encode lets a source join the batch between steps.
func (r *Runner) encode(source []int64) error {
	e, err := r.batch.Begin(context.Background(), source)
	for done := false; err == nil && !done; {
		if done, err = e.Continue(context.Background(), time.Duration(r.Divide.IntN(20_000))*time.Microsecond); err == nil && !done {
			err = r.Step()
		}
	}
	return err
}

// Step runs a decoder step of all sentences in the batch. Finished sentences leave.
func (r *Runner) Step() error {
	if len(r.sequences) == 0 {
		return nil
	}
	var feeds []model.Feed
	var first []int // row of each sentence
	k, rows := 0, 0
	for i, s := range r.sequences {
		if r.Divide != nil && r.Divide.IntN(3) == 0 && (rows > 0 || i < len(r.sequences)-1) {
			feeds, first = append(feeds, model.Feed{}), append(first, -1)
			continue
		}
		feeds, first, k = append(feeds, s.Feed()), append(first, rows), max(k, s.Candidates())
		rows += s.Rows()
	}
	c, err := r.batch.Step(context.Background(), feeds, k)
	if err != nil {
		return err
	}
	for i := len(r.sequences) - 1; i >= 0; i-- {
		if first[i] < 0 {
			continue
		}
		done, err := r.sequences[i].Advance(c, first[i])
		if err != nil {
			return fmt.Errorf("job %d: %w", r.Jobs[i], err)
		}
		if done {
			r.Results[r.Jobs[i]] = r.sequences[i].Result()
			r.Leave(i)
		}
	}
	return nil
}

// Leave removes the sentence in a slot. The last sentence takes its slot, as in the batch.
func (r *Runner) Leave(i int) {
	last := len(r.sequences) - 1
	r.sequences[i], r.Jobs[i] = r.sequences[last], r.Jobs[last]
	r.sequences, r.Jobs = r.sequences[:last], r.Jobs[:last]
	r.batch.Leave(i)
}
