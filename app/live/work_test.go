package live

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/guard/admission"
	"dragoman/app/translate"
)

// edit applies edits that must be taken.
func edit(t *testing.T, x *Session, e Edits) {
	t.Helper()
	taken, err := x.Edit(e, admitted)
	require.NoError(t, err)
	require.Equal(t, e.Number, taken)
}

// An unfinished sentence is translated word by word, and whole when nothing is typed for a while.
func TestUnfinishedSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &upper{}
		s := start(t, Config{Pause: time.Second}, translator(t, e))
		x := open(t, s)
		for i, part := range []string{"Whe", "re", " is th", "e ", "old st", "ati"} {
			edit(t, x, appended(int64(i+1), part))
			synctest.Wait()
		}
		assert.Equal(t, []string{"Where is", "Where is the", "Where is the old"}, e.requests())
		m := &mirror{}
		m.until(t, x, func() bool { return true })
		u, err := x.Wait(t.Context(), 0, 0)
		require.NoError(t, err)
		m.apply(t, u)
		assert.Equal(t, "WHERE IS THE OLD", m.text())
		assert.Equal(t, len("WHERE IS"), m.segments[0].Stable)
		assert.False(t, m.segments[0].Final)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, "Where is the old stati", e.requests()[3])
		edit(t, x, appended(7, "on?"))
		synctest.Wait()
		m.until(t, x, func() bool { return m.segments[0].Final })
		assert.Equal(t, "WHERE IS THE OLD STATION?", m.text())
	})
}

// While its writer pauses, the last sentence is translated as it stands; what was shown stays where the
// sentence goes on.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &upper{}
		s := start(t, Config{}, translator(t, e))
		x, m := open(t, s), &mirror{}
		edit(t, x, Edits{Number: 1, List: []Edit{{From: End, Text: "Where is the stat"}}, Settle: true})
		m.until(t, x, func() bool { return m.shown == 1 && len(m.segments) == 1 && m.segments[0].Final })
		assert.Equal(t, "WHERE IS THE STAT", m.text())
		assert.Equal(t, []string{"Where is the stat"}, e.requests())
		edit(t, x, appended(2, "ion now"))
		m.until(t, x, func() bool { return m.text() == "WHERE IS THE STATION" })
		assert.False(t, m.segments[0].Final)
		assert.Equal(t, len("WHERE IS THE STAT"), m.segments[0].Stable, "it was shown, and is still there")
		edit(t, x, Edits{Number: 3, Settle: true})
		m.until(t, x, func() bool { return m.shown == 3 && m.segments[0].Final })
		edit(t, x, Edits{Number: 4, Settle: true})
		m.until(t, x, func() bool { return m.shown == 4 })
		assert.True(t, m.segments[0].Final)
		assert.Equal(t, "WHERE IS THE STATION NOW", m.text())
		edit(t, x, Edits{Number: 5, Complete: true})
		m.until(t, x, func() bool { return m.done })
	})
}

// What looks wrong with a translation is said with it.
func TestFlags(t *testing.T) {
	s := start(t, Config{}, translator(t, &upper{}))
	x, m := open(t, s), &mirror{}
	edit(t, x, Edits{Number: 1, List: []Edit{{From: End, Text: "IT IS TOO LATE FOR THE LAST TRAIN. It is."}}, Complete: true})
	m.until(t, x, func() bool { return m.done })
	assert.Equal(t, translate.SourceEcho, m.segments[0].Flags)
	assert.Zero(t, m.segments[1].Flags)
}

// An edit that makes all that is being translated useless cancels it, but not twice in a row; text that
// grows does not.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled := 0
		e := &upper{wait: func(ctx context.Context) error {
			select {
			case <-time.After(10 * time.Second):
				return nil
			case <-ctx.Done():
				cancelled++
				return ctx.Err()
			}
		}}
		s := start(t, Config{}, translator(t, e))
		x := open(t, s)
		edit(t, x, appended(1, "One two "))
		synctest.Wait()
		edit(t, x, appended(2, "three "))
		synctest.Wait()
		assert.Zero(t, cancelled, "text that grows")
		edit(t, x, Edits{Number: 3, List: []Edit{{From: 0, To: 3, Text: "No"}}})
		synctest.Wait()
		assert.Equal(t, 1, cancelled)
		edit(t, x, Edits{Number: 4, List: []Edit{{From: 0, To: 2, Text: "Yes"}}})
		synctest.Wait()
		assert.Equal(t, 1, cancelled, "twice in a row")
		assert.Equal(t, []string{"One two", "No two three"}, e.requests())
		x.End(ReasonDeleted)
		synctest.Wait()
		assert.Equal(t, 2, cancelled)
	})
}

// What fails in passing is tried again, later each time, and clients are told.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := errors.New("the engine is busy")
		e := &upper{before: func(string) error { return fails }}
		s := start(t, Config{}, translator(t, e))
		x, m := open(t, s), &mirror{}
		edit(t, x, appended(1, "It is late."))
		m.until(t, x, func() bool { return m.problem != nil })
		assert.ErrorIs(t, m.problem, fails)
		time.Sleep(8 * time.Second)
		synctest.Wait()
		assert.Len(t, e.requests(), 4, "at once, after 1, 3 and 7 s")
		e.before = nil
		m.until(t, x, func() bool { return len(m.segments) > 0 && m.segments[0].Final })
		assert.Equal(t, "IT IS LATE.", m.text())
		m.until(t, x, func() bool { return m.problem == nil })
	})
}

