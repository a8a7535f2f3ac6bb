package access

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKeys sends keys in all the ways there are, right and wrong ones.
func TestKeys(t *testing.T) {
	alice, second, bob, withdrawn := NewKey(), NewKey(), NewKey(), NewKey()
	digests := strings.Fields(keyLine(t, "alice", second))[1]
	g, log := newGate(t, Config{KeysFile: writeKeys(t, "",
		"# who may", keyLine(t, "alice", alice)+" "+digests, keyLine(t, "bob", bob))})
	h := server(t, g)

	const auth = "Authorization"
	const noKey, badKey = "an API key is needed", "the API key is not valid"
	mistyped := alice[:20] + string(alice[20]^1) + alice[21:]
	for _, test := range []struct {
		name    string
		headers []string
		status  int
		want    string // the caller, or how the error begins
	}{
		{"Bearer", []string{auth, "Bearer " + alice}, 200, "alice"},
		{"the caller's other key", []string{auth, "Bearer " + second}, 200, "alice"},
		{"another caller", []string{auth, "Bearer " + bob}, 200, "bob"},
		{"scheme in another case", []string{auth, "bEARER " + alice}, 200, "alice"},
		{"spaces around", []string{auth, "  Bearer    " + alice + "  "}, 200, "alice"},
		{"DeepL", []string{auth, "DeepL-Auth-Key " + bob}, 200, "bob"},
		{"no scheme", []string{auth, alice}, 200, "alice"},
		{"X-API-Key", []string{"X-API-Key", alice}, 200, "alice"},
		{"X-API-Key in another case", []string{"x-api-key", alice}, 200, "alice"},
		{"Azure", []string{"Ocp-Apim-Subscription-Key", alice, "Ocp-Apim-Subscription-Region", "westeurope"}, 200, "alice"},
		{"Google", []string{"X-Goog-Api-Key", bob}, 200, "bob"},
		{"two different of Azure and ours", []string{"Ocp-Apim-Subscription-Key", alice, "X-API-Key", bob}, 401, badKey + ": there are two"},
		{"the same key twice", []string{auth, "Bearer " + alice, "X-API-Key", alice}, 200, "alice"},
		{"a password for a proxy as well", []string{auth, "Basic YWxpY2U6c2VjcmV0", "X-API-Key", alice}, 200, "alice"},
		{"an empty key as well", []string{auth, "Bearer ", "X-API-Key", alice}, 200, "alice"},

		{"nothing", nil, 401, noKey},
		{"only a password", []string{auth, "Basic YWxpY2U6c2VjcmV0"}, 401, noKey},
		{"empty header", []string{auth, ""}, 401, noKey},
		{"scheme without a key", []string{auth, "Bearer"}, 401, noKey},
		{"blank key", []string{auth, "Bearer     "}, 401, noKey},
		{"empty X-API-Key", []string{"X-API-Key", ""}, 401, noKey},
		{"no space after the scheme", []string{auth, "Bearer" + alice}, 401, noKey},

		{"withdrawn", []string{auth, "Bearer " + withdrawn}, 401, badKey + ": it is not known"},
		{"no scheme, mistyped", []string{auth, mistyped}, 401, badKey + ": it was cut off or mistyped"},
		{"mistyped", []string{auth, "Bearer " + mistyped}, 401, badKey + ": it was cut off or mistyped"},
		{"cut off", []string{auth, "Bearer " + alice[:len(alice)-1]}, 401, badKey},
		{"too long", []string{auth, "Bearer " + alice + "A"}, 401, badKey},
		{"in lower case", []string{auth, "Bearer " + strings.ToLower(alice)}, 401, badKey},
		{"two different in two headers", []string{auth, "Bearer " + alice, "X-API-Key", bob}, 401, badKey + ": there are two"},
		{"two different of one caller", []string{auth, "Bearer " + alice, "X-API-Key", second}, 401, badKey + ": there are two"},
		{"two different in one header", []string{auth, "Bearer " + alice + ", Bearer " + bob}, 401, badKey},
		{"two lines of one header", []string{auth, "Bearer " + alice, auth, "DeepL-Auth-Key " + bob}, 401, badKey + ": there are two"},
		{"its digest", []string{auth, "Bearer " + digests}, 401, badKey},
		{"huge", []string{auth, "Bearer " + strings.Repeat("A", 60_000)}, 401, badKey},
		{"only the prefix", []string{auth, "Bearer dgm_"}, 401, badKey},
		{"other letters", []string{auth, "Bearer dgm_" + strings.Repeat("é", 28)}, 401, badKey},
		{"other digits", []string{"X-API-Key", "dgm_" + strings.Repeat("１", 56)}, 401, badKey},
		{"invalid UTF-8", []string{"X-API-Key", "dgm_" + strings.Repeat("\xff", 56)}, 401, badKey},
		{"nonsense", []string{auth, "Bearer null"}, 401, badKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(h, "/", test.headers...)
			require.Equal(t, test.status, w.Code, w.Body)
			if test.status == 200 {
				assert.Equal(t, test.want, w.Body.String())
				assert.Empty(t, w.Header().Get("WWW-Authenticate"))
				return
			}
			assert.True(t, strings.HasPrefix(w.Body.String(), test.want), w.Body)
			assert.NotContains(t, w.Body.String(), "dgm_")
			challenge := `Bearer realm="dragoman"`
			if strings.HasPrefix(test.want, badKey) {
				challenge += `, error="invalid_token"`
			}
			assert.Equal(t, challenge, w.Header().Get("WWW-Authenticate"))
		})
	}
	assert.NotContains(t, log.String(), "dgm_")
	assert.EqualValues(t, 2, testutil.ToFloat64(g.metrics.keys))
	assert.EqualValues(t, 7, testutil.ToFloat64(g.metrics.refusals[reasonNoKey]))
	assert.EqualValues(t, 18, testutil.ToFloat64(g.metrics.refusals[reasonWrongKey]))
	assert.Zero(t, g.clients.len())
}

