package model

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestVerifyFile has a file whose checksum, which begins with 88d4266f, differs from the recorded one. So a check without an
// error has not read it.
func TestVerifyFile(t *testing.T) {
	touch := func(t *testing.T, path string) {
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	}
	for name, c := range map[string]struct {
		policy Verify
		change func(t *testing.T, path string)
		want   string // the error; "": none
	}{
		"unchanged":           {VerifyChanged, func(*testing.T, string) {}, ""},
		"default":             {"", func(*testing.T, string) {}, ""},
		"unchanged, always":   {VerifyAlways, func(*testing.T, string) {}, "file is corrupt: size 4 sha256 88d4266f"},
		"touched":             {VerifyChanged, touch, "file is corrupt: size 4 sha256 88d4266f"},
		"touched, never":      {VerifyNever, touch, ""},
		"changed mode":        {VerifyChanged, func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o600)) }, "sha256 88d4266f"},
		"copy with its times": {VerifyChanged, copyWithTimes, "sha256 88d4266f"},
		"longer": {VerifyNever, func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("12345"), 0o644))
		}, "file is corrupt: size 5, expected 4"},
		"gone": {VerifyNever, func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, "model file missing or unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, []byte("abcd"), 0o644))
			known, err := inspect(path)
			require.NoError(t, err)
			known.SHA256 = "expected"
			c.change(t, path)
			got, err := verifyFile(t.Context(), path, File{Size: 4, SHA256: "expected"}, known, c.policy)
			if c.want == "" {
				require.NoError(t, err)
				assert.Equal(t, "expected", got.SHA256)
				return
			}
			assert.ErrorContains(t, err, c.want)
			assert.ErrorIs(t, err, ErrDamaged)
		})
	}
}

// TestCheckIsInterrupted: a file that was not read to its end is not damaged.
func TestCheckIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("abcd"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := CheckFiles(ctx, dir, map[string]File{"file": {Size: 4, SHA256: "another"}}, VerifyAlways)
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, ErrDamaged)
}

// TestUnreadable: a file without read permission is not damaged, and stays.
func TestUnreadable(t *testing.T) {
	assert.NotErrorIs(t, unreadable(fs.ErrPermission), ErrDamaged)
	assert.ErrorIs(t, unreadable(fs.ErrNotExist), ErrDamaged)
	assert.ErrorIs(t, unreadable(unix.EIO), ErrDamaged)
}

// copyWithTimes replaces a file and keeps its time, as `cp -p` and rsync do.
func copyWithTimes(t *testing.T, path string) {
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+".new", []byte("abcd"), 0o644))
	require.NoError(t, os.Chtimes(path+".new", time.Time{}, info.ModTime()))
	require.NoError(t, os.Rename(path+".new", path))
}

func TestCheckRemembersWhatIsSettled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("abcd"), 0o644))
	file, err := HashFile(t.Context(), path)
	require.NoError(t, err)
	files := map[string]File{"file": file}

	require.NoError(t, CheckFiles(t.Context(), dir, files, VerifyChanged))
	assert.Empty(t, readChecked(dir), "a file written just now may be written again within a tick")

	read, err := inspect(path)
	require.NoError(t, err)
	read.SHA256 = file.SHA256
	later := time.Now().Add(settled + time.Second)
	rememberChecked(dir, readChecked(dir), map[string]checked{"file": read}, later)
	assert.Equal(t, map[string]checked{"file": read}, readChecked(dir))

	other := read
	other.Modified--
	rememberChecked(dir, readChecked(dir), map[string]checked{"other": other, "file": other}, later)
	assert.Equal(t, map[string]checked{"file": read}, readChecked(dir), "a file that changed while it was read")

	require.NoError(t, os.WriteFile(filepath.Join(dir, checkedFile), []byte("{"), 0o644))
	assert.Empty(t, readChecked(dir), "damaged")
	require.NoError(t, CheckFiles(t.Context(), dir, files, VerifyChanged))
}

func TestFreeSpace(t *testing.T) {
	free, err := FreeSpace(t.TempDir())
	require.NoError(t, err)
	assert.Positive(t, free)
	_, err = FreeSpace(filepath.Join(t.TempDir(), "nowhere"))
	require.Error(t, err)
}
