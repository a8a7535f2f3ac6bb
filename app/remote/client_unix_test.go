//go:build unix

package remote

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dragoman/app/remote/remotetest"
)

// A call has the key of its file at that time, and none is made without a key.
func TestKey(t *testing.T) {
	s := remotetest.New(t, nil)
	file := filepath.Join(t.TempDir(), "key")
	c := NewClient(s.URL, file, time.Minute, 1)
	defer c.Close()
	call := func() error {
		_, err := c.Call(t.Context(), chatPath, []byte("{}"))
		return err
	}
	for _, key := range []string{"one", "two\r\n", strings.Repeat("k", maxKey)} {
		require.NoError(t, os.WriteFile(file, []byte(key), 0o600))
		require.NoError(t, call())
		calls := s.Calls()
		assert.Equal(t, "Bearer "+strings.TrimSpace(key), calls[len(calls)-1].Header.Get("Authorization"))
	}
	made := len(s.Calls())
	for name, write := range map[string]func() error{
		"no such file":                 func() error { return nil },
		"is not a regular file":        func() error { return unix.Mkfifo(file, 0o600) }, // nobody writes into it
		"has no key":                   func() error { return os.WriteFile(file, []byte(" \n"), 0o600) },
		"or more than one line":        func() error { return os.WriteFile(file, []byte("one\ntwo"), 0o600) },
		"key: has more than 8192 byte": func() error { return os.WriteFile(file, []byte(strings.Repeat("k", maxKey+1)), 0o600) },
	} {
		require.NoError(t, os.RemoveAll(file), name)
		require.NoError(t, write(), name)
		err := call()
		require.ErrorContains(t, err, name)
		var failed *CallError
		require.ErrorAs(t, err, &failed, name)
		assert.Equal(t, http.StatusUnauthorized, failed.Status, name)
	}
	assert.Len(t, s.Calls(), made)
}
