package source_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/model/source"
	"dragoman/model/source/hubtest"
)

func header(key, value string) http.Header { return http.Header{key: {value}} }

// What a pull gets over by itself. sent is how many bytes of the weights go out
// in all: just their size where nothing may be fetched twice.
func TestPullGetsOver(t *testing.T) {
	cut := hubtest.Fault{File: weight, CutAfter: 50_000}
	for _, tt := range []struct {
		name   string
		faults []hubtest.Fault
		sent   int64
		waits  []time.Duration
	}{
		{"a cut", []hubtest.Fault{cut}, size, nil},
		{"more cuts than tries, each a bit further", []hubtest.Fault{{File: weight, CutAfter: 30_000, Times: 9}}, size, nil},
		{"a cut, then a refused range", []hubtest.Fault{cut, {File: weight, Status: http.StatusRequestedRangeNotSatisfiable}}, 50_000 + size, nil},
		{"a cut, then a server without ranges", []hubtest.Fault{cut, {File: weight, IgnoreRange: true}}, 50_000 + size, nil},
		{"a cut, then another range", []hubtest.Fault{cut,
			{File: weight, Status: http.StatusPartialContent, Header: header("Content-Range", "bytes 7-9/300000")}}, 50_000 + size, nil},
		{"a cut, then no range named", []hubtest.Fault{cut, {File: weight, Status: http.StatusPartialContent}}, 50_000 + size, nil},
		{"a stalled body", []hubtest.Fault{{File: weight, StallAfter: 50_000}}, size, nil},
		{"one wrong checksum", []hubtest.Fault{{File: weight, Corrupt: true}}, 2 * size, nil},
		{"one wrong git checksum", []hubtest.Fault{{File: "vocab.json", Corrupt: true}}, size, nil},
		{"a wrong start, then a cut", []hubtest.Fault{{File: weight, Corrupt: true, CutAfter: 50_000}}, 2 * size, nil},
		{"429 with Retry-After in seconds", []hubtest.Fault{{File: weight, Status: 429, Header: header("Retry-After", "7"), Times: 2}},
			size, []time.Duration{7 * time.Second, 7 * time.Second}},
		{"429 with a date", []hubtest.Fault{{File: "config.json", Method: "HEAD", Status: 429, Header: http.Header{
			"Retry-After": {"Fri, 02 Jan 2026 03:04:15 GMT"}, "Date": {"Fri, 02 Jan 2026 03:04:05 GMT"}}}},
			size, []time.Duration{10 * time.Second}},
		{"429 with RateLimit", []hubtest.Fault{{File: "config.json", Method: "HEAD", Status: 429, Header: header("Ratelimit", `"api";r=0;t=55`)}},
			size, []time.Duration{55 * time.Second}},
		{"500", []hubtest.Fault{{File: "config.json", Status: 500, Times: 3}}, size, nil},
		{"a small file that is cut", []hubtest.Fault{{File: "config.json", CutAfter: 10}}, size, nil},
		{"502 of the redirect", []hubtest.Fault{{File: weight, Method: "HEAD", Status: 502, Times: 5}}, size, nil},
		{"503 of the storage", []hubtest.Fault{{File: weight, Status: 503, Header: header("Retry-After", "1")}}, size, []time.Duration{time.Second}},
		{"a signature that ran out", []hubtest.Fault{{File: weight, Status: 403}}, size, nil},
		{"HEAD says 0 bytes", []hubtest.Fault{{File: "vocab.json", Method: "HEAD", Status: 200, Header: header("Content-Length", "0")}}, size, nil},
		{"HEAD has a weak ETag", []hubtest.Fault{{File: "vocab.json", Method: "HEAD", Status: 200, Header: http.Header{
			"Etag": {`W/"` + hubtest.GitBlobID(repoFiles()["vocab.json"]) + `"`}}}}, size, nil},
		{"a file that is called a page", []hubtest.Fault{{File: "vocab.json", Method: "HEAD", Status: 200, Header: header("Content-Type", "text/html")}}, size, nil},
		{"no HEAD", []hubtest.Fault{{File: "vocab.json", Method: "HEAD", Status: 405}}, size, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := repoFiles()
			s := hubtest.New(t, repo, files)
			s.Fail(tt.faults...)
			var waited waits
			c := newClient(t, s)
			c.SetWait(waited.wait)
			if tt.faults[0].StallAfter > 0 {
				c.SetStallTimeout(200 * time.Millisecond)
			}
			dir := t.TempDir()
			_, err := c.Pull(t.Context(), ref(t, repo), dir)
			require.NoError(t, err)
			assertHolds(t, dir, files, usual...)
			if tt.faults[0].StallAfter == 0 {
				assert.Equal(t, tt.sent, s.Sent(weight))
			} else { // on a busy machine it may take another connection for stalled, too
				assert.GreaterOrEqual(t, s.Sent(weight), tt.sent)
			}
			if tt.waits != nil {
				assert.Equal(t, tt.waits, waited.list)
			}
		})
	}
}

