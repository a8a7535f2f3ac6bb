package access

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAddresses asks which requests share a limit.
func TestAddresses(t *testing.T) {
	const proxy = "10.1.2.3:80"
	forwarded := func(from, list string) []string { return []string{"from", from, "X-Forwarded-For", list} }
	from := func(address string) []string { return []string{"from", address} }
	for _, test := range []struct {
		name   string
		a, b   []string
		shared bool
	}{
		{"one address", from("192.0.2.1:1000"), from("192.0.2.1:2000"), true},
		{"two addresses", from("192.0.2.1:1000"), from("192.0.2.2:1000"), false},
		{"one address, also written as IPv6", from("192.0.2.1:1000"), from("[::ffff:192.0.2.1]:1000"), true},
		{"one /64", from("[2001:db8::1]:1000"), from("[2001:db8::ffff:ffff:ffff:ffff]:1000"), true},
		{"two /64", from("[2001:db8::1]:1000"), from("[2001:db8:0:1::1]:1000"), false},
		{"one link with a zone", from("[fe80::1%eth0]:1000"), from("[fe80::2%eth1]:1000"), true},
		{"addresses that cannot be read", from("@"), from(""), true},

		{"two clients of a proxy", forwarded(proxy, "192.0.2.1"), forwarded(proxy, "192.0.2.2"), false},
		{"one client of two proxies", forwarded(proxy, "192.0.2.1"), forwarded("10.9.9.9:80", "192.0.2.1"), true},
		{"a client that names others", forwarded(proxy, "1.1.1.1, 192.0.2.1"), forwarded(proxy, "2.2.2.2, 192.0.2.1"), true},
		{"a client behind two proxies", forwarded(proxy, "192.0.2.1, 10.5.5.5"), forwarded(proxy, "192.0.2.1"), true},
		{"a client that sends nonsense", forwarded(proxy, "nonsense"), forwarded(proxy, "no, sense"), true},
		{"a proxy that writes nonsense for one of its clients", forwarded(proxy, "1.1.1.1, unknown"), forwarded(proxy, "192.0.2.1"), false},
		{"a client that names others before nonsense", forwarded(proxy, "1.1.1.1, _a"), forwarded(proxy, "2.2.2.2, _b"), true},
		{"two clients with ports", forwarded(proxy, "192.0.2.1:1000"), forwarded(proxy, "192.0.2.2:1000"), false},
		{"one client with two ports", forwarded(proxy, "192.0.2.1:1000"), forwarded(proxy, "192.0.2.1:2000"), true},
		{"one client with and without a port", forwarded(proxy, "192.0.2.1:1000"), forwarded(proxy, "192.0.2.1"), true},
		{"two clients with IPv6 and ports", forwarded(proxy, "[2001:db8::1]:443"), forwarded(proxy, "[2001:db8:0:1::1]:443"), false},
		{"one client with IPv6, in brackets", forwarded(proxy, "[2001:db8::1]"), forwarded(proxy, "2001:db8::1"), true},
		{"a client behind two proxies with ports", forwarded(proxy, "192.0.2.1:9, 10.5.5.5:9"), forwarded(proxy, "192.0.2.1"), true},
		{"a client whose proxy adds a line", append(forwarded(proxy, "1.1.1.1"), "X-Forwarded-For", "192.0.2.1"), forwarded(proxy, "192.0.2.1"), true},
		{"a proxy as the client", forwarded(proxy, "10.4.4.4"), forwarded(proxy, "10.4.4.4,"), true},
		{"a client that has another header", []string{"from", proxy, "X-Real-IP", "1.1.1.1"}, []string{"from", proxy, "X-Real-IP", "2.2.2.2"}, true},
		{"a client that has another header, and its address", append(forwarded(proxy, "192.0.2.1"), "X-Real-IP", "1.1.1.1"),
			append(forwarded(proxy, "192.0.2.1"), "X-Real-IP", "2.2.2.2", "Forwarded", "for=2.2.2.2"), true},
		{"a client that nobody proxies", forwarded("192.0.2.9:1000", "1.1.1.1"), forwarded("192.0.2.9:1000", "2.2.2.2"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, _ := newGate(t, Config{Limits: Limits{Requests: Rate{1, time.Hour}}})
			h := server(t, g, "10.0.0.0/8")
			require.Equal(t, 200, send(h, "/", test.a...).Code)
			status := 200
			if test.shared {
				status = 429
			}
			assert.Equal(t, status, send(h, "/", test.b...).Code)
		})
	}
}

// strangers calls of with n addresses that come once.
func strangers(c *clients, n int) {
	var ip [16]byte
	for i := range n {
		binary.BigEndian.PutUint64(ip[:], 0x2001_0db8_0000_0000+uint64(i))
		c.of(network(netip.AddrFrom16(ip)))
	}
}

// However many addresses there are, few are kept.
func TestMemoryStaysBounded(t *testing.T) {
	c := newClients(mostClients, Limits{Requests: Rate{1, time.Second}, Characters: Rate{1000, time.Minute}})
	before := heap()
	strangers(c, manyAddresses)
	grown := heap() - before
	t.Logf("%d clients in %d KiB: %d bytes each", c.len(), grown>>10, int(grown)/c.len())
	assert.LessOrEqual(t, c.len(), mostClients)
	assert.Less(t, grown, int64(32<<20))
	runtime.KeepAlive(c)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A client that is over its limit is not forgotten because others come.
func TestFloodFreesNobody(t *testing.T) {
	const burst, times, flood = 10, 2000, 100
	c := newClients(1024, Limits{Requests: Rate{1, time.Hour}, Burst: burst})
	admitted := 0
	for range times {
		if c.of(netip.MustParsePrefix("192.0.2.1/32")).left[requests].take(time.Now(), 1) == nil {
			admitted++
		}
		strangers(c, flood)
	}
	t.Logf("%d of %d admitted", admitted, times)
	assert.GreaterOrEqual(t, admitted, burst)
	assert.LessOrEqual(t, admitted, 2*burst)
}

func BenchmarkStrangers(b *testing.B) {
	c := newClients(mostClients, Limits{Requests: Rate{1, time.Second}, Characters: Rate{1000, time.Minute}})
	b.ReportAllocs()
	b.ResetTimer()
	strangers(c, b.N)
}
