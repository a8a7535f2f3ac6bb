package hub

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress begins to show the download of a file. done is how many bytes of it
// an earlier pull left, total its size or -1 where that is unknown. It may be
// called by several pulls at once.
type Progress func(file string, done, total int64) Meter

// Meter shows how far one download is. One goroutine uses it.
type Meter interface {
	// Set tells how many bytes of the file are there now. It can go back, when
	// a download has to start over.
	Set(done int64)
	// Close ends the display. err is nil where the file is complete and verified.
	Close(err error)
}

// ProgressTo shows bars on out if it is a terminal and writes lines to log otherwise.
func ProgressTo(out *os.File, log *slog.Logger) Progress {
	if term.IsTerminal(int(out.Fd())) {
		return Bars(out)
	}
	return Lines(log, realClock{})
}

// Bars draws a bar for each file on a terminal.
func Bars(out io.Writer) Progress {
	return func(file string, done, total int64) Meter {
		bar := progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(file),
			progressbar.OptionShowBytes(true),
			progressbar.OptionShowTotalBytes(true),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine behind our back
		)
		m := &barMeter{bar: bar, out: out}
		m.Set(done)
		return m
	}
}

type barMeter struct {
	bar *progressbar.ProgressBar
	out io.Writer
}

// Set draws the bar. A display that fails must not fail the download, so errors
// are dropped.
func (m *barMeter) Set(done int64) { _ = m.bar.Set64(done) }

func (m *barMeter) Close(error) {
	_ = m.bar.Exit()
	fmt.Fprintln(m.out)
}

// How often Lines writes about one file.
const (
	lineEvery  = 10 * time.Second // at least, while bytes arrive
	lineGap    = 2 * time.Second  // at most
	lineShare  = 10               // percent, that are worth a line once the gap is over
	rateDigits = 10 * time.Millisecond
)

// Lines writes a line to log when a download goes on from an earlier one and
// when it ends, and in between for each tenth of the file, but not more often
// than every two seconds.
func Lines(log *slog.Logger, clock Clock) Progress {
	return func(file string, done, total int64) Meter {
		now := clock.Now()
		m := &lineMeter{log: log, clock: clock, file: file, first: done, done: done, shown: done, total: total, start: now, last: now}
		if done > 0 {
			log.Info("resuming file", m.attrs()...)
		}
		return m
	}
}

type lineMeter struct {
	log         *slog.Logger
	clock       Clock
	file        string
	first       int64 // bytes at the start
	done, total int64
	shown       int64 // bytes when the last line was written
	start, last time.Time
}

func (m *lineMeter) Set(done int64) {
	m.done = done
	now := m.clock.Now()
	since := now.Sub(m.last)
	tenth := m.total > 0 && (done-m.shown)*100 >= m.total*lineShare
	if done == m.total || since < lineGap || (since < lineEvery && !tenth) {
		return
	}
	m.last, m.shown = now, done
	m.log.Info("fetching file", m.attrs()...)
}

func (m *lineMeter) Close(err error) {
	message := "fetched file"
	if err != nil {
		message = "stopped fetching file"
	}
	took := m.clock.Now().Sub(m.start)
	attrs := append(m.attrs(), "took", took.Round(rateDigits))
	if got := m.done - m.first; got > 0 && took > 0 {
		attrs = append(attrs, "rate", humanize.Bytes(uint64(float64(got)/took.Seconds()))+"/s")
	}
	m.log.Info(message, attrs...)
}

func (m *lineMeter) attrs() []any {
	attrs := []any{"file", m.file, "done", humanize.Bytes(uint64(m.done))}
	if m.total > 0 {
		attrs = append(attrs, "of", humanize.Bytes(uint64(m.total)), "percent", m.done*100/m.total)
	}
	return attrs
}
