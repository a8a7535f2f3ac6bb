package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newProgress shows the progress of a phase on a terminal; elsewhere and if quiet it shows nothing. Its errors are ignored: a
// failing display must not fail the test.
func newProgress(out io.Writer, quiet bool, name string, requests int) *progressbar.ProgressBar {
	f, ok := out.(*os.File)
	return progressbar.NewOptions(requests,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetVisibility(!quiet && ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // no background goroutine
		progressbar.OptionClearOnFinish(),
	)
}
