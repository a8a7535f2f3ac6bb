package engine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/schedule"
	"dragoman/model"
)

// FuzzSchedule plays a script of requests, cancellations, rounds and failures of
// the model to the loop, and checks its books after each.
func FuzzSchedule(f *testing.F) {
	for _, script := range []string{
		"", "\x03\x00\x00", "aZ0bZ1cZ2dddd", "\x02\x01\x09\x00\x05\x00\x06\x00\x07\x02\x02\x01\x00\x02\x02",
		"\x04\x00\x00\x00\x11\x00\x12\x02\x03\x00\x02\x00\x13\x02", // a step fails
		"\x01\x01\x05\x00\x2b\x00\x2b\x02\x01\x00\x02\x01\x00\x02", // shared, both cancelled
	} {
		f.Add([]byte(script))
	}
	jobs := newPool(f, 16)
	f.Fuzz(func(t *testing.T, script []byte) {
		s := newScript(t, jobs, script)
		for len(s.script) > 0 && s.ops < 300 {
			s.play()
			s.check()
		}
		s.end()
	})
}

// script drives a loop, without a goroutine, by the bytes of a script.
type script struct {
	t      *testing.T
	pool   pool
	script []byte
	ops    int

	toy   *toy
	loop  *loop
	calls []*fuzzCall
	fault byte // what fails next, and how
	faced bool // something failed
}

type fuzzCall struct {
	*call
	jobs      []int // of the pool
	cancelled bool
	received  bool // by the loop
}

func newScript(t *testing.T, jobs pool, bytes []byte) *script {
	s := &script{t: t, pool: jobs, script: bytes, toy: newToy()}
	cfg := config()
	cfg.Rows, cfg.PrefillTokens = 1+s.next()%12, 1+s.next()
	if cfg.Memory = int64(s.next()) * 100; cfg.Memory > 0 {
		cfg.Memory += cfg.largest(s.toy).Bytes
	}
	require.NoError(t, cfg.validate(s.toy))
	hook := func(what byte) error {
		if s.fault&3 != what {
			return nil
		}
		panics := s.fault&4 != 0
		s.fault, s.faced = 0, true
		if panics {
			panic(errBoom)
		}
		return errBoom
	}
	s.toy.onJoin = func([][]int64) error { return hook(1) }
	s.toy.onStep = func([]model.Feed) error { return hook(2) }
	s.toy.onNew = func() error { return hook(3) }
	s.loop = newLoop(cfg, s.toy, idle(s.toy))
	return s
}

// next is the next byte of the script, 0 after its end.
func (s *script) next() int {
	if len(s.script) == 0 {
		return 0
	}
	b := s.script[0]
	s.script = s.script[1:]
	return int(b)
}

// play does what the next bytes say.
func (s *script) play() {
	s.ops++
	switch op, arg := s.next()%4, s.next(); op {
	case 0:
		s.submit(arg)
	case 1:
		if len(s.calls) > 0 {
			if c := s.calls[arg%len(s.calls)]; !c.cancelled {
				c.cancelled = true
				s.loop.mailbox.cancel(c.call)
			}
		}
	case 2:
		for range 1 + arg%8 {
			s.round()
		}
	case 3:
		s.fault = byte(arg)
	}
}

// submit has a call of a caller, new or there already, wait for some more jobs.
func (s *script) submit(arg int) {
	var jobs []Job
	var numbers []int
	for i := range 1 + arg/64 {
		n := (arg + i*i) % len(s.pool.jobs)
		jobs, numbers = append(jobs, s.pool.jobs[n]), append(numbers, n)
	}
	req := Request{Priority: Priority(arg/16%3 - 1), Caller: string(rune('a' + arg%3)), Tokens: arg % 7}
	c := post(s.loop, req, jobs...)
	c.session.short = 3 // some are long
	s.calls = append(s.calls, &fuzzCall{call: c, jobs: numbers})
}

