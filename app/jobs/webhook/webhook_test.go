package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/jobs"
	"dragoman/app/store/porttest"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func newSender(t *testing.T, private bool) *Sender {
	s, err := New(Config{Secret: secret, Private: private, Version: "1"})
	require.NoError(t, err)
	return s
}

// A receiver with the secret can verify messages.
func TestSend(t *testing.T) {
	receiver, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.NoError(t, receiver.Verify(body, r.Header))
		assert.Equal(t, `{"type":"job.done"}`, string(body))
		assert.Equal(t, "POST", r.Method)
		assert.Equal(t, "message", r.Header.Get("webhook-id"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Equal(t, "dragoman/1", r.Header.Get("User-Agent"))
		assert.Error(t, receiver.Verify(append(body, ' '), r.Header))
	}))
	defer server.Close()
	require.NoError(t, newSender(t, true).Send(t.Context(), server.URL+"/hook", "message", []byte(`{"type":"job.done"}`)))
}

func TestSendFails(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		assert.Fail(t, "a redirection was followed")
	}))
	defer other.Close()
	for path, want := range map[string]string{"/500": "answers 500", "/302": "answers 302", "/404": "answers 404", "/gone": "gone", "/cut": "EOF"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/500":
				w.WriteHeader(500)
			case "/302":
				http.Redirect(w, r, other.URL, http.StatusFound)
			case "/gone":
				w.WriteHeader(410)
			case "/cut":
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(404)
			}
		}))
		err := newSender(t, true).Send(t.Context(), server.URL+path, "id", nil)
		assert.ErrorContains(t, err, want)
		assert.Equal(t, path == "/gone", errors.Is(err, jobs.ErrWebhookGone))
		assert.NotContains(t, err.Error(), server.URL)
		server.Close()
	}
	assert.Error(t, newSender(t, true).Send(t.Context(), "http://"+porttest.Hold(t), "id", nil))
}

// The address of a name is checked when it is dialled.
func TestSendReachesNothingPrivate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		assert.Fail(t, "it was called")
	}))
	defer server.Close()
	s := newSender(t, false)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
		err := s.Send(t.Context(), "https://"+host+":"+port, "id", nil)
		assert.ErrorIs(t, err, errNotPublic, host)
		_, err = s.client.Get("http://" + host + ":" + port) // as the addresses of a name
		assert.ErrorIs(t, err, errNotPublic, host)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, s.Send(ended, "https://example.com", "id", nil), context.Canceled)
}

func TestCheck(t *testing.T) {
	for url, want := range map[string][2]bool{ // without and with private networks
		"https://example.com/hook?x=1": {true, true}, "https://example.com:8443": {true, true}, "https://8.8.8.8/": {true, true},
		"https://[2606:4700::1111]/": {true, true},
		"http://example.com":         {false, true}, "https://127.0.0.1/": {false, true}, "https://10.1.2.3": {false, true},
		"https://[::1]:80/": {false, true}, "https://169.254.169.254/latest/meta-data": {false, true},
		"https://[::ffff:10.0.0.1]": {false, true}, "https://[fe80::1%25eth0]/": {false, true},
		"": {}, "/hook": {}, "example.com": {}, "https://": {}, "https:///path": {}, "ftp://example.com": {}, "file:///etc/passwd": {},
		"https://user:password@example.com": {}, "https://example.com/#x": {}, "https://exa mple.com": {}, "https://example.com/\x00": {},
		"https://example.com/" + strings.Repeat("x", 2048): {}, "javascript:alert(1)": {}, "https://:443": {},
	} {
		for i, private := range []bool{false, true} {
			err := newSender(t, private).Check(url)
			assert.Equal(t, want[i], err == nil, "%.60s: %v", url, err)
		}
	}
}

// hosts has spellings of 127.0.0.1 and this machine that are no public names, but that resolvers and browsers accept.
var hosts = []string{
	"0x7f000001", "0x7f.1", "127.1", "127.0.1", "0177.0.0.1", "0177.0.0.01", "2130706433", "017700000001", "0x7f.0x0.0x0.0x1", "127.0.0.1.", "127.0.0.0x1",
	"0X7F000001", "1", "0", "0x", "256.256.256.256", "1.2.3.4.5", "127.0.0.1e0.1", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", "１２７.0.0.1", "１２７。０。０。１", "①②⑦.0.0.1", "１２７.1",
	"127.0.0.1..", "example..com", ".example.com", "-a.example.com", "a b.com", "exa$mple.com", "a,b.com", strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 127) + "com", "\u200b",
}

// Names that a resolver may read as numbers, and invalid names, are refused at submission and at delivery by one rule, whether
// or not private networks are allowed.
func TestHostsThatOnlyLookLikeNames(t *testing.T) {
	for _, private := range []bool{false, true} {
		s := newSender(t, private)
		for _, host := range hosts {
			for _, port := range []string{"", ":443"} {
				address := "https://" + host + port + "/hook"
				assert.Error(t, s.Check(address), address)
				assert.Error(t, s.Send(t.Context(), address, "id", nil), address)
			}
		}
		for _, host := range []string{
			"localhost", "localhost.", "LOCALHOST", "a.localhost", "ｌｏｃａｌｈｏｓｔ", "local\u00adhost", "redis", "redis.", "printer.local", "metadata.google.internal.", "nas.home.arpa",
			"[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1%25lo]",
		} {
			assert.Equal(t, private, s.Check("https://"+host+"/") == nil, host)
		}
		for _, host := range []string{"example.com", "example.com.", "EXAMPLE.com", "a_b.example.com", "bücher.example", "例え.テスト", "xn--bcher-kva.example", "1.example.com", "0x7f.com", "8.8.8.8", "[2606:4700::1111]"} {
			assert.NoError(t, s.Check("https://"+host+"/"), host)
		}
		for port, want := range map[string]bool{"0": false, "65536": false, "443": true, "99999999999999999999": false} {
			assert.Equal(t, want, s.Check("https://example.com:"+port) == nil, port)
		}
	}
}

func TestPublic(t *testing.T) {
	for ip, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "172.15.0.1": true, "172.32.0.1": true, "100.63.255.255": true, "100.128.0.0": true,
		"127.0.0.1": false, "127.255.255.255": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"0.0.0.0": false, "0.1.2.3": false, "100.64.0.1": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "192.0.0.170": false,
		"::": false, "::1": false, "fe80::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "::ffff:8.8.8.8": true,
		"::ffff:192.168.0.1": false, "::7f00:1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false,
	} {
		assert.Equal(t, want, isPublic(netip.MustParseAddr(ip)), ip)
	}
}

func TestNewRefuses(t *testing.T) {
	_, err := New(Config{Secret: "whsec_%"})
	assert.Error(t, err)
}