// What ends a pull: with an error to test for, one line that says what to do,
// and no more requests for the file than are of use.
func TestPullFails(t *testing.T) {
	always := func(f hubtest.Fault) []hubtest.Fault { f.Times = -1; return []hubtest.Fault{f} }
	shards := func(names ...string) map[string][]byte {
		return repoFiles(map[string][]byte{weight: nil, "model.safetensors.index.json": index(names...)})
	}
	for _, tt := range []struct {
		name   string
		ref    string // default: repo
		token  string
		files  map[string][]byte // default: repoFiles()
		opts   []hubtest.Option
		faults []hubtest.Fault
		is     error
		text   string
		asked  int // requests in all
	}{
		{name: "no such repository", ref: "owner/m2m10", is: source.ErrRepoNotFound, text: "check the spelling of the name, or set HF_TOKEN", asked: 1},
		{name: "no such repository for a token", ref: "owner/m2m10", token: "hf_secret", is: source.ErrRepoNotFound, text: "HF_TOKEN may not read it", asked: 1},
		{name: "private", opts: []hubtest.Option{hubtest.WithToken("hf_secret")}, is: source.ErrRepoNotFound, text: "or it is private", asked: 1},
		{name: "wrong token", token: "hf_wrong", opts: []hubtest.Option{hubtest.WithToken("hf_secret")}, is: source.ErrUnauthorized, text: "HF_TOKEN is wrong or has expired", asked: 1},
		{name: "gated", opts: []hubtest.Option{hubtest.Gated()}, is: source.ErrGated, text: "/owner/m2m100 and set HF_TOKEN", asked: 1},
		{name: "gated for a token", token: "hf_secret", opts: []hubtest.Option{hubtest.Gated()}, is: source.ErrGated, text: "with the account of HF_TOKEN", asked: 1},
		{name: "no such revision", ref: repo + "@v9", is: source.ErrRevisionNotFound, text: `no revision "v9": check the branch, tag or commit`, asked: 1},
		{name: "no vocabulary", files: repoFiles(map[string][]byte{"vocab.json": nil}), is: source.ErrIncomplete, text: "vocab.json is not there", asked: 8},
		{name: "no weights", files: repoFiles(map[string][]byte{weight: nil}), is: source.ErrIncomplete, text: "none of model.safetensors, model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json"},
		{name: "listed but gone", files: shards("a.safetensors"), is: source.ErrFileNotFound, text: "a.safetensors"},
		{name: "shard above the folder", files: shards("../../etc/a.safetensors"), text: `"../../etc/a.safetensors"`},
		{name: "absolute shard", files: shards("/etc/a.safetensors"), text: "expected the plain name of a .safetensors file"},
		{name: "backslash shard", files: shards(`..\a.safetensors`), text: "expected the plain name of a .safetensors file"},
		{name: "hidden shard", files: shards(".safetensors"), text: "expected the plain name of a .safetensors file"},
		{name: "shard of another form", files: shards("config.json"), text: "expected the plain name of a .safetensors file"},
		{name: "index without shards", files: shards(), text: "\"weight_map\" is empty"},
		{name: "index that is no JSON", files: repoFiles(map[string][]byte{weight: nil, "model.safetensors.index.json": []byte("<html>")}), text: "model.safetensors.index.json: "},
		{name: "always corrupt", faults: always(hubtest.Fault{File: weight, Corrupt: true}), is: source.ErrChecksum,
			text: "expected sha256:" + hubtest.SHA256(repoFiles()[weight])},
		{name: "always corrupt git file", faults: always(hubtest.Fault{File: "config.json", Corrupt: true}), is: source.ErrChecksum,
			text: "expected git:" + hubtest.GitBlobID(repoFiles()["config.json"])},
		{name: "cut at the same place without ranges", faults: always(hubtest.Fault{File: weight, CutAfter: 40_000, IgnoreRange: true}), text: "gave up after 6 tries"},
		{name: "always 500", faults: always(hubtest.Fault{File: "config.json", Method: "HEAD", Status: 500}), text: "the server has a problem: try again later", asked: 6},
		{name: "501", faults: always(hubtest.Fault{File: "config.json", Status: 501}), text: "501 Not Implemented", asked: 3},
		{name: "always 429", faults: always(hubtest.Fault{File: "config.json", Method: "HEAD", Status: 429, Header: header("Retry-After", "1")}), is: source.ErrRateLimited, text: "set HF_TOKEN for a higher limit", asked: 6},
		{name: "429 for an hour", faults: always(hubtest.Fault{File: "config.json", Method: "HEAD", Status: 429, Header: header("Retry-After", "3600")}), is: source.ErrRateLimited, text: "asks to wait 1h0m0s, the maximum is 5m0s", asked: 1},
		{name: "forbidden", faults: always(hubtest.Fault{File: "config.json", Status: 403, Method: "HEAD", Header: header("X-Error-Code", "Other")}), is: source.ErrUnauthorized, text: "refuses access", asked: 1},
		{name: "a page to sign in", files: repoFiles(map[string][]byte{"config.json": []byte("<!doctype html><title>Sign in")}), faults: always(hubtest.Fault{
			File: "config.json", Method: "HEAD", Status: 200, Header: header("Content-Type", "text/html; charset=utf-8")}), text: "config.json: a web page is there in place of the file", asked: 2},
		{name: "all forbidden at a URL", ref: "URL", faults: []hubtest.Fault{{Method: "HEAD", Status: 403, Times: -1}, {Status: 403, Times: -1}}, is: source.ErrUnauthorized, text: "the server refuses access"},
		{name: "no Hub", faults: []hubtest.Fault{{Method: "HEAD", Status: 404, Times: -1}, {Status: 404, Times: -1}}, is: source.ErrIncomplete, text: "HF_ENDPOINT is not a mirror of the Hub"},
		{name: "compressed", faults: always(hubtest.Fault{File: "vocab.json", Status: 200, Header: header("Content-Encoding", "gzip")}), text: "compressed (gzip)"},
		{name: "redirects in a circle", faults: always(hubtest.Fault{File: "config.json", Method: "HEAD", Status: 302, Header: header("Location", "?again")}), text: "more than 10 redirects", asked: 10},
		{name: "redirect to a file", faults: always(hubtest.Fault{File: "config.json", Method: "HEAD", Status: 302, Header: header("Location", "file:///etc/passwd")}), text: "not an http(s) URL", asked: 1},
		{name: "URL without a checkpoint", ref: "URL/nothing", is: source.ErrIncomplete, text: "/plain/nothing/model.enfr.intgemm.alphas.bin", asked: 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.files == nil {
				tt.files = repoFiles()
			}
			s := hubtest.New(t, repo, tt.files, tt.opts...)
			s.Fail(tt.faults...)
			if tt.ref == "" {
				tt.ref = repo
			}
			c := newClient(t, s, func(c *source.Config) { c.Token = tt.token })
			parent := t.TempDir()
			dir := filepath.Join(parent, "models", "here")
			result, err := c.Pull(t.Context(), ref(t, strings.Replace(tt.ref, "URL", s.Base, 1)), dir)
			require.Error(t, err)
			assert.Empty(t, result)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			assert.ErrorContains(t, err, tt.text)
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), "secret-of-the-url")
			if tt.asked > 0 {
				assert.Len(t, s.Requests(), tt.asked)
			}
			entries, err := os.ReadDir(parent)
			require.NoError(t, err)
			assert.Len(t, entries, 1, "nothing is written beside the folder")
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	c, err := source.New(source.Config{Endpoint: "http://127.0.0.1:1"})
	require.NoError(t, err)
	c.SetWait((&waits{}).wait)
	_, err = c.Pull(t.Context(), ref(t, repo), t.TempDir())
	require.ErrorContains(t, err, "gave up after 6 tries")
	assert.ErrorContains(t, err, "connection refused")
}

