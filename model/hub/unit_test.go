package hub

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRef(t *testing.T) {
	home, here := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(here)
	require.NoError(t, os.MkdirAll("models/mine", 0o755))
	for _, tt := range []struct {
		name, revision string
		want           string // String and, after a space, the revision
		kind           kind
		fails          string
	}{
		{name: "facebook/m2m100_418M", want: "facebook/m2m100_418M main"},
		{name: " facebook/m2m100_418M ", revision: "v1.0", want: "facebook/m2m100_418M v1.0"},
		{name: "facebook/m2m100_418M@refs/pr/3", want: "facebook/m2m100_418M refs/pr/3"},
		{name: "a/b@v1", revision: "v1", want: "a/b v1"},
		{name: "https://huggingface.co/facebook/m2m100_418M", want: "facebook/m2m100_418M main"},
		{name: "https://hf.co/facebook/m2m100_418M/tree/refs/pr/3/", want: "facebook/m2m100_418M refs/pr/3"},
		{name: "https://me:pass@host:8443/x/y?sig=1#z", want: "https://host:8443/x/y ", kind: kindURL},
		{name: "http://host", want: "http://host ", kind: kindURL},
		{name: "models/mine", want: "models/mine ", kind: kindFolder},
		{name: "./nowhere", want: "nowhere ", kind: kindFolder},
		{name: "../up/", want: "../up ", kind: kindFolder},
		{name: "/abs/x", want: "/abs/x ", kind: kindFolder},
		{name: ".", want: ". ", kind: kindFolder},
		{name: "~/x", want: filepath.Join(home, "x") + " ", kind: kindFolder},
		{name: "~", want: home + " ", kind: kindFolder},

		{name: "", fails: "no model is named"},
		{name: "gpt2", fails: "owner/name"},
		{name: "models/mine/deeper", fails: "neither a folder that exists"},
		{name: "a/../b", fails: "neither"},
		{name: "a/b..c", fails: "neither"},
		{name: "a/b--c", fails: "neither"},
		{name: "a b/c", fails: "neither"},
		{name: "a/" + strings.Repeat("b", 95), fails: "neither"},
		{name: "ftp://host/x", fails: "only http:// and https://"},
		{name: "http://", fails: "cannot be read"},
		{name: "http://[::1/x", fails: "cannot be read"},
		{name: "~other/x", fails: "whose home"},
		{name: "./x", revision: "v1", fails: "is a folder, which has no revision"},
		{name: "https://host/x", revision: "v1", fails: "is a URL, which has no revision"},
		{name: "a/b@v1", revision: "v2", fails: `names revision "v1" and "v2"`},
		{name: "a/b@", fails: `revision ""`},
		{name: "a/b", revision: "../../etc", fails: "not the name of a branch"},
		{name: "a/b", revision: "x/../y", fails: "not the name of a branch"},
		{name: "a/b", revision: "x y", fails: "not the name of a branch"},
	} {
		t.Run(tt.name+" "+tt.revision, func(t *testing.T) {
			r, err := ParseRef(tt.name, tt.revision)
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, r.String()+" "+r.Revision())
			assert.Equal(t, tt.kind, r.kind)
		})
	}
}

func TestSameOrigin(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"https://hub.example/a", "https://HUB.example:443/b", true},
		{"http://hub.example", "http://hub.example:80", true},
		{"https://hub.example", "http://hub.example", false},
		{"https://hub.example", "https://cdn.hub.example", false},
		{"http://127.0.0.1:1", "http://127.0.0.1:2", false},
	} {
		a, err := url.Parse(tt.a)
		require.NoError(t, err)
		b, err := url.Parse(tt.b)
		require.NoError(t, err)
		assert.Equal(t, tt.want, sameOrigin(a, b), "%s %s", tt.a, tt.b)
	}
}

func TestRedirect(t *testing.T) {
	from, err := url.Parse("https://hub.example/a/b")
	require.NoError(t, err)
	for _, tt := range []struct {
		status         int
		location, want string
		fails          string
	}{
		{status: 200, location: "/elsewhere"},
		{status: 304, location: "/elsewhere"},
		{status: 307, location: "/api/cache/x", want: "https://hub.example/api/cache/x"},
		{status: 302, location: "https://cdn.example/y?sig=1", want: "https://cdn.example/y?sig=1"},
		{status: 302, location: "http://cdn.example/y?sig=1", fails: "from https to unprotected http://cdn.example/y:"},
		{status: 302, location: "ftp://cdn.example/y", fails: "not an http(s) URL"},
		{status: 302, location: "http://[::1", fails: "not an http(s) URL"},
	} {
		next, err := redirect(&http.Response{StatusCode: tt.status, Header: http.Header{"Location": {tt.location}}}, from)
		if tt.fails != "" {
			require.ErrorContains(t, err, tt.fails)
			continue
		}
		require.NoError(t, err)
		if tt.want == "" {
			assert.Nil(t, next)
			continue
		}
		assert.Equal(t, tt.want, next.String())
	}
}

func TestReadVersion(t *testing.T) {
	sha, git := strings.Repeat("a", 64), strings.Repeat("b", 40)
	for name, tt := range map[string]struct {
		header map[string]string
		status int
		want   version
	}{
		"large file":      {map[string]string{"X-Linked-Etag": `"` + sha + `"`, "X-Linked-Size": "12", "ETag": `"x"`}, 302, version{Size: 12, ETag: `"` + sha + `"`, Sum: "sha256:" + sha}},
		"small file":      {map[string]string{"X-Repo-Commit": git, "ETag": `W/"` + git + `"`}, 200, version{Size: 5, ETag: `W/"` + git + `"`, Sum: "git:" + git}},
		"plain server":    {map[string]string{"ETag": `"` + git + `"`}, 200, version{Size: 5, ETag: `"` + git + `"`}},
		"nothing known":   {nil, 302, version{Size: -1}},
		"size is no size": {map[string]string{"X-Linked-Size": "-3"}, 302, version{Size: -1}},
	} {
		header := http.Header{}
		for key, value := range tt.header {
			header.Set(key, value)
		}
		assert.Equal(t, tt.want, readVersion(&http.Response{StatusCode: tt.status, Header: header, ContentLength: 5}), name)
	}
}

