package fleet

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/store/porttest"
	"dragoman/app/store/redistest"
	"dragoman/model/repository"
)

// awaited is a log in which a test waits for a line.
type awaited struct {
	mu   sync.Mutex // guards all
	text bytes.Buffer
	want string
	got  chan string
}

func (a *awaited) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text.Write(line)
	if strings.Contains(string(line), a.want) {
		select {
		case a.got <- string(line):
		default:
		}
	}
	return len(line), nil
}

// awayLine returns the line that a member logs when it cannot use the broker at a URL.
func awayLine(t *testing.T, url string, start func(*Broker) (stop func())) string {
	log := &awaited{want: "the broker is away", got: make(chan string, 1)}
	b, err := NewBroker(BrokerConfig{URL: url, Prefix: "test", Log: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Close()) }()
	defer start(b)()
	select {
	case line := <-log.got:
		return line
	case <-time.After(time.Minute):
		require.Fail(t, "nothing is logged", "%s: %s", url, log.text.String())
		return ""
	}
}

func gatewayOn(b *Broker) (stop func()) {
	g := StartGateway(GatewayConfig{Broker: b, Requests: 1, Tokens: 1, Serve: func(repository.Snapshot) {}})
	return g.Close
}

func workerOn(b *Broker) (stop func()) {
	w := NewWorker(WorkerConfig{Broker: b, Models: newModels(nil, "identity")})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx, ctx, func() {}) })
	return func() {
		cancel()
		running.Wait()
	}
}

// selfSigned writes a certificate without an authority, and its key.
func selfSigned(t *testing.T) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return cert, key
}

// The log names why a member cannot use Redis, and the remedy.
func TestCauses(t *testing.T) {
	secured := redistest.Start(t)
	require.NoError(t, command(secured, "ACL SETUSER other on >secret ~* &* +@all"))
	require.NoError(t, command(secured, "ACL SETUSER reader on >secret ~* &* +@read +@connection"))
	locked := redistest.Start(t)
	require.NoError(t, command(locked, "CONFIG SET requirepass secret"))
	tlsAddress := porttest.Hold(t)
	_, tlsPort, err := net.SplitHostPort(tlsAddress)
	require.NoError(t, err)
	cert, key := selfSigned(t)
	plain := redistest.Start(t, "--tls-port", tlsPort, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no")
	host, port, err := net.SplitHostPort(plain)
	require.NoError(t, err)
	replica := redistest.Start(t, "--replicaof", host+" "+port)
	_, bus, err := net.SplitHostPort(porttest.Hold(t))
	require.NoError(t, err)
	node := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-port", bus)
	full := redistest.Start(t, "--maxclients", "1")
	place, err := net.Dial("tcp", full)
	require.NoError(t, err)
	t.Cleanup(func() { _ = place.Close() })
	_, err = io.WriteString(place, "PING\r\n")
	require.NoError(t, err)
	_, err = io.ReadFull(place, make([]byte, len("+PONG\r\n")))
	require.NoError(t, err)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	silent := nobody.Addr().String() // accepts connections, and says nothing
	t.Cleanup(func() { _ = nobody.Close() })
	closed := porttest.Hold(t)

	for name, test := range map[string]struct {
		url  string
		want []string
	}{
		"no password":                     {"redis://" + locked, []string{"NOAUTH", "password in BROKER_URL"}},
		"wrong password":                  {"redis://other:wrong@" + secured, []string{"WRONGPASS", "password in BROKER_URL"}},
		"no rights":                       {"redis://reader:secret@" + secured, []string{"NOPERM", "let the user"}},
		"TLS is wanted":                   {"redis://" + tlsAddress, []string{"the server wants TLS: use rediss:// in BROKER_URL"}},
		"TLS is not spoken":               {"rediss://" + plain, []string{"the server speaks no TLS: use redis:// in BROKER_URL"}},
		"a certificate that is not known": {"rediss://" + tlsAddress, []string{"certificate", "SSL_CERT_FILE"}},
		"a replica":                       {"redis://" + replica, []string{"READONLY", "name the primary in BROKER_URL"}},
		"a node of a cluster":             {"redis://" + node, []string{"CLUSTERDOWN", "?addr="}},
		"no cluster":                      {"redis://" + plain + "?addr=" + plain, []string{"cluster support disabled", "leave ?addr= out"}},
		"no Sentinel":                     {"redis://" + plain + "?master_name=x&addr=" + plain, []string{"?master_name="}},
		"full":                            {"redis://" + full, []string{"max number of clients", "raise maxclients"}},
		"silent":                          {"redis://" + silent, []string{"nothing answers", silent}},
		"away":                            {"redis://" + closed, []string{"connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var line string
			if name == "silent" || name == "TLS is not spoken" { // the client itself reports this only after its timeout
				b, err := NewBroker(BrokerConfig{URL: test.url, Log: slog.New(slog.DiscardHandler)})
				require.NoError(t, err)
				line = b.client.Cause(t.Context(), context.DeadlineExceeded).Error()
				assert.NoError(t, b.Close())
			} else {
				line = awayLine(t, test.url, gatewayOn)
				assert.Equal(t, withoutTime(line), withoutTime(awayLine(t, test.url, workerOn)))
			}
			for _, part := range test.want {
				assert.Contains(t, line, part)
			}
			assert.NotContains(t, line, "secret")
		})
	}
}

func withoutTime(line string) string {
	_, rest, _ := strings.Cut(line, "level=")
	return rest
}

// command runs a command at a Redis server.
func command(address, line string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
		return err
	}
	answer := make([]byte, 5)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "+OK\r\n" {
		return errors.Join(err, errors.New(string(answer)))
	}
	return nil
}
