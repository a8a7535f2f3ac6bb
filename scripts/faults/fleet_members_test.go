package faults

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
)

// fleet has gateways and workers that communicate through a Redis. Each member reaches it through its own proxy.
type fleet struct {
	t        *testing.T
	redis    *redisServer
	proxies  *toxiproxy.ApiServer
	gateways []*member
	workers  []*member
	dead     int // random letters at the end

	watching sync.WaitGroup
	watched  chan struct{} // closed when metrics need not be read any more
}

// startFleet starts a fleet and waits until it is ready. The logs of its members are artifacts of the test.
func startFleet(t *testing.T, workers, gateways int, environ ...string) *fleet {
	zerolog.SetGlobalLevel(zerolog.Disabled) // some of toxiproxy's toxics log there
	f := &fleet{t: t, redis: newRedis(t), watched: make(chan struct{})}
	f.proxies = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for i := range workers {
		f.workers = append(f.workers, f.join("worker", i, environ...))
	}
	for i := range gateways {
		f.gateways = append(f.gateways, f.join("gateway", i))
	}
	for _, m := range f.members() {
		m.isReady()
	}
	return f
}

// join starts a member.
func (f *fleet) join(role string, number int, environ ...string) *member {
	m := &member{t: f.t, name: fmt.Sprintf("%s %d", role, number), address: porttest.Hold(f.t)}
	log, err := os.Create(filepath.Join(f.t.ArtifactDir(), m.name))
	require.NoError(f.t, err)
	f.t.Cleanup(func() { assert.NoError(f.t, log.Close()) })
	m.log = log
	m.proxy = toxiproxy.NewProxy(f.proxies, m.name, porttest.Hold(f.t), f.redis.address)
	require.NoError(f.t, m.proxy.Start())
	f.t.Cleanup(m.proxy.Stop)
	m.environ = append(environ, "ROLE="+role, "BROKER_URL=redis://"+m.proxy.Listen, "LOG_LEVEL=warn")
	if role == "worker" { // all of them share the machine
		m.environ = append(m.environ, "APP_WORKERS=1", "THREADS=1", "GOMAXPROCS=1")
	}
	m.start()
	return m
}

// isReady waits until a member is ready.
func (m *member) isReady() {
	eventually(m.t, time.Minute, m.name+" is ready", func() bool { return m.service.ready() })
}

func (f *fleet) members() []*member {
	return append(f.workers[:len(f.workers):len(f.workers)], f.gateways...)
}

// watch reads the metrics of all members each second, because a killed process loses them.
func (f *fleet) watch() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for _, m := range f.members() {
			m.look()
		}
		select {
		case <-tick.C:
		case <-f.watched:
			return
		}
	}
}

// sum returns the sum of a counter over all members, from the last read.
func (f *fleet) sum(series string) string {
	sum := 0.0
	for _, m := range f.members() {
		m.mu.Lock()
		sum += m.before[series] + m.counters[series]
		m.mu.Unlock()
	}
	return strconv.FormatFloat(sum, 'f', -1, 64)
}

// settle checks that nothing is left in Redis, ends the members, and counts dead letters.
func (f *fleet) settle() {
	client := f.redis.client
	streams := func(pattern string) (entries int) {
		keys, err := client.Keys(f.t.Context(), pattern).Result()
		require.NoError(f.t, err)
		for _, key := range keys {
			n, err := client.XLen(f.t.Context(), key).Result()
			require.NoError(f.t, err)
			entries += int(n)
		}
		return entries
	}
	eventually(f.t, time.Minute, "no sentence is left in Redis", func() bool {
		return streams("dragoman:*:high")+streams("dragoman:*:normal")+streams("dragoman:*:low") == 0
	})
	f.dead = streams("dragoman:*:dead")
	close(f.watched)
	f.watching.Wait()
	for _, m := range f.members() {
		m.look()
		assert.NoError(f.t, m.service.stop(), m.name)
	}
}

// member is a gateway or a worker, which may have several processes one after the other.
type member struct {
	t       *testing.T
	name    string
	address string
	environ []string
	proxy   *toxiproxy.Proxy
	log     io.Writer

	mu       sync.Mutex // guards the rest
	service  *service
	counters map[string]float64 // counters of the process, from the last read
	before   map[string]float64 // counters of earlier processes
}

// start starts another process.
func (m *member) start() {
	s := launch(m.t, m.address, m.log, m.environ...)
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := make(map[string]float64)
	for _, list := range []map[string]float64{m.before, m.counters} {
		for series, value := range list {
			sums[series] += value
		}
	}
	m.service, m.before, m.counters = s, sums, nil
}

// look reads the counters of the process, if it answers.
func (m *member) look() {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	families, err := s.metrics()
	if err != nil {
		return
	}
	counters := make(map[string]float64)
	for name, family := range families {
		if !strings.HasPrefix(name, "dragoman_fleet_") {
			continue
		}
		for _, metric := range family.Metric {
			var labels []string
			for _, l := range metric.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			series := name
			if len(labels) > 0 {
				series += "{" + strings.Join(labels, ",") + "}"
			}
			counters[series] = metric.GetCounter().GetValue()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.service == s {
		m.counters = counters
	}
}

func (m *member) signal(s syscall.Signal) { require.NoError(m.t, m.service.process.Process.Signal(s)) }

// redisServer is a redis-server whose append-only file outlives the process.
type redisServer struct {
	t       *testing.T
	address string
	dir     string
	client  *redis.Client // without a proxy
	process *exec.Cmd
}

// newRedis starts a Redis that ends with the test.
func newRedis(t *testing.T) *redisServer {
	_, err := exec.LookPath("redis-server")
	require.NoError(t, err, "the fleet needs redis-server: apt-get install redis-server")
	r := &redisServer{t: t, address: porttest.Hold(t), dir: t.TempDir()}
	r.client = redis.NewClient(&redis.Options{Addr: r.address})
	t.Cleanup(func() { assert.NoError(t, r.client.Close()) })
	r.start()
	t.Cleanup(func() { r.end(syscall.SIGKILL) })
	return r
}

// start starts Redis and waits until it has read its file.
func (r *redisServer) start() {
	_, port, _ := net.SplitHostPort(r.address)
	r.process = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", r.dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always")
	log, err := os.OpenFile(filepath.Join(r.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(r.t, err)
	defer log.Close()
	r.process.Stdout = log
	require.NoError(r.t, r.process.Start())
	eventually(r.t, time.Minute, "Redis answers", func() bool { return r.client.Ping(r.t.Context()).Err() == nil })
}

func (r *redisServer) end(s syscall.Signal) {
	_ = r.process.Process.Signal(s) // the process may have ended already
	_ = r.process.Wait()
}
