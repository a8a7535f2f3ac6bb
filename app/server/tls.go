package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"dragoman/app/config"
)

// certificate is a certificate that is read from files, and again when the files change, because an issuer renews it while the
// service runs.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex // guards the rest
	loaded *tls.Certificate
	stamps [2]time.Time // modification times of the files when they were read
	looked time.Time    // time of the last check
}

// lookEvery is the interval of checks of the files.
const lookEvery = time.Second

// tlsOf returns the TLS configuration of the service; nil: no TLS.
func tlsOf(cfg config.Config, log *slog.Logger) (*tls.Config, error) {
	if cfg.TLSCert == "" {
		return nil, nil
	}
	c := &certificate{certFile: cfg.TLSCert, keyFile: cfg.TLSKey, log: log}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("TLS_CERT_FILE, TLS_KEY_FILE: %w", err)
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(), nil }}
	if cfg.TLSClientCA != "" {
		authorities, err := os.ReadFile(cfg.TLSClientCA)
		if err != nil {
			return nil, fmt.Errorf("TLS_CLIENT_CA_FILE: %w", err)
		}
		t.ClientAuth, t.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !t.ClientCAs.AppendCertsFromPEM(authorities) {
			return nil, fmt.Errorf("TLS_CLIENT_CA_FILE: %s has no certificate in PEM", cfg.TLSClientCA)
		}
	}
	return t, nil
}

// load reads the files.
func (c *certificate) load() error {
	stamps := c.changed()
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.loaded, c.stamps = &loaded, stamps
	return nil
}

func (c *certificate) changed() (stamps [2]time.Time) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = info.ModTime()
		}
	}
	return stamps
}

// get returns the current certificate. Files that do not match, such as one of two that are being written, change nothing.
func (c *certificate) get() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		if c.changed() != c.stamps {
			if err := c.load(); err != nil {
				c.log.Error("the previous certificate stays in use, because the new one is invalid", "file", c.certFile, "error", err)
			} else {
				c.log.Info("reloaded the certificate", "file", c.certFile)
			}
		}
	}
	return c.loaded
}
