// Package outage logs recurring failures without filling the log, for code that retries or that fails for many requests at a
// time. Its [Lines] prevent a blocked log from blocking its writers.
package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// firstPause is the pause between the first line about an outage and the second; each further pause is twice as long, up to
	// longestPause.
	firstPause   = 5 * time.Second
	longestPause = time.Minute
)

// Log logs the begin of an outage, repeats it at growing intervals while it lasts, and logs its end: in the long run at most two
// lines a minute, however often it recurs. It is safe for concurrent use, and must not be copied.
type Log struct {
	Log   *slog.Logger
	Level slog.Level // of lines about failures
	// Failing and Over are the messages. With "" for Over, the end is not logged.
	Failing, Over string
	Now           func() time.Time // nil for the clock

	mu         sync.Mutex    // guards the fields below
	reported   bool          // the last line reported a failure
	unreported int           // failures since then
	last       time.Time     // time of the last failure
	next       time.Time     // earliest time of the next line
	pause      time.Duration // the pause before next
}

// Due reports whether a failure would be logged now, so that expensive details are collected only then.
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

// Note records an error, or success for nil.
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
