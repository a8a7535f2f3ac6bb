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

// Progress starts the display of a file's download. done is the number of bytes from an earlier pull, total the size or -1 if it
// is unknown. A Progress is safe for concurrent use.
type Progress func(file string, done, total int64) Meter

// Meter shows the progress of one download. One goroutine uses it.
type Meter interface {
	// Set shows the number of bytes so far. It decreases if a download starts over.
	Set(done int64)
	// Close ends the display. err is nil if the file is complete and verified.
	Close(err error)
}

// ProgressTo shows bars on out if it is a terminal, and otherwise writes lines to log.
func ProgressTo(out *os.File, log *slog.Logger) Progress {
	if term.IsTerminal(int(out.Fd())) {
		return bars(out)
	}
	return lines(log)
}

// bars shows a bar for each file on a terminal.
func bars(out io.Writer) Progress {
	return func(file string, done, total int64) Meter {
		bar := progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(file),
			progressbar.OptionShowBytes(true),
			progressbar.OptionShowTotalBytes(true),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // otherwise the bar starts a goroutine
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

// Set draws the bar. It ignores errors, which must not fail the download.
func (m *barMeter) Set(done int64) { _ = m.bar.Set64(done) }

func (m *barMeter) Close(error) {
	_ = m.bar.Exit()
	fmt.Fprintln(m.out)
}

// lineEvery is the minimum interval between lines about one file.
const lineEvery = 10 * time.Second

// lines writes a line to log when it resumes a download, every lineEvery, and at the end.
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
	start, last time.Time // times of the start and of the last line
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

// Watch writes lines to log as by default, and calls add with the bytes that have arrived since it was called before; a negative
// number if a download starts over.
func Watch(log *slog.Logger, add func(bytes int64)) Progress {
	show := lines(log)
	return func(file string, done, total int64) Meter {
		add(done)
		return &watchMeter{show(file, done, total), done, add}
	}
}

type watchMeter struct {
	Meter
	done int64
	add  func(bytes int64)
}

func (m *watchMeter) Set(done int64) {
	m.add(done - m.done)
	m.done = done
	m.Meter.Set(done)
}