func (s *script) round() {
	s.loop.round(s.t.Context())
	for _, c := range s.calls {
		c.received = true
	}
}

// end plays on until nothing is left, which must not take longer than decoding
// every sentence alone, and looks at what the calls were told.
func (s *script) end() {
	s.round()
	for range len(s.calls) * 4 * 60 {
		if len(s.loop.sequences) == 0 {
			break
		}
		s.round()
	}
	s.check()
	require.Empty(s.t, s.loop.sequences, "still not done")
	for i, c := range s.calls {
		told := make(map[int]bool)
		for _, o := range c.session.Session.Results() {
			assert.False(s.t, told[o.Job], "call %d, job %d has two outcomes", i, o.Job)
			told[o.Job] = true
			if o.Err != nil {
				assert.True(s.t, s.faced, "call %d: %v", i, o.Err)
			} else {
				assert.Equal(s.t, s.pool.want[c.jobs[o.Job]], o.Result.Result, "call %d, job %d", i, o.Job)
			}
		}
		if !c.cancelled {
			assert.Len(s.t, told, len(c.jobs), "call %d has not all outcomes", i)
		}
	}
	s.loop.batch.shut(s.loop.cfg.Log)
	s.toy.check(s.t)
}

// check compares every count that the loop keeps with what it counts.
func (s *script) check() {
	t, l := s.t, s.loop
	require.Equal(t, l.queue.Len()+len(l.batch.active)+len(l.batch.begun), len(l.sequences))
	want := schedule.Batch{Rows: l.cfg.Rows, Bytes: l.cfg.Memory}
	for _, q := range slices.Concat(l.batch.active, l.batch.begun) {
		require.Same(t, q, l.sequences[q.key])
		require.False(t, q.Waits)
		want.Sentences++
		want.ReservedRows, want.ReservedBytes = want.ReservedRows+q.Rows, want.ReservedBytes+q.Bytes
	}
	for slot, q := range l.batch.active {
		require.Equal(t, slot, q.slot)
	}
	for _, q := range l.batch.begun {
		require.Equal(t, outside, q.slot)
	}
	require.Equal(t, len(l.sequences), l.arrivals.Len())
	require.Equal(t, want, l.rounds.Batch)
	if want.Sentences > 1 {
		require.LessOrEqual(t, want.ReservedRows, schedule.RowsFor(want.Rows))
	}
	if want.Bytes > 0 {
		require.LessOrEqual(t, want.ReservedBytes, want.Bytes)
	}
	if l.batch.Batch != nil {
		require.Equal(t, l.batch.Len(), len(l.batch.active))
	} else {
		require.Empty(t, l.batch.active)
	}
	tokens, waiting := 0, 0
	for key, q := range l.sequences {
		require.Equal(t, key, q.key)
		if !q.Waits {
			continue
		}
		require.Equal(t, outside, q.slot)
		require.NotEmpty(t, q.waiters, "nobody waits for it")
		tokens += len(q.job.Source)
		waiting++
	}
	require.Equal(t, waiting, l.queue.Len())
	s.checkCalls(tokens)
}

// checkCalls checks the calls' counts and the mailbox's. tokens wait in the queue.
func (s *script) checkCalls(tokens int) {
	calls := 0
	for _, c := range s.calls {
		if !c.received {
			for _, job := range c.jobs {
				tokens += len(s.pool.jobs[job].Source)
			}
			continue
		}
		queued := 0
		for q, w := range c.waits {
			require.Same(s.t, w, q.waiters[w.index])
			require.Same(s.t, c.call, w.call)
			if q.Waits {
				queued++
			}
		}
		require.Equal(s.t, c.queued, queued)
		require.True(s.t, c.ended == nil || len(c.waits) == 0, "it still waits")
		calls += min(1, queued)
	}
	require.Equal(s.t, calls, s.loop.waiting)
	require.EqualValues(s.t, tokens, s.loop.mailbox.tokens.Load())
}
