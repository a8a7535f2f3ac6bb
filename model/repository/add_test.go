package repository

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dragoman/model"
)

// filling returns a function that writes an exported folder.
func filling(t *testing.T) func(context.Context, string) error {
	return func(_ context.Context, work string) error {
		if err := os.WriteFile(filepath.Join(work, model.WeightsFile), []byte("x"), 0o644); err != nil {
			return err
		}
		return manifest(t, work).Write(work)
	}
}

func alone() { panic("nobody else is at work") }

// names returns the entries of a folder, without the lock.
func names(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != ".dragoman.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestAdd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "[here]")
	for want := 1; want <= 3; want++ {
		version, err := Add(t.Context(), dir, "m", alone, filling(t))
		require.NoError(t, err)
		assert.Equal(t, want, version)
	}
	folder := filepath.Join(dir, "m")
	require.NoError(t, os.RemoveAll(filepath.Join(folder, "1")))
	require.NoError(t, os.Rename(filepath.Join(folder, "3"), filepath.Join(folder, "10")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "0100"), 0o755))
	version, err := Add(t.Context(), dir, "m", alone, filling(t))
	require.NoError(t, err)
	assert.Equal(t, 11, version)
	assert.Equal(t, []string{"0100", "10", "11", "2"}, names(t, folder))
	info, err := os.Stat(filepath.Join(folder, "11"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	assert.Equal(t, map[string][]int{"m": {11}}, served(Scan([]string{dir})))
}

// TestAddFails: after any failure, nothing is left.
func TestAddFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	last := filepath.Join(t.TempDir(), "last")
	require.NoError(t, os.MkdirAll(filepath.Join(last, "m", strconv.Itoa(maxVersion)), 0o755))
	full := func(_ context.Context, work string) error {
		return errors.Join(os.WriteFile(filepath.Join(work, model.WeightsFile), []byte("half"), 0o644), unix.ENOSPC)
	}
	nothing := func(context.Context, string) error { return nil }
	for name, test := range map[string]struct {
		dir, name string
		fill      func(context.Context, string) error
		want      string
	}{
		"a full disk":        {t.TempDir(), "m", full, "no space left on device"},
		"no export":          {t.TempDir(), "m", nothing, "no exported model"},
		"not a name":         {t.TempDir(), "../m", nil, "is not a model's name"},
		"the configuration":  {t.TempDir(), "config.yaml", nil, "the configuration of a repository is called so"},
		"no folder":          {file, "m", nil, "name a repository that can be written"},
		"the last version":   {last, "m", filling(t), "has version 999999999, the last that is possible"},
		"a folder that ends": {t.TempDir(), "m", func(_ context.Context, work string) error { return os.RemoveAll(work) }, "no exported model"},
	} {
		t.Run(name, func(t *testing.T) {
			version, err := Add(t.Context(), test.dir, test.name, alone, test.fill)
			require.ErrorContains(t, err, test.want)
			assert.Zero(t, version)
			if folder := filepath.Join(test.dir, "m"); test.dir != file && test.name == "m" {
				for _, name := range names(t, folder) {
					assert.Equal(t, strconv.Itoa(maxVersion), name)
				}
				if test.dir != last {
					assert.Empty(t, Scan([]string{test.dir}).Problems)
				}
			}
		})
	}
}

// TestAddAtOnce: concurrent additions wait for each other and get different versions.
func TestAddAtOnce(t *testing.T) {
	dir := t.TempDir()
	const n = 8
	var wg sync.WaitGroup
	versions := make(chan int, n)
	for range n {
		wg.Go(func() {
			version, err := Add(t.Context(), dir, "m", func() {}, filling(t))
			assert.NoError(t, err)
			versions <- version
		})
	}
	wg.Wait()
	close(versions)
	got := map[int]bool{}
	for v := range versions {
		got[v] = true
	}
	assert.Len(t, got, n)
	assert.Len(t, names(t, filepath.Join(dir, "m")), n)
}

func TestAddStopsWaiting(t *testing.T) {
	dir := t.TempDir()
	_, err := Add(t.Context(), dir, "m", alone, func(context.Context, string) error {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Add(ctx, dir, "m", cancel, filling(t))
		require.ErrorIs(t, err, context.Canceled)
		_, err = Add(t.Context(), dir, "another", alone, filling(t))
		return errors.Join(err, errors.New("enough"))
	})
	require.EqualError(t, err, "enough")
}

// TestAddKilled kills a process that adds a version. The rest is not a version, does not block others, and is removed by the
// next addition. The test runs itself as that process.
func TestAddKilled(t *testing.T) {
	const folder = "DRAGOMAN_TEST_KILL_FOLDER"
	if dir := os.Getenv(folder); dir != "" {
		_, err := Add(t.Context(), dir, "m", alone, func(ctx context.Context, work string) error {
			return errors.Join(filling(t)(ctx, work), syscall.Kill(os.Getpid(), syscall.SIGKILL))
		})
		require.NoError(t, err)
		return
	}
	dir := t.TempDir()
	for range 2 {
		child := exec.Command(os.Args[0], "-test.run=^TestAddKilled$")
		child.Env = append(os.Environ(), folder+"="+dir)
		out, err := child.CombinedOutput()
		require.Error(t, err, "%s", out)
		require.True(t, child.ProcessState.Sys().(syscall.WaitStatus).Signaled(), "%s", out)
		left := names(t, filepath.Join(dir, "m"))
		require.Len(t, left, 1, "that of this process alone")
		assert.Contains(t, left[0], workPrefix)
		s := Scan([]string{dir})
		assert.Empty(t, s.Problems)
		assert.Empty(t, s.Models)
	}
	version, err := Add(t.Context(), dir, "m", alone, filling(t))
	require.NoError(t, err)
	assert.Equal(t, 1, version)
	assert.Equal(t, []string{"1"}, names(t, filepath.Join(dir, "m")))
}

func TestNameFor(t *testing.T) {
	for source, want := range map[string]string{
		"opus-mt-en-fr": "opus-mt-en-fr", "m2m100_418M": "m2m100_418M", "my model (new)": "my-model-new", "._x.y": "x.y",
		"": "", "..": "", "日本": "", strings.Repeat("a", 80): strings.Repeat("a", 63),
	} {
		got := NameFor(source)
		assert.Equal(t, want, got, source)
		assert.True(t, got == "" || CheckName(got) == nil)
	}
}
