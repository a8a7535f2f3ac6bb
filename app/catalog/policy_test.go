package catalog

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// at is a time on the tests' clock.
func at(second int64) time.Time { return time.Unix(second, 0) }

func TestMakeRoom(t *testing.T) {
	now := at(10)
	old := resident{bytes: 10, last: at(1), since: at(1)}
	young := resident{bytes: 10, last: at(2), since: at(2)}
	busy := resident{bytes: 10, users: 1, last: at(9), since: at(3)}
	with := func(r resident, change func(*resident)) resident {
		change(&r)
		return r
	}
	pinned := with(old, func(r *resident) { r.pinned = true })
	reserved := with(old, func(r *resident) { r.reserved = true })
	fresh := with(busy, func(r *resident) { r.since, r.took = at(4), 3*time.Second }) // of 12 s that it stays, 6 are left
	draining := with(busy, func(r *resident) { r.drains = true })
	closing := with(old, func(r *resident) { r.drains, r.closes = true, true })
	memory := func(numbers ...int) (list []departure) {
		for _, n := range numbers {
			list = append(list, departure{n, forMemory})
		}
		return list
	}
	for name, test := range map[string]struct {
		all   []resident
		lacks int64
		turns bool
		leave []departure
		after time.Duration
	}{
		"nobody is there":                         {nil, 1, true, nil, 0},
		"nothing lacks":                           {[]resident{old}, 0, true, nil, 0},
		"the least recently used":                 {[]resident{young, old}, 10, true, memory(1), 0},
		"as many as it takes":                     {[]resident{young, old, busy}, 11, true, memory(1, 0), 0},
		"one that uses nothing is no help":        {[]resident{pinned, young}, 10, true, memory(1), 0},
		"one is being closed":                     {[]resident{closing, young}, 10, true, nil, 0},
		"one is being closed, which is too small": {[]resident{closing, young}, 11, true, memory(1), 0},
		"one drains, and another is idle":         {[]resident{draining, young}, 10, true, memory(1), 0},
		"one drains, and no other is idle":        {[]resident{draining, busy}, 10, true, nil, 0},
		"the one that has been there the longest": {[]resident{fresh, busy}, 10, true, []departure{{1, forTurns}}, 0},
		"what is in use, without turns":           {[]resident{busy}, 10, false, nil, 0},
		"not for long enough":                     {[]resident{fresh}, 10, true, nil, 6 * time.Second},
		"idle first, then not for long enough":    {[]resident{with(fresh, func(r *resident) { r.took = time.Hour }), old}, 20, true, memory(1), 4*time.Hour - 6*time.Second},
		"reserved ones last":                      {[]resident{reserved, busy}, 10, true, []departure{{1, forTurns}}, 0},
		"reserved ones where there is no other":   {[]resident{reserved}, 10, true, []departure{{0, forTurns}}, 0},
		"pinned ones never":                       {[]resident{pinned}, 10, true, nil, 0},
	} {
		leave, after := makeRoom(now, test.all, test.lacks, test.turns)
		assert.Equal(t, test.leave, leave, name)
		assert.Equal(t, test.after, after, name)
	}
}

