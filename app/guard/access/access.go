// Package access decides which callers may use the service, and how much.
//
// A [Gate] guards the routes that cost something. It knows the API keys, if there is a file of keys, and admits requests with a
// key; without a file it admits all requests. Each key, or without keys each client address, has limits: requests, characters and
// decoded tokens in a time. Routes for probes and metrics are excluded by leaving the gate out; the gate itself knows no paths.
//
// The package also has the other checks before a request is served: [CORS], the trusted [Proxies] and the [Deadline] that a
// client sets. [Caller] identifies callers in all routes.
//
// # The keys file
//
// A line for each caller: its name, the digests of its keys, the word admin if it may load and unload models, its limits.
//
//	# who     digests of keys         limits
//	alice     sha256:2c26b46b68ff…    rate=10/s burst=20 chars=100000/m tokens=5000000/h
//	backup    sha256:fcde2b2edba5…    rate=unlimited
//	website   sha256:baa5a0964d33…  sha256:0a8f2c4d6e1b…
//	operator  sha256:7d865e959b24…  admin
//
// Text from a # on is a comment. [Line] makes a line for a new key. A caller with two digests has an old and a new key at once,
// so that a key can be replaced without a moment in which neither works; both keys share the caller's limits. Limits that are not
// set are the defaults of [Config.Limits].
//
// The file is read again when it changes, see [Gate.Watch].
package access

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config configures a [Gate].
type Config struct {
	// KeysFile is the path of the file with the API keys. "" admits all requests.
	KeysFile string
	// Limits apply to each key without limits of its own in the file, or, if no keys are needed, to each client address. If keys
	// are needed, Limits.Requests also limits the requests of an address without a valid key. The zero Limits set no limits.
	Limits  Limits
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil for none
}

// Gate admits requests. It is safe for concurrent use. A nil *Gate admits all requests and counts nothing.
type Gate struct {
	keys    *keyring // nil if no keys are needed
	clients *clients
	metrics *metrics
}

// New returns a gate. It fails on invalid limits, and on a keys file that cannot be read or has a fault: a service that was meant
// to be closed must not start open, or without a key that a caller needs.
func New(cfg Config) (*Gate, error) {
	if err := cfg.Limits.Validate(); err != nil {
		return nil, err
	}
	clients := newClients(mostClients, cfg.Limits)
	g := &Gate{clients: clients, metrics: newMetrics(cfg.Metrics, clients)}
	if cfg.KeysFile == "" {
		return g, nil
	}
	var err error
	g.keys, err = openKeyring(cfg, g.metrics)
	return g, err
}

// Watch reads the keys file again when it has changed, until ctx is done. It reads the file each second and applies content that
// it has seen twice, so that a file that is still being written is not applied in part. A file with a fault is logged as an error
// and changes nothing: the previous keys stay in use. The usage of limits survives a reload. Watch may run once at a time;
// without a keys file it returns at once.
func (g *Gate) Watch(ctx context.Context) {
	if g.keys != nil {
		g.keys.watch(ctx)
	}
}

// Enter admits a request. It must be called once for each request, and before its body is read unless [Gate.MustReadKey] says
// otherwise. fieldKey is a key from one of the [KeyFields] of the query or the body, "" if there is none; headers are examined as
// well:
//
//	Authorization: Bearer KEY
//	Authorization: DeepL-Auth-Key KEY
//	Authorization: KEY
//	X-API-Key: KEY
//	Ocp-Apim-Subscription-Key: KEY
//	X-Goog-Api-Key: KEY
//
// The error is ErrNoKey, ErrBadKey or a *LimitError, also for an address that has sent too many requests without a valid key, or
// an [InvalidHeader] if a page of another site sends the request, see [Sites.Guard]. Enter sets the headers for these errors,
// WWW-Authenticate and Retry-After, and for callers with limits RateLimit and RateLimit-Policy; it does not answer.
func (g *Gate) Enter(r *http.Request, fieldKey string) error {
	v := visitOf(r)
	if err := v.otherSite; err != nil || g == nil {
		return err
	}
	who, err := g.identify(r, fieldKey)
	if err != nil {
		if err := g.take(r, g.clients.of(v.address), requests, 1); err != nil {
			return err
		}
		g.countRefusal(err)
		v.answer.Set("WWW-Authenticate", challenge(err))
		return err
	}
	v.who.Store(who)
	return g.take(r, who, requests, 1)
}