// One sentence that cannot be translated does not keep the others from it.
func TestSentenceThatIsRefused(t *testing.T) {
	e := &upper{before: func(source string) error {
		if strings.HasPrefix(source, "Bad") {
			return &translate.Error{Code: translate.CodeInvalidText, Message: "it is bad"}
		}
		return nil
	}}
	s := start(t, Config{}, translator(t, e))
	x, m := open(t, s), &mirror{}
	edit(t, x, Edits{Number: 1, List: []Edit{{From: End, Text: "One is here. Bad is here. Two is here. Three is here."}}, Complete: true})
	m.until(t, x, func() bool { return m.done })
	assert.Equal(t, "ONE IS HERE.  TWO IS HERE. THREE IS HERE.", m.text())
	assert.ErrorContains(t, m.problem, "it is bad")
}

// A panic of what translates is an error of the session.
func TestPanic(t *testing.T) {
	e := &upper{before: func(string) error { panic("at the engine") }}
	s := start(t, Config{}, translator(t, e))
	x, m := open(t, s), &mirror{}
	edit(t, x, appended(1, "It is late."))
	m.until(t, x, func() bool { return m.problem != nil })
	assert.ErrorContains(t, m.problem, "at the engine")
}

// Sessions end when nobody edits them, and soon when all is done; waiting does not keep them.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, Config{Idle: time.Hour}, translator(t, &upper{}))
		idle, done := open(t, s), open(t, s)
		time.Sleep(time.Minute)
		edit(t, done, Edits{Number: 1, List: []Edit{{From: End, Text: "a"}}, Complete: true})
		synctest.Wait()
		time.Sleep(2 * time.Minute)
		_, err := s.Find(done.ID())
		assert.ErrorIs(t, err, ErrUnknown)
		u, err := done.Wait(t.Context(), 1<<40, 1<<40)
		require.NoError(t, err)
		assert.Equal(t, ReasonDone, u.Ended)
		_, err = s.Find(idle.ID())
		require.NoError(t, err)
		time.Sleep(time.Hour)
		_, err = idle.Edit(appended(1, "x"), admitted)
		assert.ErrorIs(t, err, ErrUnknown)
	})
}

func TestLimits(t *testing.T) {
	memory := admission.New(1 << 20)
	s := start(t, Config{MaxSessions: 3, MaxChars: 10, Memory: memory}, translator(t, &upper{}))
	own := []*Session{open(t, s), open(t, s)}
	_, err := s.Open(t.Context(), "alice", enFr, free)
	assert.EqualError(t, err, "live sessions: you have 2, which is your share: end some, or wait until they end")
	other, err := s.Open(t.Context(), "bob", enFr, free)
	require.NoError(t, err)
	_, err = s.Open(t.Context(), "carol", enFr, free)
	assert.EqualError(t, err, "live sessions: all 3 are taken: end some, or wait until they end")

	over := errors.New("too many requests")
	_, err = other.Edit(appended(1, "abc"), func() error { return over })
	assert.ErrorIs(t, err, over)
	_, err = other.Edit(Edits{Number: 1, List: []Edit{{From: End, Text: "abc"}, {From: 4, To: 4}}}, admitted)
	assert.ErrorContains(t, err, "edit 1: from 4 to 4 is not in the text, which has 3 characters")
	var wrong *EditError
	for _, e := range []Edit{{From: -2}, {From: 1, To: 0}, {From: 0, To: 1}, {From: End, Text: "\xff"}, {From: End, Text: "12345678901"}} {
		_, err = other.Edit(Edits{Number: 1, List: []Edit{e}}, admitted)
		require.ErrorAs(t, err, &wrong)
		assert.Equal(t, len(e.Text) > 10, wrong.TooLong)
	}
	edit(t, other, appended(1, "日本"))
	edit(t, other, Edits{Number: 2, List: []Edit{{From: 1, To: 2, Text: "x"}}})
	assert.Equal(t, "日x", other.text.string)
	for _, x := range append(own, other) {
		x.End(ReasonDeleted)
		x.End(ReasonIdle)
	}
	s.work.Wait()
	assert.Zero(t, memory.InUse())
	_, err = s.Find(other.ID())
	assert.ErrorIs(t, err, ErrUnknown)
}

// A client that has been away for long is told everything, and one that reads slowly the newest state.
func TestUpdateAfterManyRemovals(t *testing.T) {
	s := start(t, Config{}, translator(t, &upper{}))
	x, m := open(t, s), &mirror{}
	m.until(t, x, func() bool { return m.seen > 0 })
	away := *m
	n := int64(0)
	for range mostRemoved/8 + 2 {
		n++
		edit(t, x, appended(n, strings.Repeat("It is.\n", 8)))
		m.until(t, x, func() bool { return m.shown == n && len(m.segments) == 8 })
		n++
		edit(t, x, Edits{Number: n, List: []Edit{{From: 0, To: 56}}})
		m.until(t, x, func() bool { return m.shown == n && len(m.segments) == 0 })
	}
	u, err := x.Wait(t.Context(), away.seen, 0)
	require.NoError(t, err)
	assert.True(t, u.All)
	assert.Empty(t, u.Removed)
}

// A service that ends tells its sessions, and takes no others.
func TestClose(t *testing.T) {
	s := start(t, Config{}, translator(t, &upper{}))
	x := open(t, s)
	s.Close()
	u, err := x.Wait(t.Context(), 1<<40, 1<<40)
	require.NoError(t, err)
	assert.Equal(t, ReasonShutdown, u.Ended)
	_, err = s.Open(t.Context(), "alice", enFr, free)
	assert.ErrorContains(t, err, "shutting down")
	_, err = New(Config{MaxSessions: 1}).Open(t.Context(), "alice", enFr, free)
	assert.ErrorContains(t, err, "loading")
}
