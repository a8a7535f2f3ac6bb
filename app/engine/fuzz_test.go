package engine

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	cfg := config(s.toy)
	cfg.Rows, cfg.PrefillTokens = 1+s.next()%12, 1+s.next()
	cfg.Aging = time.Duration(s.next()) * time.Millisecond
	if cfg.Memory = int64(s.next()) * 100; cfg.Memory > 0 {
		cfg.Memory += cfg.largest().bytes
	}
	require.NoError(t, cfg.validate())
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
	s.loop = newLoop(cfg, newMailbox(5, 120), &board{})
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

func (s *script) submit(arg int) {
	req, numbers := Request{Priority: Priority(arg/16%3 - 1)}, []int(nil)
	for i := range 1 + arg/64 {
		n := (arg + i*i) % len(s.pool.jobs)
		req.Jobs, numbers = append(req.Jobs, s.pool.jobs[n]), append(numbers, n)
	}
	c := newCall(req, s.toy.footprint)
	if s.loop.mailbox.post(c, math.MaxInt) == nil {
		s.calls = append(s.calls, &fuzzCall{call: c, jobs: numbers})
	}
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
		select {
		case err := <-c.failed:
			assert.True(s.t, c.cancelled || s.faced, "call %d: %v", i, err)
		default:
			assert.Len(s.t, c.ready, len(c.jobs), "call %d has not all results", i)
		}
		for range len(c.ready) {
			j := <-c.ready
			assert.Equal(s.t, s.pool.want[c.jobs[j]], c.results[j].Result, "call %d, job %d", i, j)
		}
	}
	s.loop.closeBatch()
	s.toy.check(s.t)
}

// check compares every count that the loop keeps with what it counts.
func (s *script) check() {
	t, l := s.t, s.loop
	require.Equal(t, l.queue.len()+len(l.active), len(l.sequences))
	var reserved cost
	for slot, q := range l.active {
		require.Same(t, q, l.sequences[q.key])
		require.Equal(t, slot, q.slot)
		require.False(t, q.waits())
		reserved.rows, reserved.bytes = reserved.rows+q.cost.rows, reserved.bytes+q.cost.bytes
	}
	require.Equal(t, budget{l.budget.rows, l.budget.bytes, len(l.active), reserved}, l.budget)
	if len(l.active) > 1 {
		require.LessOrEqual(t, reserved.rows, l.budget.rows)
	}
	if l.budget.bytes > 0 {
		require.LessOrEqual(t, reserved.bytes, l.budget.bytes)
	}
	if l.batch != nil {
		require.Equal(t, l.batch.Len(), len(l.active))
	} else {
		require.Empty(t, l.active)
	}
	tokens := 0
	for i, q := range l.queue.heap {
		require.Same(t, q, l.sequences[q.key])
		require.Equal(t, i, q.index)
		require.Equal(t, outside, q.slot)
		require.NotEmpty(t, q.waiters, "nobody waits for it")
		tokens += len(q.job.Source)
	}
	s.checkCalls(tokens)
}

// checkCalls checks the calls' counts and the mailbox's. tokens wait in the queue.
func (s *script) checkCalls(tokens int) {
	requests := 0
	for _, c := range s.calls {
		queued, pending := 0, 0
		for _, q := range c.sequences {
			for _, w := range q.waiters {
				if w.call != c.call {
					continue
				}
				pending++
				if q.waits() {
					queued++
				}
				break
			}
		}
		switch {
		case !c.received:
			tokens += c.tokens
			requests++
		case c.finished:
			require.Zero(s.t, queued+pending, "it still waits")
		default:
			require.Equal(s.t, c.queued, queued)
			require.Equal(s.t, c.pending, pending)
			requests += min(1, queued)
		}
	}
	gotRequests, gotTokens, _ := s.loop.mailbox.load()
	require.Equal(s.t, []int{requests, tokens}, []int{gotRequests, gotTokens})
}
