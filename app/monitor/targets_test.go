package monitor

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTarget(t *testing.T) {
	for _, test := range []struct{ text, wantName, wantURL string }{
		{"localhost", "localhost:9527", "http://localhost:9527/metrics"},
		{"localhost:", "localhost:9527", "http://localhost:9527/metrics"},
		{"localhost:80", "localhost:80", "http://localhost:80/metrics"},
		{"10.0.0.7", "10.0.0.7:9527", "http://10.0.0.7:9527/metrics"},
		{"::1", "[::1]:9527", "http://[::1]:9527/metrics"},
		{"[::1]", "[::1]:9527", "http://[::1]:9527/metrics"},
		{"[::1]:80", "[::1]:80", "http://[::1]:80/metrics"},
		{"http://example.com", "example.com", "http://example.com/metrics"},
		{"https://example.com/", "example.com", "https://example.com/metrics"},
		{"https://example.com/mt/metrics", "example.com/mt/metrics", "https://example.com/mt/metrics"},
		{"example.com/mt/metrics", "example.com:9527/mt/metrics", "http://example.com:9527/mt/metrics"},
		{"http://user:pass@example.com", "example.com", "http://user:pass@example.com/metrics"},
		{"http://example.com/metrics?all=1#x", "example.com", "http://example.com/metrics?all=1"},
	} {
		t.Run(test.text, func(t *testing.T) {
			got, err := parseTarget(test.text, 9527)
			require.NoError(t, err)
			assert.Equal(t, target{test.wantName, test.wantURL}, got)
		})
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `"" is not a server: use one such as http://localhost:9527 or localhost:9527`},
		{":9527", "is not a server"},
		{"ftp://example.com", "is not a server"},
		{"http://", "is not a server"},
		{"http:///metrics", "is not a server"},
		{"a b", "is not a server"},
		{"localhost:http", "is not a server"},
		{"localhost:0", "has an invalid port"},
		{"localhost:65536", "has an invalid port"},
		{"http://user:secret@[", `"…@[" is not a server`},
	} {
		t.Run(test.text, func(t *testing.T) {
			_, err := parseTarget(test.text, 9527)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	_, err := parseTarget("localhost", 0)
	assert.EqualError(t, err, `"localhost" has no port: use one such as localhost:9527`)
}

func FuzzTarget(f *testing.F) {
	for _, text := range []string{"localhost", "::1", "https://a/b?c#d", "http://u:p@h", "\x00", "[", "a%zz", "//a", "é:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTarget(text, 9527)
		if err != nil {
			return
		}
		u, err := url.Parse(got.url)
		require.NoError(t, err)
		assert.Contains(t, []string{"http", "https"}, u.Scheme)
		assert.NotEmpty(t, u.Hostname())
		assert.NotEmpty(t, u.Path)
		assert.Equal(t, printable(got.name), got.name)
		_, err = http.NewRequest("GET", got.url, nil)
		assert.NoError(t, err)
	})
}

// names are the servers that are found.
func names(list []target) string {
	var text []string
	for _, server := range list {
		text = append(text, server.name)
	}
	return strings.Join(text, " ")
}

func TestTargetsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servers")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o644)) }
	write("# the first floor\n\n  a:1  \nb\n")
	found, err := newTargets(Targets{Servers: []string{"b", "c"}, File: file, Port: 9527})
	require.NoError(t, err)
	for _, test := range []struct {
		name, text string // "" removes the file
		want       string
		wantNote   string
	}{
		{"as it was", "a:1\nb\n", "b:9527 c:9527 a:1", ""},
		{"one more", "a:1\nd\n", "b:9527 c:9527 a:1 d:9527", ""},
		{"damaged", "a:1\nftp://x\n", "b:9527 c:9527 a:1 d:9527", `servers line 2: "ftp://x" is not a server`},
		{"gone", "", "b:9527 c:9527 a:1 d:9527", "no such file"},
		{"back", "a:1", "b:9527 c:9527 a:1", ""},
		{"endless", strings.Repeat("a", 1<<17), "b:9527 c:9527 a:1", "token too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(file))
			if test.text != "" {
				write(test.text)
			}
			list, notes := found.find(t.Context(), time.Second)
			assert.Equal(t, test.want, names(list))
			if test.wantNote == "" {
				assert.Empty(t, notes)
				return
			}
			require.Len(t, notes, 1)
			assert.Contains(t, notes[0], test.wantNote)
		})
	}
	_, err = newTargets(Targets{File: filepath.Join(t.TempDir(), "none")})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestResolvedTargets(t *testing.T) {
	var addresses []string
	var failure error
	found, err := newTargets(Targets{
		Resolve: []string{"pods:9527"}, Port: 80,
		Lookup: func(_ context.Context, host string) ([]string, error) {
			assert.Equal(t, "pods", host)
			return addresses, failure
		},
	})
	require.NoError(t, err)
	for _, test := range []struct {
		name      string
		addresses []string
		failure   error
		want      string
		wantNotes []string
	}{
		{"none yet", nil, errors.New("no such host"), "", []string{"resolve pods: no such host"}},
		{"two", []string{"10.0.0.2", "10.0.0.1"}, nil, "10.0.0.1:9527 10.0.0.2:9527", nil},
		{"one twice", []string{"10.0.0.2", "10.0.0.2"}, nil, "10.0.0.2:9527", nil},
		{"IPv6", []string{"fd00::1", "10.0.0.2"}, nil, "10.0.0.2:9527 [fd00::1]:9527", nil},
		{"the resolver fails", nil, errors.New("i/o timeout"), "10.0.0.2:9527 [fd00::1]:9527", []string{"resolve pods: i/o timeout"}},
		{"all gone", []string{}, nil, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			addresses, failure = test.addresses, test.failure
			list, notes := found.find(t.Context(), time.Second)
			assert.Equal(t, test.want, names(list))
			assert.Equal(t, test.wantNotes, notes)
		})
	}
}

