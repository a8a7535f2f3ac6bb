package cpu_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model"
	"dragoman/model/cpu"
	"dragoman/model/cpu/cputest"
)

// If weights are truncated or overwritten while all threads read them, only their model fails: all results that it has returned
// are right, and the process and other models continue.
func TestWeightsChange(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"cut off": func(path string) error { return os.Truncate(path, 0) },
		"the second half": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()/2)
		},
		"written over": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt(make([]byte, 1<<20), 0)
			return err
		},
	} {
		for _, precision := range someOf(model.INT8, model.FP32) {
			t.Run(name+" "+string(precision), func(t *testing.T) {
				exported, dir := cputest.Exported(t, cputest.Bundled(), precision), cputest.Export(t, cputest.Bundled(), precision)
				opts := cpu.Options{Threads: 4}
				victim, other := open(t, dir, opts), open(t, exported, opts)
				want, err := firstStep(victim)
				require.NoError(t, err)
				steps, ended := make(chan struct{}, 1<<20), make(chan error, 1)
				go func() {
					for {
						got, err := firstStep(victim)
						if err != nil {
							ended <- err
							return
						}
						assert.Equal(t, want, got)
						steps <- struct{}{}
					}
				}()
				<-steps
				require.NoError(t, change(filepath.Join(dir, model.WeightsFile)))
				err = <-ended
				require.ErrorIs(t, err, model.ErrLost)
				require.ErrorIs(t, err, model.ErrDamaged)
				_, err = firstStep(victim)
				require.ErrorIs(t, err, model.ErrLost, "for good")
				got, err := firstStep(other)
				require.NoError(t, err)
				assert.Equal(t, want, got)
				_, err = cputest.Runtime(t).Open(t.Context(), dir, opts)
				require.ErrorIs(t, err, model.ErrDamaged)
			})
		}
	}
}

// A thread that blocks SIGBUS would end the process with a failed read.
func TestNoThreadBlocksFaults(t *testing.T) {
	_, err := firstStep(open(t, cputest.Export(t, cputest.Bundled(), model.INT8), cpu.Options{Threads: 4}))
	require.NoError(t, err)
	blocked := func() (n int) {
		statuses, err := filepath.Glob("/proc/self/task/*/status")
		require.NoError(t, err)
		for _, path := range statuses {
			raw, _ := os.ReadFile(path) // a thread may have ended
			_, rest, _ := strings.Cut(string(raw), "SigBlk:")
			var mask uint64
			if _, err := fmt.Sscanf(rest, "%x", &mask); err == nil && mask>>(syscall.SIGBUS-1)&1 == 1 {
				n++
			}
		}
		return n
	}
	for try := 0; blocked() > 0; try++ { // a new thread of Go does so for a moment
		require.Less(t, try, 1000)
	}
}
