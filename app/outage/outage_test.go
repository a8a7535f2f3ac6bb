package outage

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// newTestLog returns a log with its output and its clock.
func newTestLog() (l *Log, said *bytes.Buffer, now *time.Time) {
	said, now = new(bytes.Buffer), new(time.Time)
	*now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &Log{
		Log: slog.New(slog.NewTextHandler(said, nil)), Level: slog.LevelError, Failing: "it fails", Over: "it works",
		Now: func() time.Time { return *now },
	}, said, now
}

var errOops = errors.New("errOops")

// A failure twice a second for an hour is logged at its start, then less and less often, and at its end.
func TestLongOutage(t *testing.T) {
	l, said, now := newTestLog()
	l.Note(nil)
	var at []time.Duration
	begun := *now
	for range 7200 {
		before, due := said.Len(), l.Due()
		l.Note(errOops, "job", 7)
		if assert.Equal(t, due, said.Len() > before); due {
			at = append(at, now.Sub(begun))
		}
		*now = now.Add(500 * time.Millisecond)
	}
	assert.Equal(t, []time.Duration{0, 5 * time.Second, 15 * time.Second, 35 * time.Second, 75 * time.Second, 135 * time.Second}, at[:6])
	assert.Len(t, at, 63)
	assert.Contains(t, said.String(), `level=ERROR msg="it fails" job=7 error=errOops failures_since=9`)
	for range 3 {
		l.Note(nil)
	}
	assert.Equal(t, 1, strings.Count(said.String(), "it works"))

	said.Reset()
	*now = now.Add(2 * longestPause)
	l.Note(errOops)
	assert.Contains(t, said.String(), "it fails", "another one begins at once")
}

// A failure that comes and goes is logged at most ten times a minute, and in the long run twice. The last line has the current
// state, unless that changed within the last pause.
func TestLinesAreBounded(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		l, said, now := newTestLog()
		begun, lines := *now, []time.Time(nil)
		often := time.Duration(1 + r.Int64N(int64(20*time.Second)))
		for range 2000 {
			before := said.Len()
			if r.IntN(3) == 0 {
				l.Note(nil)
			} else {
				l.Note(errOops)
			}
			if said.Len() > before { // one line at most
				lines = append(lines, *now)
			}
			*now = now.Add(time.Duration(r.Int64N(int64(often))))
		}
		for i, first := range lines {
			if i+10 < len(lines) {
				assert.Greater(t, lines[i+10].Sub(first), time.Minute, "seed %d", seed)
			}
		}
		assert.LessOrEqual(t, float64(len(lines)), 10+2*now.Sub(begun).Minutes(), "seed %d", seed)
		*now = now.Add(longestPause)
		l.Note(errOops)
		assert.True(t, strings.Contains(lastLine(said), "it fails"), "seed %d", seed)
		l.Note(nil)
		assert.True(t, strings.Contains(lastLine(said), "it works"), "seed %d", seed)
	}
}

func lastLine(said *bytes.Buffer) string {
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	return lines[len(lines)-1]
}
