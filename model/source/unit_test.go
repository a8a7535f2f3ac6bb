package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
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
		{name: "models/mine/deeper", want: "models/mine/deeper main"},
		{name: "a/b/c/d-e@v1", want: "a/b/c/d-e v1"},
		{name: "a/b/model.enfr.intgemm.alphas.bin.gz@v1", want: "a/b/model.enfr.intgemm.alphas.bin.gz v1"},
		{name: "https://huggingface.co/a/b/tree/main/c/d", want: "a/b/c/d main"},
		{name: "https://huggingface.co/a/b/tree/feature%2Fx/c", want: "a/b/c feature/x"},
		{name: "https://huggingface.co/a/b/tree/refs/pr/3/c", want: "a/b/c refs/pr/3"},
		{name: "https://huggingface.co/a/b/blob/main/model.enfr.intgemm.alphas.bin", want: "a/b/model.enfr.intgemm.alphas.bin main"},
		{name: "https://huggingface.co/a/b/resolve/v1/c/model.enfr.intgemm.alphas.bin?download=true", want: "a/b/c/model.enfr.intgemm.alphas.bin v1"},
		{name: "https://huggingface.co/a/b/resolve/main", want: "https://huggingface.co/a/b/resolve/main ", kind: kindURL},
		{name: "https://me:pass@host/x/model.enfr.intgemm.alphas.bin?sig=1", want: "https://host/x/model.enfr.intgemm.alphas.bin ", kind: kindURL},
		{name: "https://host/model.intgemm.alphas.bin", want: "https://host/model.intgemm.alphas.bin ", kind: kindURL},
		{name: "https://me:pass@host:8443/x/y?sig=1#z", want: "https://host:8443/x/y ", kind: kindURL},
		{name: "HTTPS://host/x", want: "https://host/x ", kind: kindURL},
		{name: "http://host", want: "http://host ", kind: kindURL},
		{name: "models/mine", want: "models/mine ", kind: kindFolder},
		{name: "./nowhere", want: "nowhere ", kind: kindFolder},
		{name: "../up/", want: "../up ", kind: kindFolder},
		{name: "/abs/x", want: "/abs/x ", kind: kindFolder},
		{name: ".", want: ". ", kind: kindFolder},
		{name: "translate-en_fr-1_9.argosmodel", want: "translate-en_fr-1_9.argosmodel ", kind: kindFolder},
		{name: "~/x", want: filepath.Join(home, "x") + " ", kind: kindFolder},
		{name: "~", want: home + " ", kind: kindFolder},

		{name: "", fails: "no model is named"},
		{name: "gpt2", fails: "owner/name"},
		{name: "models/mine//deeper", fails: "neither a folder that exists"},
		{name: "a/b/../c", fails: "neither"},
		{name: "a/b/.hidden", fails: "neither"},
		{name: "a/b/c/", fails: "neither"},
		{name: "a/b/c d", fails: "neither"},
		{name: "a/b/" + strings.Repeat("c", 513), fails: "neither"},
		{name: "https://huggingface.co/a/b/tree/main/%2e%2e/c", fails: "neither"},
		{name: "a/../b", fails: "neither"},
		{name: "a/b..c", fails: "neither"},
		{name: "a/b--c", fails: "neither"},
		{name: "a b/c", fails: "neither"},
		{name: "a/" + strings.Repeat("b", 95), fails: "neither"},
		{name: "ftp://me:pass@host/x?sig=1", fails: `"ftp://host/x": only http:// and https://`},
		{name: "http://", fails: "cannot be parsed"},
		{name: "http://[::1/x", fails: "cannot be parsed"},
		{name: "https://host/en_fr.argosmodel", fails: "download it"},
		{name: "~other/x", fails: "whose home"},
		{name: "./x", revision: "v1", fails: "is a folder, which has no revision"},
		{name: "https://host/x", revision: "v1", fails: "is a URL, which has no revision"},
		{name: "a/b@v1", revision: "v2", fails: `names revision "v1" and another setting names "v2"`},
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
			assert.Equal(t, tt.want, r.String()+" "+r.revision)
			assert.Equal(t, cmp.Or(tt.kind, kindRepo), r.kind)
			if again, err := ParseRef(r.String(), r.revision); r.kind != kindFolder {
				require.NoError(t, err)
				assert.Equal(t, r.String(), again.String())
				assert.Equal(t, r.file, again.file)
			}
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
	c, err := New(Config{Endpoint: "https://hub.example", Token: "hf_secret"})
	require.NoError(t, err)
	described := http.Header{"X-Linked-Etag": {"x"}, "X-Linked-Size": {"1"}}
	for _, tt := range []struct {
		method, to string
		answer     http.Header
		token      string
		fails      string
	}{
		{method: "GET", to: "https://hub.example/api/cache/x", token: "Bearer hf_secret"},
		{method: "GET", to: "https://hub.example:8443/x"},
		{method: "GET", to: "https://cdn.hub.example/y?sig=1", answer: described},
		{method: "HEAD", to: "https://cdn.example/y"},
		{method: "HEAD", to: "https://cdn.example/y", answer: described, fails: http.ErrUseLastResponse.Error()},
		{method: "HEAD", to: "https://hub.example/y", answer: described, token: "Bearer hf_secret"},
		{method: "GET", to: "http://cdn.example/y?sig=1", fails: "from https to unprotected http://cdn.example/y"},
		{method: "GET", to: "ftp://cdn.example/y", fails: "not an http(s) URL"},
		{method: "GET", to: "https:///y", fails: "not an http(s) URL"},
	} {
		from, err := http.NewRequest(tt.method, "https://hub.example/a/b", nil)
		require.NoError(t, err)
		next, err := http.NewRequest(tt.method, tt.to, nil)
		require.NoError(t, err)
		next.Header = http.Header{"Authorization": {"Bearer hf_secret"}, "Referer": {"https://hub.example/a/b?sig=1"}}
		next.Response = &http.Response{Header: tt.answer, Request: from}
		err = c.redirect(next, []*http.Request{from})
		if tt.fails != "" {
			require.ErrorContains(t, err, tt.fails)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, tt.token, next.Header.Get("Authorization"), tt.to)
		assert.Empty(t, next.Header.Get("Referer"))
	}
}