// A pull that is cancelled, or whose process dies, leaves bytes that the next
// one does not fetch again.
func TestLaterPullGoesOn(t *testing.T) {
	const stop = 123_456
	for name, url := range map[string]bool{"hub": false, "URL": true} {
		t.Run(name, func(t *testing.T) {
			files := repoFiles()
			s := hubtest.New(t, repo, files)
			s.Fail(hubtest.Fault{File: weight, StallAfter: stop})
			from, dir := ref(t, repo), t.TempDir()
			if url {
				from = ref(t, s.Base)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := newClient(t, s, func(c *source.Config) {
				c.Progress = meter(func(file string, done int64) {
					if file == weight && done == stop {
						cancel()
					}
				}).progress
			})
			_, err := c.Pull(ctx, from, dir)
			require.ErrorIs(t, err, context.Canceled)
			assert.ErrorContains(t, err, "the next pull resumes it")
			assert.NoFileExists(t, filepath.Join(dir, weight))

			_, err = newClient(t, s).Pull(t.Context(), from, dir)
			require.NoError(t, err)
			assertHolds(t, dir, files, usual...)
			assert.EqualValues(t, size, s.Sent(weight), "no byte twice")
			requests := s.Requests()
			assert.Equal(t, "bytes=123456-", requests[len(requests)-1].Range)
		})
	}
}

func TestPartialFileOfAnotherVersionIsNotUsed(t *testing.T) {
	for name, url := range map[string]bool{"hub": false, "URL": true} {
		t.Run(name, func(t *testing.T) {
			s := hubtest.New(t, repo, repoFiles())
			s.Fail(hubtest.Fault{File: weight, CutAfter: 50_000}, hubtest.Fault{File: weight, Status: 404})
			from, dir := ref(t, repo), t.TempDir()
			if url {
				from = ref(t, s.Base)
			}
			_, err := newClient(t, s).Pull(t.Context(), from, dir)
			require.ErrorIs(t, err, source.ErrFileNotFound)

			files := repoFiles(map[string][]byte{weight: noise(9, size)})
			s.Push("main", files)
			_, err = newClient(t, s).Pull(t.Context(), from, dir)
			require.NoError(t, err)
			assertHolds(t, dir, files, usual...)
			assert.EqualValues(t, 50_000+size, s.Sent(weight))
		})
	}
}

// Behind a plain URL nothing is pinned: a file may change between any two requests.
func TestFileChangesOnAPlainServer(t *testing.T) {
	for name, length := range map[string]int{"same length": size, "longer": size + 5, "shorter": size - 100} {
		t.Run(name, func(t *testing.T) {
			files := repoFiles(map[string][]byte{weight: noise(9, length)})
			s := hubtest.New(t, repo, repoFiles())
			s.Fail(hubtest.Fault{File: weight, CutAfter: 50_000},
				hubtest.Fault{File: weight, Do: func() { s.Push("main", files) }})
			dir := t.TempDir()
			_, err := newClient(t, s).Pull(t.Context(), ref(t, s.Base), dir)
			require.NoError(t, err)
			assertHolds(t, dir, files, usual...)
		})
	}
}

// The files that a family does without are not fetched, and no family is guessed.
func TestPullOfOtherFamilies(t *testing.T) {
	nllb := repoFiles(map[string][]byte{"vocab.json": nil, "tokenizer_config.json": []byte(`{"tokenizer_class": "NllbTokenizer"}`)})
	s := hubtest.New(t, repo, nllb)
	dir := t.TempDir()
	_, err := newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	assertHolds(t, dir, nllb, slices.DeleteFunc(slices.Clone(usual), func(name string) bool { return name == "vocab.json" })...)

	other := repoFiles(map[string][]byte{"tokenizer_config.json": []byte(`{"tokenizer_class": "MyTokenizer"}`)})
	s = hubtest.New(t, repo, other)
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), t.TempDir())
	require.ErrorContains(t, err, `"tokenizer_class" is "MyTokenizer": MODEL_FAMILY says`)
	_, err = newClient(t, s, func(c *source.Config) { c.Family = "small100" }).Pull(t.Context(), ref(t, repo), t.TempDir())
	require.NoError(t, err)

	opus := repoFiles(map[string][]byte{
		"config.json": []byte(`{"model_type": "marian"}`), "sentencepiece.bpe.model": nil,
		"source.spm": []byte("s"), "target.spm": []byte("t"), "README.md": []byte("card"),
	})
	s = hubtest.New(t, repo, opus)
	dir = t.TempDir()
	_, err = newClient(t, s).Pull(t.Context(), ref(t, repo), dir)
	require.NoError(t, err)
	delete(opus, "rust_model.ot")
	assertHolds(t, dir, opus, slices.Collect(maps.Keys(opus))...)
}
