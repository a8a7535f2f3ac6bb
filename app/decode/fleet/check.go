package fleet

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// oldest is the first version of Redis whose streams forget the claims of entries that were deleted.
const oldest = 7

var (
	versionLine = regexp.MustCompile(`(?m)^redis_version:((\d+)\S*)`)
	policyLine  = regexp.MustCompile(`(?m)^maxmemory_policy:(\S+)`)
)

// check fails where the server is too old, and warns where it may drop what it has. Where it does not
// tell (a user may not ask), nothing is said.
func (b *Broker) check(ctx context.Context) error {
	server := b.client.Info(ctx, "server").Val()
	if found := versionLine.FindStringSubmatch(server); found != nil {
		if major, err := strconv.Atoi(found[2]); err == nil && major < oldest {
			return fmt.Errorf("it is Redis %s: use Redis %d or later, or Valkey", found[1], oldest)
		}
	}
	memory := b.client.Info(ctx, "memory").Val()
	if found := policyLine.FindStringSubmatch(memory); found != nil && found[1] != "noeviction" {
		b.outages.evicting.Note(fmt.Errorf("maxmemory-policy is %s", found[1]))
	}
	return nil
}