// Clients of LibreTranslate send their key in the body, and an empty one if they
// have none.
func TestKeyInTheBody(t *testing.T) {
	alice, bob := NewKey(), NewKey()
	g, _ := newGate(t, Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", alice), keyLine(t, "bob", bob))})
	h := server(t, g)
	for _, test := range []struct {
		name    string
		headers []string
		status  int
		want    string
	}{
		{"in the body", []string{"body", "api_key=" + alice}, 200, "alice"},
		{"in the body and a header", []string{"body", "api_key=" + alice, "X-API-Key", alice}, 200, "alice"},
		{"in a header, empty in the body", []string{"body", "api_key=", "X-API-Key", bob}, 200, "bob"},
		{"empty", []string{"body", "api_key="}, 401, ErrNoKey.Error()},
		{"none", []string{"body", "q=text"}, 401, ErrNoKey.Error()},
		{"two different", []string{"body", "api_key=" + alice, "X-API-Key", bob}, 401, ErrBadKey.Error() + ": there are two different ones, send one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := send(h, "/form", test.headers...)
			assert.Equal(t, test.status, w.Code)
			assert.Equal(t, test.want, w.Body.String())
		})
	}
}

// An address may not try keys for ever, nor send requests without one. Who has a key
// is let in from there all the same.
func TestStrangersAreLimited(t *testing.T) {
	key := NewKey()
	g, _ := newGate(t, Config{
		KeysFile: writeKeys(t, "", keyLine(t, "alice", key, "rate=unlimited")), Limits: Limits{Requests: Rate{1, time.Hour}, Burst: 3},
	})
	h := server(t, g)
	for _, test := range []struct {
		name    string
		path    string
		headers []string
		status  int
	}{
		{"no key", "/", nil, 401},
		{"no key in the body", "/form", []string{"body", "q=text"}, 401},
		{"a wrong key", "/", []string{"X-API-Key", NewKey()}, 401},
		{"one more", "/", []string{"X-API-Key", NewKey()}, 429},
		{"one more without a key", "/form", []string{"body", "q=text"}, 429},
		{"the right key", "/", []string{"X-API-Key", key}, 200},
		{"the right key again", "/", []string{"X-API-Key", key}, 200},
		{"another address", "/", []string{"from", "198.51.100.1:1000"}, 401},
	} {
		w := send(h, test.path, test.headers...)
		assert.Equal(t, test.status, w.Code, test.name)
		assert.Equal(t, test.status == 429, w.Header().Get("Retry-After") != "", test.name)
	}
	assert.EqualValues(t, 2, testutil.ToFloat64(g.metrics.refusals[requestsLimit]))
}

