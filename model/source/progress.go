package source

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
	// Set shows how many bytes of the file are there now. It can decrease, when a
	// download has to start over.
	Set(done int64)
	// Close ends the display. err is nil where the file is complete and verified.
	Close(err error)
}

// ProgressTo shows bars on out if it is a terminal and writes lines to log otherwise.
func ProgressTo(out *os.File, log *slog.Logger) Progress {
	if term.IsTerminal(int(out.Fd())) {
		return bars(out)
	}
	return lines(log)
}

// bars draws a bar for each file on a terminal.
func bars(out io.Writer) Progress {
	return func(file string, done, total int64) Meter {
		bar := progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(file),
			progressbar.OptionShowBytes(true),
			progressbar.OptionShowTotalBytes(true),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // or it starts a goroutine
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

// lineEvery is how often lines writes about one file while bytes arrive.
const lineEvery = 10 * time.Second

// lines writes to log when a download is resumed, every lineEvery, and when it ends.
func lines(log *slog.Logger) Progress {
	return func(file string, done, total int64) Meter {
		now := time.Now()
		m := &lineMeter{log: log, file: file, first: done, done: done, total: total, start: now, last: now}
		if done > 0 {
			log.Info("resuming file", m.attrs()...)
		}
		return m
	}
}

type lineMeter struct {
	log         *slog.Logger
	file        string
	first       int64 // bytes at the start
	done, total int64
	start, last time.Time // last is when a line was written
}

func (m *lineMeter) Set(done int64) {
	m.done = done
	if done != m.total && time.Since(m.last) >= lineEvery {
		m.last = time.Now()
		m.log.Info("fetching file", m.attrs()...)
	}
}

func (m *lineMeter) Close(err error) {
	message := "fetched file"
	if err != nil {
		message = "stopped fetching file"
	}
	took := time.Since(m.start)
	attrs := append(m.attrs(), "took", took.Round(10*time.Millisecond))
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