func TestNamesThatCannotBeResolved(t *testing.T) {
	for _, name := range []string{"", ":9527", "http://pods:9527", "pods:http", "pods:0", "pods:65536", "a:b:c", "[::1"} {
		_, err := newTargets(Targets{Resolve: []string{name}, Port: 9527})
		assert.ErrorContains(t, err, "is not a DNS name: use one such as dragoman-headless:9527", name)
	}
}

// Resolving may not take the time that the servers have to answer.
func TestSlowResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		m, err := New(Config{
			Interval: time.Second, Count: 1, Client: &http.Client{Transport: network{"a:9527": s}},
			Targets: Targets{Servers: []string{"a"}, Resolve: []string{"pods"}, Port: 9527,
				Lookup: func(ctx context.Context, _ string) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }},
		})
		require.NoError(t, err)
		var got recording
		require.NoError(t, m.Run(t.Context(), &got))
		for _, round := range got.rounds {
			require.Len(t, round.Rows, 1)
			assert.NoError(t, round.Rows[0].Err)
			assert.Equal(t, []string{"resolve pods: context deadline exceeded"}, round.Notes)
		}
	})
}

// Servers that a name does not have any more are forgotten: one that comes back under
// the same address is another one.
func TestServersThatAreGoneAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService().load()
		answers := [][]string{{"10.0.0.1"}, {}, {"10.0.0.1"}, {"10.0.0.1"}}
		n := 0
		m, err := New(Config{
			Interval: time.Second, Count: 3, Client: &http.Client{Transport: network{"10.0.0.1:9527": s}},
			Targets: Targets{Resolve: []string{"pods:9527"},
				Lookup: func(context.Context, string) ([]string, error) { n++; return answers[n-1], nil }},
		})
		require.NoError(t, err)
		got := recording{then: func(Round) error { s.work(); return nil }}
		require.NoError(t, m.Run(t.Context(), &got))
		require.Len(t, got.rounds, 4)
		assert.Empty(t, got.rounds[1].Rows)
		assert.True(t, math.IsNaN(got.rounds[2].Rows[0].Seconds), "it has no differences yet")
		assert.Equal(t, 1.0, got.rounds[3].Rows[0].Seconds)
	})
}
