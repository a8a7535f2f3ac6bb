package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dragoman/app/config"
)

// issue writes a certificate for this machine into a folder, with a number and its own authority.
func issue(t *testing.T, dir string, number int64) (cfg config.Config, authority *x509.CertPool, own tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	cfg = config.Config{TLSCert: filepath.Join(dir, "tls.crt"), TLSKey: filepath.Join(dir, "tls.key")}
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
	require.NoError(t, os.WriteFile(cfg.TLSCert, certPEM, 0o600))
	require.NoError(t, os.WriteFile(cfg.TLSKey, keyPEM, 0o600))
	authority = x509.NewCertPool()
	require.True(t, authority.AppendCertsFromPEM(certPEM))
	own, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	return cfg, authority, own
}

func TestTLSFiles(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	none, err := tlsOf(config.Config{}, log)
	require.NoError(t, err)
	assert.Nil(t, none)
	cfg, _, _ := issue(t, t.TempDir(), 1)
	for name, change := range map[string]func(*config.Config){
		"TLS_CERT_FILE, TLS_KEY_FILE: open":                                    func(c *config.Config) { c.TLSCert += ".none" },
		"TLS_CERT_FILE, TLS_KEY_FILE: tls: failed to find any PEM data in key": func(c *config.Config) { c.TLSKey = os.DevNull },
		"TLS_CLIENT_CA_FILE: open":                                             func(c *config.Config) { c.TLSClientCA = "/none" },
		"has no certificate in PEM":                                            func(c *config.Config) { c.TLSClientCA = c.TLSKey },
	} {
		broken := cfg
		change(&broken)
		_, err := tlsOf(broken, log)
		assert.ErrorContains(t, err, name)
	}
}

// A certificate is read again when its files change, unless they do not match.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	cfg, _, _ := issue(t, dir, 1)
	c := &certificate{certFile: cfg.TLSCert, keyFile: cfg.TLSKey, log: slog.New(slog.DiscardHandler)}
	require.NoError(t, c.load())
	number := func() int64 {
		c.looked = time.Time{} // the next request checks at once
		return c.get().Leaf.SerialNumber.Int64()
	}
	assert.EqualValues(t, 1, number())
	first, err := os.ReadFile(cfg.TLSKey)
	require.NoError(t, err)
	issue(t, dir, 2)
	later := time.Now().Add(time.Minute) // a file system may have coarse times
	require.NoError(t, os.Chtimes(cfg.TLSCert, later, later))
	second, err := os.ReadFile(cfg.TLSKey)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cfg.TLSKey, first, 0o600))
	assert.EqualValues(t, 1, number(), "a certificate of another key")
	require.NoError(t, os.WriteFile(cfg.TLSKey, second, 0o600))
	assert.EqualValues(t, 2, number())
	require.NoError(t, os.Remove(cfg.TLSKey))
	assert.EqualValues(t, 2, number())
}