func TestDecide(t *testing.T) {
	now := at(10)
	idle := resident{bytes: 5, last: at(1), since: at(1)}
	used, drains := resident{bytes: 5, users: 1, since: at(1)}, resident{bytes: 5, users: 1, drains: true}
	joint, fresh := resident{users: 1, joint: true}, resident{users: 1, since: at(10)}
	first := func(why reason) []departure { return []departure{{0, why}} }
	second := func(why reason) []departure { return []departure{{1, why}} }
	for name, test := range map[string]struct {
		a    arrival
		all  []resident
		want decision
	}{
		"there is memory":                     {arrival{}, []resident{used}, decision{load: true}},
		"more than enough":                    {arrival{lacks: -7}, []resident{idle}, decision{load: true}},
		"an idle one leaves for its memory":   {arrival{lacks: 1}, []resident{used, idle}, decision{leave: second(forMemory)}},
		"turns":                               {arrival{lacks: 1}, []resident{used}, decision{leave: first(forTurns)}},
		"one is there for too short":          {arrival{lacks: 1}, []resident{fresh}, decision{after: time.Second}},
		"memory is being given back":          {arrival{lacks: 1}, []resident{drains}, decision{}},
		"a device with nobody on it":          {arrival{device: true}, nil, decision{never: true}},
		"one has left the device":             {arrival{device: true, beside: 2}, []resident{used}, decision{load: true}},
		"none has yet":                        {arrival{device: true, beside: 1}, []resident{drains}, decision{}},
		"an idle one on the device":           {arrival{device: true, beside: 2}, []resident{used, idle}, decision{leave: second(forMemory)}},
		"one at a time":                       {arrival{device: true, beside: 2}, []resident{idle, idle}, decision{leave: first(forMemory)}},
		"one is being closed":                 {arrival{device: true, beside: 2}, []resident{idle, {drains: true, closes: true}}, decision{}},
		"one drains":                          {arrival{device: true, beside: 2}, []resident{used, drains}, decision{}},
		"one in use":                          {arrival{device: true, beside: 1}, []resident{used}, decision{leave: first(forTurns)}},
		"one in use for too short":            {arrival{device: true, beside: 1}, []resident{fresh}, decision{after: time.Second}},
		"needed together with what comes":     {arrival{device: true, beside: 1}, []resident{joint}, decision{never: true}},
		"needed together, and another is not": {arrival{device: true, beside: 2}, []resident{joint, used}, decision{leave: second(forTurns)}},
		"pinned":                              {arrival{device: true, beside: 1}, []resident{{pinned: true}}, decision{never: true}},
	} {
		assert.Equal(t, test.want, decide(now, test.a, test.all), name)
	}
}

func TestIdle(t *testing.T) {
	for name, test := range map[string]struct {
		r    resident
		want time.Duration
	}{
		"in use":   {resident{users: 1, keep: time.Second}, never},
		"leaves":   {resident{drains: true, keep: time.Second}, never},
		"pinned":   {resident{pinned: true, keep: time.Second}, never},
		"for ever": {resident{}, never},
		"for long": {resident{keep: 3 * time.Second, last: at(4)}, -3 * time.Second},
		"not yet":  {resident{keep: 7 * time.Second, last: at(4)}, time.Second},
	} {
		assert.Equal(t, test.want, test.r.idle(at(10)), name)
	}
}

// For random states, no instance is unloaded twice or against the rules, and no more than necessary.
func TestMakeRoomHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	chance := func() bool { return r.IntN(3) == 0 }
	for range 10_000 {
		all := make([]resident, r.IntN(6))
		for n := range all {
			all[n] = resident{
				bytes: r.Int64N(5), users: r.IntN(3) / 2, pinned: chance(), reserved: chance(), drains: chance(),
				last: at(r.Int64N(9)), since: at(r.Int64N(3) + 8),
			}
			all[n].closes = all[n].drains && all[n].users == 0
		}
		lacks, turns := r.Int64N(12), r.IntN(2) == 0
		leave, after := makeRoom(at(10), all, lacks, turns)
		gone, freed := make(map[int]bool), int64(0)
		for _, x := range all {
			if x.closes {
				freed += x.bytes
			}
		}
		for _, d := range leave {
			x := all[d.number]
			assert.False(t, gone[d.number] || x.pinned || x.drains || x.users > 0 && (!turns || x.stays(at(10)) > 0))
			assert.Less(t, freed, lacks, "enough had gone before")
			gone[d.number] = true
			freed += x.bytes
		}
		for n, x := range all {
			if freed < lacks && after == 0 && x.users == 0 && !x.reserved && !x.pinned && !x.drains {
				assert.True(t, gone[n], "an idle one stays, and there is too little")
			}
		}
	}
}
