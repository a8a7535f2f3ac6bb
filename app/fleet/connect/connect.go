// Package connect connects to Redis, a single server, Sentinel or Cluster, and says why it cannot be used.
package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Client is a connection to Redis, or to something that speaks its protocol. It is safe for concurrent use.
type Client struct {
	redis.UniversalClient
	servers []address // that the client connects to first
}

// tries are few, so that requests are refused soon after Redis has gone: what fails is tried again
// with a beat anyway.
const tries = 1

// connections is the most that are open to one server. Each model of a worker waits on one.
const connections = 256

// Open makes a client for the servers of a URL: redis://, rediss:// and unix:// for a single server, with ?master_name= for
// Sentinel, with ?addr= for Cluster. A connection is opened within patience. Nothing is sent yet. An error shows no password.
func Open(link string, patience time.Duration) (*Client, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, errors.New("it is no URL: use one such as redis://localhost:6379") // the error has the password
	}
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch query := u.Query(); {
	case query.Has("master_name"):
		o, err := redis.ParseFailoverURL(link)
		if err != nil {
			return nil, clean(err, u)
		}
		o.ContextTimeoutEnabled, o.PoolSize, o.DialTimeout, o.DialerRetries, o.MaxRetries = true, connections, patience, tries, tries
		return &Client{redis.NewFailoverClient(o), serversOf(o.SentinelAddrs, o.TLSConfig)}, nil
	case query.Has("addr"):
		o, err := redis.ParseClusterURL(link)
		if err != nil {
			return nil, clean(err, u)
		}
		o.ContextTimeoutEnabled, o.PoolSize, o.DialTimeout, o.DialerRetries, o.MaxRetries = true, connections, patience, tries, tries
		o.MaintNotificationsConfig = quiet
		return &Client{redis.NewClusterClient(o), serversOf(o.Addrs, o.TLSConfig)}, nil
	}
	o, err := redis.ParseURL(link)
	if err != nil {
		return nil, clean(err, u)
	}
	o.ContextTimeoutEnabled, o.PoolSize, o.DialTimeout, o.DialerRetries, o.MaxRetries = true, connections, patience, tries, tries
	o.MaintNotificationsConfig = quiet
	return &Client{redis.NewClient(o), []address{{o.Network, o.Addr, o.TLSConfig}}}, nil
}

func serversOf(addresses []string, cfg *tls.Config) (list []address) {
	for _, at := range addresses {
		list = append(list, address{"tcp", at, cfg})
	}
	return list
}

// clean is an error without a URL's passwords: that of Sentinel's servers is a parameter.
func clean(err error, u *url.URL) error {
	shown := *u
	shown.RawQuery = ""
	return fmt.Errorf("%s: %w", shown.Redacted(), err)
}

// oldest is the first version of Redis whose streams forget the claims of entries that were deleted.
const oldest = 7

var (
	versionLine = regexp.MustCompile(`(?m)^redis_version:((\d+)\S*)`)
	policyLine  = regexp.MustCompile(`(?m)^maxmemory_policy:(\S+)`)
)

// Check fails where the server is too old. The warning says that it may drop what it has. Where it does not tell (a user may
// not ask), both are nil.
func (c *Client) Check(ctx context.Context) (warning, err error) {
	server := c.Info(ctx, "server").Val()
	if found := versionLine.FindStringSubmatch(server); found != nil {
		if major, err := strconv.Atoi(found[2]); err == nil && major < oldest {
			return nil, fmt.Errorf("it is Redis %s: use Redis %d or later, or Valkey", found[1], oldest)
		}
	}
	memory := c.Info(ctx, "memory").Val()
	if found := policyLine.FindStringSubmatch(memory); found != nil && found[1] != "noeviction" {
		warning = fmt.Errorf("maxmemory-policy is %s", found[1])
	}
	return warning, nil
}

// redisLog has the client library's messages, which it writes itself otherwise, where ours are. They
// are about single connections: what matters of them is an error of a command too.
type redisLog struct{}

func (redisLog) Printf(ctx context.Context, format string, values ...any) {
	slog.DebugContext(ctx, "redis: "+fmt.Sprintf(format, values...))
}

func init() { redis.SetLogger(redisLog{}) } // the library has one for all connections
