package server

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dragoman/app/api/httpapi"
	"dragoman/model/bundled"
)

func TestWelcome(t *testing.T) {
	for _, test := range []struct {
		memory uint64
		cores  int
		system string
		want   string
	}{
		{0, 2, "linux", "MODEL_WEIGHTS=facebook/m2m100_418M 100%/dragoman\n"},
		{1 << 30, 8, "linux", "100%/dragoman serve --models firefox\n"},
		{64 << 30, 1, "linux", "100%/dragoman serve --models firefox\n"},
		{8 << 30, 16, "linux", "MODEL_WEIGHTS=facebook/m2m100_418M 100%/dragoman\n"},
		{64 << 30, 2, "linux", "MODEL_WEIGHTS=facebook/m2m100_418M 100%/dragoman\n"},
		{64 << 30, 8, "linux", "MODEL_WEIGHTS=facebook/m2m100_1.2B 100%/dragoman\n"},
		{8 << 30, 4, "windows", `$env:MODEL_WEIGHTS="facebook/m2m100_418M"; 100%/dragoman` + "\n"},
	} {
		text := welcomeText("http://localhost:9527", []string{"de", "en"}, test.memory, test.cores, "100%/dragoman", test.system)
		assert.Contains(t, text, "http://localhost:9527/translation: it translates between de, en.")
		assert.True(t, strings.HasSuffix(text, test.want), text)
		assert.Equal(t, 4, strings.Count(text, "\n"), "an empty line and three")
	}
}

func TestWelcomeIsOfTheBundledModelOnly(t *testing.T) {
	own, other := httpapi.Model{Source: bundled.Source}, httpapi.Model{Source: "facebook/m2m100_418M"}
	assert.True(t, onlyBundled([]httpapi.Model{own}))
	assert.False(t, onlyBundled([]httpapi.Model{own, other}))
	assert.False(t, onlyBundled(nil))
}

func TestURL(t *testing.T) {
	for bound, want := range map[string]string{
		"0.0.0.0:0": "http://localhost:", "[::]:0": "http://localhost:", "127.0.0.1:0": "http://localhost:",
	} {
		listener, err := net.Listen("tcp", bound)
		if err != nil {
			t.Skip("there is no IPv6 here")
		}
		s := &server{listener: listener}
		assert.True(t, strings.HasPrefix(s.url(), want), s.url())
		assert.NoError(t, listener.Close())
	}
	s := &server{listener: addressed{net.TCPAddr{IP: net.ParseIP("fd00::7"), Port: 80}}}
	assert.Equal(t, "http://[fd00::7]:80", s.url())
}

// addressed is a listener of an address.
type addressed struct{ address net.TCPAddr }

func (a addressed) Addr() net.Addr          { return &a.address }
func (addressed) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (addressed) Close() error              { return nil }
