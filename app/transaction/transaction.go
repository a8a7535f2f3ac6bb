// Package transaction changes things in Redis as a whole: what was read is written only where nobody
// has changed it since.
package transaction

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Atomically has do read, and write in one transaction (see [Do]), until nobody has changed any of
// the keys meanwhile. What has begun is not broken off: whoever leaves would not know what was done,
// and the connection would go on watching. The client's timeouts bound it.
func Atomically(ctx context.Context, client redis.UniversalClient, do func(context.Context, *redis.Tx) error, keys ...string) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := context.WithoutCancel(ctx)
		err := client.Watch(whole, func(tx *redis.Tx) error { return do(whole, tx) }, keys...)
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
}

// Do does commands in one transaction. Its error is that of the command that the server refused,
// where it says no more itself than that there was one.
func Do(ctx context.Context, c redis.Cmdable, commands func(redis.Pipeliner) error) error {
	list, err := c.TxPipelined(ctx, commands)
	if redis.IsExecAbortError(err) {
		for _, cmd := range list {
			if refused := cmd.Err(); refused != nil && !redis.IsExecAbortError(refused) {
				return refused
			}
		}
	}
	return err
}
