// Package lineartest is for tests of functions whose work must be linear in the length of a
// text, because anybody may send one. It counts the statements that are executed, by go test
// -covermode=count, so that a test says the same on every machine. Of the standard library is counted
// what -coverpkg names, and never what is written in assembly: [Timed] is for that, and [ReportExponent] a benchmark.
package lineartest

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// steepest is the exponent of the work that still passes for linear. Of what is quadratic
// it is 2, of n log n about 1.1 here. It is not 1, for what is looked at again and again is
// bounded by some size, and may be longer than the shorter text.
const steepest = 1.2

// chosen names the environment variable that has a run of a test do a single work with one of its texts.
const chosen = "DRAGOMAN_COUNTED_WORK"

// Work is a test of some works. Each is done in a run of its own of the test, whose profile says what it
// has executed.
type Work struct {
	t    *testing.T
	none int // statements of a run without any work
}

// New skips a test where nothing is counted.
func New(t *testing.T) *Work {
	w := &Work{t: t}
	if os.Getenv(chosen) == "" {
		if testing.CoverMode() != "count" {
			t.Skip("nothing is counted: `make check` runs this test with -covermode=count")
		}
		w.none = w.run("none")
	}
	return w
}

// Assert fails the test if work grows faster than its text. part is a text of the same kind as
// whole, best of an eighth of its length, and longer than any limit of what is looked at.
func (w *Work) Assert(what, part, whole string, work func(text string)) {
	w.t.Helper()
	if slope := w.exponent(what, part, whole, work); !(slope <= steepest) && os.Getenv(chosen) == "" {
		w.t.Errorf("%s: from %d to %d bytes the statements that are executed grow with an exponent of %.2f, and may with %.1f",
			what, len(part), len(whole), slope, steepest)
	}
}

// exponent is that with which work grows with its text; not a number where nothing is counted. In a run for a single
// work that is done, where it is this one.
func (w *Work) exponent(what, part, whole string, work func(text string)) float64 {
	texts, counts := [2]string{part, whole}, [2]float64{}
	for i, text := range texts {
		name := fmt.Sprint(i, what)
		switch os.Getenv(chosen) {
		case "":
			counts[i] = float64(w.run(name) - w.none)
		case name:
			work(text)
		}
	}
	return math.Log(counts[1]/counts[0]) / math.Log(float64(len(whole))/float64(len(part)))
}

// run does the work that is named, and returns how many statements were executed.
func (w *Work) run(name string) (statements int) {
	require.Empty(w.t, os.Getenv(chosen), "a run starts no others")
	profile := filepath.Join(w.t.TempDir(), "profile")
	test := exec.CommandContext(w.t.Context(), os.Args[0], "-test.run=^"+w.t.Name()+"$", "-test.coverprofile="+profile)
	test.Env = append(os.Environ(), chosen+"="+name)
	out, err := test.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	file, err := os.Open(profile)
	require.NoError(w.t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() { // place, number of statements, and how often they were executed
		if fields := strings.Fields(lines.Text()); len(fields) == 3 && fields[2] != "0" {
			size, err := strconv.Atoi(fields[1])
			require.NoError(w.t, err)
			times, err := strconv.Atoi(fields[2])
			require.NoError(w.t, err)
			statements += size * times
		}
	}
	require.NoError(w.t, lines.Err())
	return statements
}

// ReportExponent is a benchmark of work with texts of two sizes, which text makes. It
// reports how time grows with the size: 1 is linear.
func ReportExponent(b *testing.B, text func(size int) string, work func(text string)) {
	const size, times = 1 << 14, 8
	var took [2]time.Duration
	for b.Loop() {
		for i, size := range []int{size, size * times} {
			text, start := text(size), time.Now()
			work(text)
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(math.Log(float64(took[1])/float64(took[0]))/math.Log(times), "exponent")
}
