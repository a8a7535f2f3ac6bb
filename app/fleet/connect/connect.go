// Package connect connects to Redis, a single server, Sentinel or Cluster, and finds out why the server cannot be used.
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

// Client is a connection to Redis, or to a server with its protocol. It is safe for concurrent use.
type Client struct {
	redis.UniversalClient
	servers []address // servers to which the client connects first
}

// tries is small, so that requests are refused soon after Redis has gone. Members try again with each heartbeat.
const tries = 1

// connections is the most connections to one server. Each model of a worker waits on one.
const connections = 256

// Open returns a client for the servers of a URL: redis://, rediss:// and unix:// for a single server, with ?master_name= for
// Sentinel, with ?addr= for Cluster. Open sends nothing yet. patience is the time limit to open a connection. An error shows no
// password.
func Open(link string, patience time.Duration) (c *Client, err error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, errors.New("it is no URL: use one such as redis://localhost:6379") // err has the password
	}
	limit := func(byContext *bool, pool *int, dial *time.Duration, dialerRetries, retries *int) {
		*byContext, *pool, *dial, *dialerRetries, *retries = true, connections, patience, tries, tries
	}
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if query := u.Query(); query.Has("master_name") {
		var o *redis.FailoverOptions
		if o, err = redis.ParseFailoverURL(link); err == nil {
			limit(&o.ContextTimeoutEnabled, &o.PoolSize, &o.DialTimeout, &o.DialerRetries, &o.MaxRetries)
			c = &Client{redis.NewFailoverClient(o), serversOf(o.SentinelAddrs, o.TLSConfig)}
		}
	} else if query.Has("addr") {
		var o *redis.ClusterOptions
		if o, err = redis.ParseClusterURL(link); err == nil {
			limit(&o.ContextTimeoutEnabled, &o.PoolSize, &o.DialTimeout, &o.DialerRetries, &o.MaxRetries)
			o.MaintNotificationsConfig = quiet
			c = &Client{redis.NewClusterClient(o), serversOf(o.Addrs, o.TLSConfig)}
		}
	} else {
		var o *redis.Options
		if o, err = redis.ParseURL(link); err == nil {
			limit(&o.ContextTimeoutEnabled, &o.PoolSize, &o.DialTimeout, &o.DialerRetries, &o.MaxRetries)
			o.MaintNotificationsConfig = quiet
			c = &Client{redis.NewClient(o), []address{{o.Network, o.Addr, o.TLSConfig}}}
		}
	}
	if err != nil {
		shown := *u
		shown.RawQuery = "" // the query may have the password of Sentinel's servers
		return nil, fmt.Errorf("%s: %w", shown.Redacted(), err)
	}
	return c, nil
}

func serversOf(addresses []string, cfg *tls.Config) (list []address) {
	for _, at := range addresses {
		list = append(list, address{"tcp", at, cfg})
	}
	return list
}

// oldest is the first version of Redis whose streams forget the claims of deleted entries.
const oldest = 7

var (
	versionLine = regexp.MustCompile(`(?m)^redis_version:((\d+)\S*)`)
	policyLine  = regexp.MustCompile(`(?m)^maxmemory_policy:(\S+)`)
)

// Check returns an error if the server is too old, and a warning if it may evict keys. Both are nil if the server does not tell.
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

// redisLog sends the client library's messages to our log. The messages are about single connections, whose failures are also
// errors of commands.
type redisLog struct{}

func (redisLog) Printf(ctx context.Context, format string, values ...any) {
	slog.DebugContext(ctx, "redis: "+fmt.Sprintf(format, values...))
}

func init() { redis.SetLogger(redisLog{}) } // the library has one for all connections
