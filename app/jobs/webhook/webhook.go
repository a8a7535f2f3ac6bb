// Package webhook sends signed messages to addresses named by clients, as specified by Standard Webhooks (standardwebhooks.com),
// and prevents clients from making the service call addresses that only the service can reach.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"dragoman/app/guard/bound"
	"dragoman/app/jobs"
)

const (
	// timeout is the time limit of a receiver, from the lookup of its name to the end of its answer.
	timeout = 15 * time.Second
	// mostAnswer is the number of bytes of an answer that are read, so that the connection can be reused.
	mostAnswer = 4 << 10
)

// Config configures a [Sender].
type Config struct {
	Secret  string // whsec_ and the key in base64
	Private bool   // receivers may be in private networks, on this machine, and without TLS
	Version string // of the service, for User-Agent
}

// Sender implements [jobs.Notifier].
type Sender struct {
	cfg    Config
	signer *standardwebhooks.Webhook
	client *http.Client
}

// New returns a sender. It fails on an invalid secret.
func New(cfg Config) (*Sender, error) {
	signer, err := standardwebhooks.NewWebhook(cfg.Secret)
	if err != nil {
		return nil, err
	}
	s := &Sender{cfg: cfg, signer: signer}
	dialer := &net.Dialer{Timeout: timeout, Control: s.control}
	s.client = &http.Client{
		Timeout: timeout,
		// No proxy, because a proxy would look up names itself, and dial their addresses without a check.
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout, ForceAttemptHTTP2: true,
			MaxIdleConns: 16, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Check implements [jobs.Notifier].
func (s *Sender) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case len(address) > bound.URL:
		return fmt.Errorf("a URL of %d bytes: use at most %d", len(address), bound.URL)
	case err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return errors.New("not a URL: use one such as https://example.com/hook, without a user's name or a fragment")
	case u.Scheme == "http" && s.cfg.Private:
	case u.Scheme != "https":
		return errors.New("the URL does not begin with https://")
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
		return fmt.Errorf("%.8s is not a port: use 1 to 65535", u.Port())
	}
	return s.checkHost(u.Hostname())
}

// errNotPublic is the error of an address that clients may not have called.
var errNotPublic = errors.New("the address is not a public one, and this service calls no others")

// control checks the address of each connection, as currently resolved from the receiver's name, because the name may have had
// another address when it was checked.
func (s *Sender) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !s.allows(at.Addr()) {
		return errNotPublic
	}
	return nil
}

func (s *Sender) allows(ip netip.Addr) bool { return s.cfg.Private || isPublic(ip) }

// Send implements [jobs.Notifier].
func (s *Sender) Send(ctx context.Context, address, id string, body []byte) error {
	if err := s.Check(address); err != nil { // the address may have been allowed before, with other settings
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	now := time.Now()
	signature, err := s.signer.Sign(id, now, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "dragoman/"+s.cfg.Version)
	req.Header.Set(standardwebhooks.HeaderWebhookID, id)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	resp, err := s.client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, mostAnswer)
	switch {
	case resp.StatusCode == http.StatusGone:
		return jobs.ErrWebhookGone
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return fmt.Errorf("the webhook answers %d", resp.StatusCode)
	}
	return nil
}

// withoutURL returns an error of the client for the log, without its URL, which may contain a secret.
func withoutURL(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return inner.Err
	}
	return err
}