// What a redirect said of a file counts where the last answer does not say it.
func TestHubHeader(t *testing.T) {
	first := &http.Response{Request: &http.Request{}, Header: http.Header{headerCommit: {"a"}, headerLinkedSize: {"1"}}}
	last := &http.Response{Request: &http.Request{Response: first}, Header: http.Header{headerCommit: {"b"}}}
	assert.Equal(t, "b", hubHeader(last, headerCommit))
	assert.Equal(t, "1", hubHeader(last, headerLinkedSize))
	assert.Empty(t, hubHeader(last, headerLinkedETag))
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
		assert.Equal(t, tt.want, readVersion(&http.Response{Request: &http.Request{}, StatusCode: tt.status, Header: header, ContentLength: 5}), name)
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
		"same ETag, once weak":  {version{ETag: `W/"x"`}, version{ETag: `"x"`}, true},
		"same date":             {version{Modified: "d", Size: 1}, version{Modified: "d", Size: 1}, true},
		"same date, other size": {version{Modified: "d", Size: 1}, version{Modified: "d", Size: 2}, false},
		"nothing known":         {version{Size: 1}, version{Size: 1}, false},
	} {
		assert.Equal(t, tt.want, tt.a.same(tt.b), name)
	}
	assert.False(t, version{ETag: `W/"x"`}.resumable(), "a weak ETag promises nothing")
	assert.True(t, version{ETag: `W/"x"`, Modified: "d"}.resumable())
}

func TestRangeStart(t *testing.T) {
	for text, want := range map[string]int64{
		"bytes 7-9/10": 7, "bytes 7-9/*": 7, "bytes */10": -1, "": -1, "bytes x-9/10": -1, "bytes 7": -1,
		"bytes 99999999999999999999-": -1,
	} {
		assert.Equal(t, want, rangeStart(text), text)
	}
}

func TestLinesAreFew(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	synctest.Test(t, func(t *testing.T) {
		m := lines(log)("w.bin", 1_000, 1_000_000)
		for done := int64(1_000); done <= 1_000_000; done += 1_000 {
			m.Set(done)
			time.Sleep(20 * time.Millisecond) // 20 s in all
		}
		m.Close(nil)
	})
	assert.Equal(t, `msg="resuming file" file=w.bin done="1.0 kB" of="1.0 MB" percent=0
msg="fetching file" file=w.bin done="501 kB" of="1.0 MB" percent=50
msg="fetched file" file=w.bin done="1.0 MB" of="1.0 MB" percent=100 took=20s rate="50 kB/s"
`, out.String())

	out.Reset()
	synctest.Test(t, func(t *testing.T) {
		m := lines(log)("w.bin", 0, -1)
		m.Set(5)
		time.Sleep(lineEvery)
		m.Set(6)
		m.Close(errors.New("cut"))
	})
	assert.Equal(t, 2, strings.Count(out.String(), "\n"), out.String())
	assert.Contains(t, out.String(), `msg="stopped fetching file" file=w.bin done="6 B"`)
}

func TestBars(t *testing.T) {
	for _, total := range []int64{1_000_000, -1, 0} {
		var out bytes.Buffer
		m := bars(&out)("weights.bin", 0, total)
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

func TestWait(t *testing.T) {
	require.NoError(t, wait(t.Context(), 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, wait(ctx, time.Hour), context.Canceled)
}

func TestRefName(t *testing.T) {
	for name, want := range map[string]string{
		"facebook/m2m100_418M@v1": "m2m100_418M", "a/b/c/en-fr": "en-fr", "https://host/x/y?z=1": "y", "./x/y": "y", "x/en_fr.argosmodel": "en_fr",
		"firefox:en-de": "firefox-en-de", "a/b/model.enfr.intgemm.alphas.bin.gz": "firefox-en-fr", "https://host/x/model.en-zh_hant.intgemm8.bin": "firefox-en-zh_hant",
		"a/b/model.intgemm.alphas.bin": "b", "https://host/x/model.intgemm.alphas.bin": "x",
	} {
		r, err := ParseRef(name, "")
		require.NoError(t, err, name)
		assert.Equal(t, want, r.Name(), name)
	}
}