func TestVersionSame(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b version
		want bool
	}{
		"same sum, other ETag":  {version{Sum: "git:1", ETag: "x"}, version{Sum: "git:1", ETag: "y"}, true},
		"same ETag, one sum":    {version{Sum: "git:1", ETag: "x"}, version{ETag: "x"}, false},
		"same ETag":             {version{ETag: "x"}, version{ETag: "x"}, true},
		"same date":             {version{Modified: "d", Size: 1}, version{Modified: "d", Size: 1}, true},
		"same date, other size": {version{Modified: "d", Size: 1}, version{Modified: "d", Size: 2}, false},
		"nothing known":         {version{Size: 1}, version{Size: 1}, false},
	} {
		assert.Equal(t, tt.want, tt.a.same(tt.b), name)
	}
	assert.False(t, version{ETag: `W/"x"`}.resumable(), "a weak ETag promises nothing")
	assert.True(t, version{ETag: `W/"x"`, Modified: "d"}.resumable())
}

func TestParseContentRange(t *testing.T) {
	for _, tt := range []struct {
		text         string
		start, total int64
		ok           bool
	}{
		{"bytes 7-9/10", 7, 10, true},
		{"bytes 7-9/*", 7, -1, true},
		{"bytes */10", 0, 0, false},
		{"", 0, 0, false},
		{"bytes x-9/10", 0, 0, false},
		{"bytes 1-9/x", 0, 0, false},
	} {
		start, total, err := parseContentRange(tt.text)
		assert.Equal(t, tt.ok, err == nil, tt.text)
		if tt.ok {
			assert.Equal(t, [2]int64{tt.start, tt.total}, [2]int64{start, total}, tt.text)
		}
	}
}

// A name from an index is a plain name or is refused, whatever the index says.
func FuzzShards(f *testing.F) {
	for _, seed := range []string{
		`{"weight_map": {"a": "model-1.safetensors"}}`,
		`{"weight_map": {"a": "../x.safetensors"}}`,
		`{"weight_map": {"a": "\u0000.safetensors", "b": 3}}`,
		`{"weight_map": []}`, `[`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		names, err := weightForms[0].shards(index)
		if err != nil {
			return
		}
		for _, name := range names {
			if filepath.Base(name) != name || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\/\x00") || name[0] == '.' {
				t.Fatalf("shard %q is not a plain name", name)
			}
		}
	})
}

type steppedClock struct{ now time.Time }

func (c *steppedClock) Now() time.Time                            { return c.now }
func (c *steppedClock) Wait(context.Context, time.Duration) error { return nil }

func TestLinesAreFew(t *testing.T) {
	var out bytes.Buffer
	time0 := &steppedClock{time.Unix(0, 0)}
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	m := Lines(log, time0)("w.bin", 1_000, 1_000_000)
	for done := int64(1_000); done <= 1_000_000; done += 1_000 {
		m.Set(done)
		time0.now = time0.now.Add(20 * time.Millisecond) // 20 s in all
	}
	m.Close(nil)
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, got, 11, out.String())
	assert.Equal(t, `msg="resuming file" file=w.bin done="1.0 kB" of="1.0 MB" percent=0`, got[0])
	assert.Equal(t, `msg="fetching file" file=w.bin done="101 kB" of="1.0 MB" percent=10`, got[1])
	assert.Equal(t, `msg="fetched file" file=w.bin done="1.0 MB" of="1.0 MB" percent=100 took=20s rate="50 kB/s"`, got[10])

	out.Reset()
	m = Lines(log, time0)("w.bin", 0, -1)
	m.Set(5)
	time0.now = time0.now.Add(lineEvery)
	m.Set(6)
	m.Close(errors.New("cut"))
	assert.Equal(t, 2, strings.Count(out.String(), "\n"), out.String())
	assert.Contains(t, out.String(), `msg="stopped fetching file" file=w.bin done="6 B"`)
}

func TestBars(t *testing.T) {
	for _, total := range []int64{1_000_000, -1, 0} {
		var out bytes.Buffer
		m := Bars(&out)("weights.bin", 0, total)
		m.Set(400_000)
		m.Set(0) // started over
		m.Set(1_000_000)
		m.Close(nil)
		assert.True(t, strings.HasSuffix(out.String(), "\n"))
		if total > 0 {
			assert.Contains(t, out.String(), "weights.bin")
			assert.Contains(t, out.String(), "100%")
		}
	}
}

func TestProgressToAFileIsLines(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer f.Close()
	var out bytes.Buffer
	ProgressTo(f, slog.New(slog.NewTextHandler(&out, nil)))("x", 0, 1).Close(nil)
	assert.Contains(t, out.String(), "file=x")
	raw, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	assert.Empty(t, raw)
}

func TestRealClockWait(t *testing.T) {
	require.NoError(t, realClock{}.Wait(t.Context(), 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, realClock{}.Wait(ctx, time.Hour), context.Canceled)
}

func TestFreeSpace(t *testing.T) {
	free, err := freeSpace(t.TempDir())
	require.NoError(t, err)
	assert.Positive(t, free)
	_, err = freeSpace(filepath.Join(t.TempDir(), "nowhere"))
	require.Error(t, err)
}
