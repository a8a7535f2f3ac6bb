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
	old := resident{bytes: 10, last: at(1), since: at(1)}
	young := resident{bytes: 10, last: at(2), since: at(2)}
	busy := resident{bytes: 10, used: true, last: at(9), since: at(3)}
	with := func(r resident, change func(*resident)) resident {
		change(&r)
		return r
	}
	pinned := with(old, func(r *resident) { r.pinned = true })
	reserved := with(old, func(r *resident) { r.reserved = true })
	fresh := with(busy, func(r *resident) { r.since, r.stays = at(4), time.Minute })
	draining := with(busy, func(r *resident) { r.draining = true })
	closing := with(old, func(r *resident) { r.draining, r.closes = true, true })
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
		"not for long enough":                     {[]resident{fresh}, 10, true, nil, time.Minute},
		"idle first, then not for long enough":    {[]resident{with(fresh, func(r *resident) { r.since = at(0) }), old}, 20, true, memory(1), time.Minute},
		"reserved ones last":                      {[]resident{reserved, busy}, 10, true, []departure{{1, forTurns}}, 0},
		"reserved ones where there is no other":   {[]resident{reserved}, 10, true, []departure{{0, forTurns}}, 0},
		"pinned ones never":                       {[]resident{pinned}, 10, true, nil, 0},
	} {
		leave, after := makeRoom(test.all, test.lacks, test.turns)
		assert.Equal(t, test.leave, leave, name)
		assert.Equal(t, test.after, after, name)
	}
}

func TestVacate(t *testing.T) {
	idle := resident{last: at(1), since: at(1)}
	for name, test := range map[string]struct {
		there []resident
		leave []departure
		after time.Duration
		ok    bool
	}{
		"nobody is there":                  {nil, nil, 0, false},
		"an idle one":                      {[]resident{{used: true}, idle}, []departure{{1, forMemory}}, 0, true},
		"one at a time":                    {[]resident{idle, idle}, []departure{{0, forMemory}}, 0, true},
		"one is being closed":              {[]resident{idle, {draining: true, closes: true}}, nil, 0, true},
		"one drains":                       {[]resident{{used: true}, {used: true, draining: true}}, nil, 0, true},
		"one in use":                       {[]resident{{used: true, stays: -time.Second}}, []departure{{0, forTurns}}, 0, true},
		"not for long enough":              {[]resident{{used: true, stays: time.Second}}, nil, time.Second, true},
		"needed together with what comes":  {[]resident{{used: true, joint: true}}, nil, 0, false},
		"needed together, and another one": {[]resident{{used: true, joint: true}, {used: true}}, []departure{{1, forTurns}}, 0, true},
		"pinned":                           {[]resident{{pinned: true}}, nil, 0, false},
	} {
		leave, after, ok := vacate(test.there)
		assert.Equal(t, test.leave, leave, name)
		assert.Equal(t, test.after, after, name)
		assert.Equal(t, test.ok, ok, name)
	}
}

// Whoever is there: nobody leaves twice, nor who may not, and no more than are needed.
func TestMakeRoomHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	chance := func() bool { return r.IntN(3) == 0 }
	for range 10_000 {
		all := make([]resident, r.IntN(6))
		for n := range all {
			all[n] = resident{
				bytes: r.Int64N(5), used: chance(), pinned: chance(), reserved: chance(), draining: chance(),
				last: at(r.Int64N(9)), since: at(r.Int64N(9)), stays: time.Duration(r.IntN(3)-1) * time.Second,
			}
			all[n].closes = all[n].draining && !all[n].used
		}
		lacks, turns := r.Int64N(12), r.IntN(2) == 0
		leave, after := makeRoom(all, lacks, turns)
		gone, freed := make(map[int]bool), int64(0)
		for _, x := range all {
			if x.closes {
				freed += x.bytes
			}
		}
		for _, d := range leave {
			x := all[d.number]
			assert.False(t, gone[d.number] || x.pinned || x.draining || x.used && (!turns || x.stays > 0))
			assert.Less(t, freed, lacks, "enough had gone before")
			gone[d.number] = true
			freed += x.bytes
		}
		for n, x := range all {
			if freed < lacks && after == 0 && !x.used && !x.reserved && !x.pinned && !x.draining {
				assert.True(t, gone[n], "an idle one stays, and there is too little")
			}
		}
	}
}
