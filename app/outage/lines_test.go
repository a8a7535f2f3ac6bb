package outage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipe is an output with a reader that the test controls.
type pipe struct {
	mu      sync.Mutex // held while the reader pauses
	err     error      // of each write
	written bytes.Buffer
}

func (p *pipe) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return 0, p.err
	}
	return p.written.Write(line)
}

// closeAll closes a log and returns the written lines.
func closeAll(t *testing.T, l *Lines, p *pipe) []string {
	t.Helper()
	l.Close(t.Context())
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSuffix(p.written.String(), "\n"), "\n")
}

func TestLinesInTheirOrder(t *testing.T) {
	p := &pipe{}
	l := NewLines(p)
	var want []string
	for i := range 1000 {
		want = append(want, fmt.Sprint("line ", i))
		n, err := fmt.Fprintln(l, want[i])
		require.NoError(t, err)
		require.Equal(t, len(want[i])+1, n)
	}
	assert.Equal(t, want, closeAll(t, l, p), "all that was written before it was closed")
	_, err := io.WriteString(l, "late\n")
	assert.NoError(t, err)
	assert.Equal(t, uint64(1), l.Dropped())
	l.Close(t.Context())
}

// A blocked reader delays no writer and takes no memory. When it reads again, the log reports the dropped lines; so it does
// after a reader that was gone.
func TestLinesWithoutReader(t *testing.T) {
	for name, err := range map[string]error{"hangs": nil, "has gone": syscall.EPIPE} {
		t.Run(name, func(t *testing.T) {
			p := &pipe{err: err}
			l := NewLines(p)
			log := slog.New(slog.NewTextHandler(l, nil))
			l.Report(log)
			p.mu.Lock()
			const sent = 4000
			for range sent {
				log.Info(strings.Repeat("x", 1000))
			}
			bytes, _ := l.state()
			assert.LessOrEqual(t, bytes, mostWaiting)
			p.mu.Unlock()
			require.Eventually(t, func() bool {
				bytes, _ := l.state()
				return bytes == 0
			}, time.Minute, time.Millisecond)
			p.mu.Lock()
			p.err = nil
			p.mu.Unlock()
			dropped := l.Dropped()
			assert.Positive(t, dropped)
			log.Info("again")
			require.Eventually(t, func() bool {
				_, missing := l.state()
				return missing == 0
			}, time.Minute, time.Millisecond)
			lines := closeAll(t, l, p)
			assert.Len(t, lines, sent-int(dropped)+2)
			assert.Equal(t, 1, strings.Count(strings.Join(lines, "\n"), fmt.Sprintf(`level=WARN msg="log lines were dropped: the reader of the log was too slow or gone" lines=%d`, dropped)))
			assert.Equal(t, dropped, l.Dropped())
		})
	}
}

// state returns the number of waiting lines, and of dropped lines that are not reported yet.
func (l *Lines) state() (bytes int, missing uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes, l.missing
}

// Close waits for the log's reader no longer than its timeout.
func TestLinesEndWithoutReader(t *testing.T) {
	p := &pipe{}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := NewLines(p)
	_, err := io.WriteString(l, "line\n")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Close(ctx)
}