func TestMustReadKey(t *testing.T) {
	key := NewKey()
	limits := Limits{Requests: Rate{1, time.Hour}}
	closed, _ := newGate(t, Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", key)), Limits: limits})
	open, _ := newGate(t, Config{Limits: limits})
	ask := func(g *Gate, header, query string) (bool, error) {
		return g.MustReadKey(request(http.MethodPost, "X-API-Key", header), query)
	}
	for _, test := range []struct {
		name          string
		gate          *Gate
		header, query string
		want          bool
	}{
		{"open", open, "", "", false},
		{"in the header", closed, key, "", false},
		{"in the query", closed, "", key, false},
		{"wrong", closed, "wrong", "", false},
		{"two different ones", closed, "a", "b", false},
		{"none", closed, "", "", true},
		{"none, again", closed, "", "", true},
	} {
		must, err := ask(test.gate, test.header, test.query)
		require.NoError(t, err, test.name)
		assert.Equal(t, test.want, must, test.name)
	}
	require.Equal(t, 401, send(server(t, closed), "/").Code)
	_, err := ask(closed, "", "")
	var limit *LimitError
	require.ErrorAs(t, err, &limit, "the address has used up its attempts")
	_, err = ask(closed, key, "")
	require.NoError(t, err)
}

func TestCaller(t *testing.T) {
	key := NewKey()
	closed, _ := newGate(t, Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", key))})
	open, _ := newGate(t, Config{})
	for _, test := range []struct{ name, from, forwarded, want string }{
		{"IPv4", "192.0.2.1:1000", "", "192.0.2.1/32"},
		{"IPv6", "[2001:db8:0:1::2%eth0]:1000", "", "2001:db8:0:1::/64"},
		{"behind a proxy", "10.0.0.1:1000", "192.0.2.1:1000", "192.0.2.1/32"},
		{"no address", "@", "", "invalid Prefix"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr = test.from
		r.Header.Set("X-Forwarded-For", test.forwarded)
		proxies, err := TrustedProxies([]string{"10.0.0.0/8"})
		require.NoError(t, err)
		r = proxies.Resolve(httptest.NewRecorder(), r)
		assert.Equal(t, test.want, Caller(r), test.name)
		require.NoError(t, open.Enter(r, ""))
		assert.Equal(t, test.want, Caller(r), test.name)
		require.NoError(t, closed.Enter(r, key))
		assert.Equal(t, "alice", Caller(r), test.name)
	}
}

// Without a keys file everybody may come, also who has a key for another service.
func TestOpen(t *testing.T) {
	g, _ := newGate(t, Config{})
	h := server(t, g)
	for _, headers := range [][]string{nil, {"Authorization", "Bearer nonsense"}, {"X-API-Key", "a", "X-API-Key", "b"}} {
		w := send(h, "/?chars=1000000000", headers...)
		assert.Equal(t, 200, w.Code)
		assert.Empty(t, w.Body.String(), "name")
		assert.Empty(t, w.Header().Get("RateLimit"))
		assert.Empty(t, w.Header().Get("RateLimit-Policy"))
	}
	assert.Zero(t, g.clients.len())
	g.Watch(t.Context()) // returns
}

// A route that charges without a gate before it is a mistake, not free of charge.
func TestChargeWantsTheGateFirst(t *testing.T) {
	g, _ := newGate(t, Config{})
	r := request(http.MethodPost)
	require.ErrorIs(t, g.Charge(r, 1), errNotEntered)
	assert.Empty(t, Name(r))
	require.NoError(t, g.Enter(r, ""))
	require.NoError(t, g.Charge(r, 1))
	unresolved := httptest.NewRequest(http.MethodPost, "/", nil)
	require.NoError(t, g.Enter(unresolved, ""))
	require.ErrorIs(t, g.Charge(unresolved, 1), errNotEntered)
	assert.Equal(t, "192.0.2.1/32", Caller(unresolved))
}

func TestNewRefuses(t *testing.T) {
	key := NewKey()
	for _, test := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no such file", Config{KeysFile: filepath.Join(t.TempDir(), "none")}, "no such file"},
		{"a folder", Config{KeysFile: t.TempDir()}, "is a directory"},
		{"an empty file", Config{KeysFile: writeKeys(t, "")}, "there are no keys in it"},
		{"comments only", Config{KeysFile: writeKeys(t, "", "# "+keyLine(t, "alice", key), "")}, "there are no keys in it"},
		{"a fault", Config{KeysFile: writeKeys(t, "", keyLine(t, "alice", key), "bob "+NewKey())}, "line 2: this is a key itself"},
		{"a huge file", Config{KeysFile: writeKeys(t, "", strings.Repeat("#", maxFileBytes+1))}, "more than 4194304 bytes"},
		{"a burst without a rate", Config{Limits: Limits{Burst: 5}}, "a burst of 5 requests without a rate"},
		{"a negative burst", Config{Limits: Limits{Requests: Rate{1, time.Second}, Burst: -1}}, "a burst of -1 requests"},
		{"a huge burst", Config{Limits: Limits{Requests: Rate{1, time.Second}, Burst: 1e7}}, "a burst of 10000000 requests"},
		{"a rate of nothing", Config{Limits: Limits{Requests: Rate{0, time.Second}}}, "a rate of 0 in 1s"},
		{"a rate in an odd time", Config{Limits: Limits{Characters: Rate{5, time.Millisecond}}}, "a rate of 5 in 1ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Log = slog.New(slog.DiscardHandler)
			_, err := New(test.cfg)
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "dgm_")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func BenchmarkEnter(b *testing.B) {
	limits := Limits{Requests: Rate{1e12, time.Second}, Characters: Rate{1e12, time.Second}}
	keys := make([]string, maxAccounts)
	lines := make([]string, maxAccounts)
	for i := range keys {
		keys[i] = NewKey()
		lines[i] = keyLine(b, strings.ToLower(keys[i][4:20]), keys[i])
	}
	for _, bench := range []struct {
		name string
		cfg  Config
		key  string
	}{
		{"open", Config{}, ""},
		{"address", Config{Limits: limits}, ""},
		{"keys=10", Config{Limits: limits, KeysFile: writeKeys(b, "", lines[:10]...)}, keys[5]},
		{"keys=10000", Config{Limits: limits, KeysFile: writeKeys(b, "", lines...)}, keys[5]},
		{"unknown", Config{Limits: limits, KeysFile: writeKeys(b, "", lines...)}, NewKey()},
	} {
		b.Run(bench.name, func(b *testing.B) {
			g, _ := newGate(b, bench.cfg)
			r := request(http.MethodPost, "Authorization", "Bearer "+bench.key)
			b.ReportAllocs()
			for b.Loop() {
				if g.Enter(r, "") == nil {
					_ = g.Charge(r, 100)
				}
			}
		})
	}
}
