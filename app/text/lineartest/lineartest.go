// Package lineartest tests that functions run in time linear in the length of a text, as texts come from untrusted clients. It
// counts executed statements, by go test -covermode=count, so that results are equal on every machine. Of the standard library it
// counts the packages of -coverpkg, and never assembly: use [Timed] and the benchmark [ReportExponent] for those.
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

// steepest is the largest exponent of the work that passes as linear. Quadratic work has 2, n log n about 1.1 here. It is above 1
// because repeated work within a limit of size may span all of the shorter text.
const steepest = 1.2

// chosen names the environment variable by which a run of a test does only one work with one of its texts.
const chosen = "DRAGOMAN_COUNTED_WORK"

// Work tests the work of functions. Each work runs in a process of its own, whose coverage profile counts the executed
// statements.
type Work struct {
	t    *testing.T
	none int // statements of a run without work
}

// New skips the test if statements are not counted.
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

// Assert fails the test if work grows faster than its text. part is a text of the same kind as whole, ideally an eighth of its
// length, and longer than any limit in the code.
func (w *Work) Assert(what, part, whole string, work func(text string)) {
	w.t.Helper()
	if slope := w.exponent(what, part, whole, work); !(slope <= steepest) && os.Getenv(chosen) == "" {
		w.t.Errorf("%s: from %d to %d bytes the statements that are executed grow with an exponent of %.2f, and may with %.1f",
			what, len(part), len(whole), slope, steepest)
	}
}

// exponent returns the exponent with which work grows with its text, or NaN if nothing is counted. In a run for one work it does
// that work if it is this one.
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

// run runs the test for the named work, and returns the number of executed statements.
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

// ReportExponent benchmarks work with texts of two sizes, which text makes. It reports how time grows with the size: 1 is linear.
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
