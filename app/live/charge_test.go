package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/access"
	"dragoman/app/translate"
)

// account has so many characters, and remembers how many were taken.
type account struct {
	left, taken atomic.Int64
}

func (a *account) charge(characters int) error {
	if a.left.Add(-int64(characters)) < 0 {
		a.left.Add(int64(characters))
		return &access.LimitError{Limit: "characters", Wait: 10 * time.Second}
	}
	a.taken.Add(int64(characters))
	return nil
}

// charged opens a session that an account pays for, in which nothing is tried again in another way.
func charged(t *testing.T, s *Service, a *account) *Session {
	once := enFr
	once.Once = true
	x, err := s.Open(t.Context(), "alice", once, a.charge)
	require.NoError(t, err)
	return x
}

// Whatever the edits are, what is decoded was charged, as often as it is decoded: also where they only delete, move
// or settle.
func TestAllThatIsDecodedIsCharged(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			random, e, a := rand.New(rand.NewPCG(seed, 2)), &upper{}, &account{}
			a.left.Store(1 << 40)
			s := start(t, Config{}, translator(t, e))
			x := charged(t, s, a)
			text := []rune(strings.Repeat("one two three? four five ", 5))
			edit(t, x, appended(1, string(text)))
			for number := int64(2); number <= 60; number++ {
				from := random.IntN(len(text) + 1)
				one := Edit{From: from, To: min(len(text), from+random.IntN(6))}
				if random.IntN(2) == 0 { // else it only deletes
					one.Text = []string{"a", "word ", "late? ", "? ", "\n"}[random.IntN(5)]
				}
				text = slices.Concat(text[:one.From], []rune(one.Text), text[one.To:])
				edit(t, x, Edits{Number: number, List: []Edit{one}, Settle: random.IntN(4) == 0})
				if random.IntN(3) > 0 {
					synctest.Wait()
				}
				time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
			}
			synctest.Wait()
			decoded := 0
			for _, source := range e.requests() {
				decoded += translate.Characters(source)
			}
			assert.GreaterOrEqual(t, a.taken.Load(), int64(decoded), "seed %d", seed)
			x.End(ReasonDeleted)
		})
	}
}

// A session whose owner has no characters left says so, takes edits on, and goes on when there are some: with the text
// as it is then, and without a try for each edit.
func TestOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, a := &upper{}, &account{}
		s := start(t, Config{}, translator(t, e))
		x, m := charged(t, s, a), &mirror{}
		edit(t, x, Edits{Number: 1, List: []Edit{{From: End, Text: "It is."}}, Settle: true})
		m.until(t, x, func() bool { return m.problem != nil })
		var limit *access.LimitError
		require.ErrorAs(t, m.problem, &limit)
		for n := int64(2); n < 50; n++ {
			edit(t, x, Edits{Number: n, List: []Edit{{From: 0, Text: "No"}}, Settle: true})
			synctest.Wait()
		}
		edit(t, x, Edits{Number: 50, List: []Edit{{From: 0, To: 2 * 48}, {From: End, Text: " So it is."}}, Complete: true})
		a.left.Store(int64(len("It is.So it is.")))
		assert.Empty(t, e.requests())
		m.until(t, x, func() bool { return m.done })
		assert.NoError(t, m.problem)
		assert.Equal(t, "IT IS. SO IT IS.", m.text())
		assert.Equal(t, []string{"It is.", "So it is."}, e.requests())
	})
}

// What was charged and came of nothing, without the client's doing, is not charged again.
func TestWhatFailsIsChargedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, a := &upper{before: func(string) error { return errors.New("away") }}, &account{}
		a.left.Store(1 << 40)
		s := start(t, Config{}, translator(t, e))
		x, m := charged(t, s, a), &mirror{}
		edit(t, x, Edits{Number: 1, List: []Edit{{From: End, Text: "It is late."}}, Settle: true})
		time.Sleep(8 * time.Second)
		synctest.Wait()
		assert.Len(t, e.requests(), 4)
		e.before = nil
		edit(t, x, Edits{Number: 2, List: []Edit{{From: End, Text: " And so on."}}, Complete: true})
		m.until(t, x, func() bool { return m.done })
		assert.EqualValues(t, len("It is late.And so on."), a.taken.Load())
	})
}

// A sentence that has more characters than the owner may ever send is not translated; others are.
func TestSentenceThatNobodyCanPay(t *testing.T) {
	s := start(t, Config{}, translator(t, &upper{}))
	x, err := s.Open(t.Context(), "alice", enFr, func(characters int) error {
		if characters > 15 {
			return access.TooManyCharacters(characters, 15)
		}
		return nil
	})
	require.NoError(t, err)
	m := &mirror{}
	edit(t, x, Edits{Number: 1, List: []Edit{{From: End, Text: "One is here. Two is much too long. Three is."}}, Complete: true})
	m.until(t, x, func() bool { return m.done })
	assert.Equal(t, "ONE IS HERE.  THREE IS.", m.text())
	assert.ErrorContains(t, m.problem, "characters")
}

// However many sessions an owner has, so many of them are worked on at a time; those that wait have their newest text
// translated, and nothing before. Sessions of others do not wait for them, and one that ends waits no more.
func TestSessionsOfAnOwnerTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked := make(chan struct{})
		e := &upper{wait: func(ctx context.Context) error {
			select {
			case <-blocked:
			case <-ctx.Done():
			}
			return ctx.Err()
		}}
		s := start(t, Config{MaxSessions: 200}, translator(t, e))
		var all []*Session
		for i := range 3 * together {
			x := open(t, s)
			for n := int64(1); n <= 3; n++ {
				edit(t, x, Edits{Number: n, List: []Edit{{From: 0, To: len(x.text.string), Text: fmt.Sprintf("text %d of %d.", n, i)}}, Settle: true})
				synctest.Wait()
			}
			all = append(all, x)
		}
		asked := e.requests()
		assert.LessOrEqual(t, len(asked), 2*together, "one of each that has a turn, and one that was cancelled")
		other, err := s.Open(t.Context(), "bob", enFr, free)
		require.NoError(t, err)
		edit(t, other, Edits{Number: 1, List: []Edit{{From: End, Text: "Of Bob."}}, Settle: true})
		synctest.Wait()
		assert.Equal(t, "Of Bob.", e.requests()[len(asked)])
		all[len(all)-1].End(ReasonDeleted)
		close(blocked)
		synctest.Wait()
		for i, x := range all[:len(all)-1] {
			u, err := x.Wait(t.Context(), 0, 0)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf("TEXT 3 OF %d.", i), *u.Segments[0].Text)
		}
		assert.Len(t, e.requests(), len(asked)+1+2*together-1+together, "the rest, once, and of those that had a turn what they are now")
		for _, x := range append(all, other) {
			x.End(ReasonDeleted)
		}
		assert.Empty(t, s.turns)
	})
}
