// Package outage logs what fails again and again without filling the log. Whatever tries again, or
// fails for many at a time, has its errors logged here. Its [Lines] keep a log that cannot be written from holding others.
package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// firstPause is between the first line about an outage and the second; each further one is twice
	// as long, longestPause at most.
	firstPause   = 5 * time.Second
	longestPause = time.Minute
)

// Log says that something fails when that begins, at growing intervals while it lasts, and when it is
// over: two lines a minute at most in the long run, however often it comes and goes. It is safe for
// concurrent use, and not to be copied.
type Log struct {
	Log   *slog.Logger
	Level slog.Level // of lines that say that it fails
	// Failing and Over are the messages. With "" for Over nothing is said then.
	Failing, Over string
	Now           func() time.Time // nil: the clock

	mu         sync.Mutex    // guards the rest
	reported   bool          // the last line was that it fails
	unreported int           // failures since then
	last       time.Time     // failure
	next       time.Time     // nothing is said before
	pause      time.Duration // until then
}

// Due says whether a failure would be logged now: what takes time to find out about it is found out then.
func (l *Log) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.clock().Before(l.next)
}

func (l *Log) clock() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

// Note notes an error, or with nil that it works.
func (l *Log) Note(err error, attrs ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		if l.reported && l.Over != "" {
			l.Log.Info(l.Over)
		}
		l.reported = false
		return
	}
	now := l.clock()
	if now.Sub(l.last) > longestPause { // it has worked for a while
		l.pause = 0
	}
	l.last = now
	if now.Before(l.next) {
		l.unreported++
		return
	}
	attrs = append(attrs, "error", err)
	if l.unreported > 0 {
		attrs = append(attrs, "failures_since", l.unreported)
	}
	l.Log.Log(context.Background(), l.Level, l.Failing, attrs...)
	l.pause = min(max(firstPause, 2*l.pause), longestPause)
	l.reported, l.unreported, l.next = true, 0, now.Add(l.pause)
}