// MustReadKey reports whether a request needs a key, and has none in its headers nor in its query, whose key is queryKey: then a
// key may be in the body. The error is a *LimitError if the request's address has sent too many requests without a valid key, so
// that the body is not worth reading. Only that refusal is counted.
func (g *Gate) MustReadKey(r *http.Request, queryKey string) (bool, error) {
	v := visitOf(r)
	if err := v.otherSite; err != nil || !g.NeedsKeys() {
		return false, err
	}
	if _, err := g.identify(r, queryKey); !errors.Is(err, ErrNoKey) {
		return false, nil
	}
	return true, g.check(r, g.clients.of(v.address), requests, 1)
}

// Charge counts n characters of an admitted request: Unicode code points, once for each target language. Characters are charged
// when the work is requested, whatever its outcome.
//
// The error is a *LimitError if the caller has to wait, and [TooManyCharacters] if waiting does not help; on error nothing is
// charged. The headers are as for Enter.
func (g *Gate) Charge(r *http.Request, n int) error {
	if g == nil {
		return nil
	}
	who := visitOf(r).who.Load()
	if who == nil {
		return errNotEntered
	}
	if n <= 0 {
		return nil
	}
	if err := g.take(r, who, characters, n); err != nil {
		return err
	}
	who.charged.Add(int64(n))
	return nil
}

// CheckCharge returns the error that Charge would return now, and charges nothing. It returns nil for a request that is not
// admitted yet.
func (g *Gate) CheckCharge(r *http.Request, n int) error {
	if who := visitOf(r).who.Load(); who != nil {
		return g.check(r, who, characters, n)
	}
	return nil
}

// errNotEntered is a fault in the order of middleware, not a mistake of the caller.
var errNotEntered = errors.New("characters are charged before the request was let in")

// Admin returns [ErrNotAdmin] if the caller of an admitted request is no admin. Without a keys file there are no admins.
func (g *Gate) Admin(r *http.Request) error {
	if who := visitOf(r).who.Load(); who == nil || !who.admin {
		return ErrNotAdmin
	}
	return nil
}

// NeedsKeys reports whether requests need a key.
func (g *Gate) NeedsKeys() bool { return g != nil && g.keys != nil }

// Name returns the name of the key with which a request was admitted. It is for logs and metrics: names come from the keys file,
// so there are not many. The name is "" if there are no keys, and for a request that was not admitted.
func Name(r *http.Request) string {
	if who := visitOf(r).who.Load(); who != nil {
		return who.name
	}
	return ""
}

// Caller identifies the caller of a request: by the name of the key with which it was admitted, else by the client's address, of
// IPv6 only the network (2001:db8:0:1::/64). Do not keep more callers than there are requests in flight, because there are many
// addresses.
func Caller(r *http.Request) string {
	if name := Name(r); name != "" {
		return name
	}
	return visitOf(r).address.String()
}

// identify returns the caller of a request.
func (g *Gate) identify(r *http.Request, fieldKey string) (*caller, error) {
	if g.keys == nil {
		return g.clients.of(visitOf(r).address), nil
	}
	key, err := oneKey(append(headerKeys(r.Header), fieldKey))
	if err != nil {
		return nil, err
	}
	return g.keys.find(key)
}

// take takes n units of a caller's limit and announces the rest to the client.
func (g *Gate) take(r *http.Request, who *caller, of, n int) error {
	now := time.Now()
	err := who.left[of].take(now, n)
	g.countRefusal(err)
	who.announce(visitOf(r).answer, now, err)
	return err
}

// check returns the error that take would return; it takes nothing, and announces only an error.
func (g *Gate) check(r *http.Request, who *caller, of, n int) error {
	now := time.Now()
	err := who.left[of].check(now, n)
	if err != nil {
		g.countRefusal(err)
		who.announce(visitOf(r).answer, now, err)
	}
	return err
}

func (g *Gate) countRefusal(err error) {
	reason := charactersLimit // more characters than are ever allowed at once
	if limit, ok := errors.AsType[*LimitError](err); ok {
		reason = limit.Limit
	}
	switch {
	case err == nil:
		return
	case errors.Is(err, ErrNoKey):
		reason = reasonNoKey
	case errors.Is(err, ErrBadKey):
		reason = reasonWrongKey
	}
	g.metrics.refusals[reason].Inc()
}

// challenge returns the WWW-Authenticate field for a request without a valid key (RFC 6750, section 3).
func challenge(err error) string {
	const scheme = `Bearer realm="dragoman"`
	if errors.Is(err, ErrBadKey) {
		return scheme + `, error="invalid_token"`
	}
	return scheme
}
