package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newProgress shows how far a phase is, on a terminal; elsewhere and when quiet it shows
// nothing. Its errors are dropped: a display that fails must not fail the test.
func newProgress(out io.Writer, quiet bool, name string, requests int) *progressbar.ProgressBar {
	f, ok := out.(*os.File)
	return progressbar.NewOptions(requests,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(!quiet && ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine behind our back
		progressbar.OptionClearOnFinish(),
	)
}
