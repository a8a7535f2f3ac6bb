package source

import (
	"context"
	"time"
)

// SetWait replaces the waits between two tries.
func (c *Client) SetWait(wait func(context.Context, time.Duration) error) { c.wait = wait }

// SetStallTimeout changes how long a connection may be silent.
func (c *Client) SetStallTimeout(d time.Duration) { c.stallTimeout = d }

// SetFreeSpace replaces the file system's answer.
func (c *Client) SetFreeSpace(free func(string) (uint64, error)) { c.freeSpace = free }
