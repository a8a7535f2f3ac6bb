package source

import (
	"context"
	"time"

	"dragoman/model"
)

// SetWait replaces the waits between two tries.
func (c *Client) SetWait(wait func(context.Context, time.Duration) error) { c.wait = wait }

// SetLookup replaces the machine's DNS.
func (c *Client) SetLookup(lookup func(ctx context.Context, address string) error) { c.lookup = lookup }

// SetStallTimeout changes how long a connection may be silent.
func (c *Client) SetStallTimeout(d time.Duration) { c.stallTimeout = d }

// SetFreeSpace replaces the file system's answer.
func (c *Client) SetFreeSpace(free func(string) (uint64, error)) { c.freeSpace = free }

// SetCheck replaces the check of a checkpoint's files.
func (c *Client) SetCheck(check func(files model.Files, name string) error) { c.check = check }

// Check checks a checkpoint's files.
func (c *Client) Check(files model.Files, name string) error { return c.check(files, name) }

// SetAccept replaces the check of a checkpoint's settings.
func (c *Client) SetAccept(accept func(config, generation []byte) (int64, error)) { c.accept = accept }

// AcceptConfig checks a checkpoint's settings.
func (c *Client) AcceptConfig(config, generation []byte) (int64, error) {
	return c.accept(config, generation)
}

// RemoveDamaged removes damaged files.
var RemoveDamaged = removeDamaged
