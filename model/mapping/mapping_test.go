package mapping_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dragoman/model/mapping"
)

func TestFile(t *testing.T) {
	want := bytes.Repeat([]byte("weights "), 1<<19) // two huge pages
	path := filepath.Join(t.TempDir(), "weights.bin")
	file, err := os.Create(path)
	require.NoError(t, err)
	_, err = file.Write(want)
	require.NoError(t, err)
	require.NoError(t, file.Sync())
	mapping.Forget(file)
	require.NoError(t, file.Close())

	f, err := mapping.Open(path)
	require.NoError(t, err)
	defer f.Close()
	f.Fetch(1, 3<<20)
	f.Fetch(3<<20, 1<<30)
	f.Fetch(1<<30, 2<<30)
	assert.True(t, bytes.Equal(want, f.Bytes))
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err := mapping.Open(empty)
	assert.ErrorContains(t, err, "map "+empty)
	_, err = mapping.Open(filepath.Join(dir, "nothing"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	(*mapping.File)(nil).Close()
}

// mapped returns a mapped file of 64 pages of ones.
func mapped(t *testing.T) (*mapping.File, string) {
	path := filepath.Join(t.TempDir(), "weights.bin")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte{1}, 64*os.Getpagesize()), 0o600))
	f, err := mapping.Open(path)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f, path
}

// A change of a mapped file does not end the process, and the mapping reports that its bytes may be wrong.
func TestErr(t *testing.T) {
	for name, test := range map[string]struct {
		change func(path string) error
		shows  bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"renamed": {func(path string) error { return os.Rename(path, path+"~") }, false},
		"removed": {os.Remove, false},
		"replaced": {func(path string) error {
			_ = os.WriteFile(path+"~", []byte("x"), 0o600)
			return os.Rename(path+"~", path)
		}, false},
		"chmod":   {func(path string) error { return os.Chmod(path, 0o400) }, false},
		"emptied": {func(path string) error { return os.Truncate(path, 0) }, true},
		"cut off": {func(path string) error { return os.Truncate(path, 5000) }, true},
		"longer":  {func(path string) error { return os.Truncate(path, 1<<20) }, true},
		"overwritten": {func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte{2}, 64*os.Getpagesize()), 0o600)
		}, true},
		"cut off, back": {func(path string) error {
			info, err := os.Stat(path)
			_ = os.Truncate(path, 0)
			_ = os.Truncate(path, info.Size())
			return err
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, path := mapped(t)
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1e9, 0))) // before it is mapped again
			f, err := mapping.Open(path)
			require.NoError(t, err)
			defer f.Close()
			require.NoError(t, f.Err())
			require.NoError(t, test.change(path))
			sum := 0
			for _, b := range f.Bytes {
				sum += int(b)
			}
			if test.shows {
				assert.ErrorIs(t, f.Err(), mapping.ErrChanged)
				return
			}
			assert.NoError(t, f.Err())
			assert.Equal(t, len(f.Bytes), sum)
		})
	}
}

// Many threads read a file that is truncated and rewritten with its old size and time, while others are mapped and closed. If a
// thread has read wrong bytes, it gets an error afterwards.
func TestCutOffWhileOthersRead(t *testing.T) {
	for range 20 {
		f, path := mapped(t)
		info, err := os.Stat(path)
		require.NoError(t, err)
		sound, soundPath := mapped(t)
		var reading sync.WaitGroup
		begun := make(chan struct{}, 8)
		for range 8 {
			reading.Go(func() {
				for seen := false; !seen; {
					count := bytes.Count(f.Bytes, []byte{1})
					err := f.Err()
					seen = err != nil
					if err == nil {
						assert.Equal(t, len(f.Bytes), count)
					}
					assert.Equal(t, len(sound.Bytes), bytes.Count(sound.Bytes, []byte{1}))
					other, err := mapping.Open(soundPath)
					if assert.NoError(t, err) {
						assert.NoError(t, other.Err())
						other.Close()
					}
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}
		<-begun
		require.NoError(t, os.Truncate(path, 0))
		assert.Zero(t, bytes.Count(f.Bytes, []byte{1})) // the others may have read all of it before
		reading.Wait()
		require.NoError(t, os.Truncate(path, info.Size()))
		require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		assert.ErrorIs(t, f.Err(), mapping.ErrChanged, "it was read without its bytes")
		assert.NoError(t, sound.Err())
	}
}

// Go handles faults of other memory.
func TestOtherFaults(t *testing.T) {
	mapped(t) // so that the handler is installed
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	other, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	defer unix.Munmap(other)
	require.NoError(t, os.Truncate(path, 0))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	assert.Panics(t, func() { _ = bytes.Count(other, []byte{1}) })
}
