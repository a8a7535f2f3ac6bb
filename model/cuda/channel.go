package cuda

import (
	"errors"
	"unsafe"
)

// channel is memory of the host and of the device, whose contents are copied from one to the other.
type channel struct {
	machine      Machine
	host, device unsafe.Pointer
}

// newChannel reserves n 32-bit numbers on both sides.
func newChannel(m Machine, n int64) (_ *channel, err error) {
	c := &channel{machine: m}
	if c.host, err = m.AllocHost(4 * n); err != nil {
		return nil, err
	}
	if c.device, err = m.Alloc(4 * n); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// view returns the first n numbers on the host.
func (c *channel) view(n int) []int32 { return unsafe.Slice((*int32)(c.host), n) }

func (c *channel) upload(n int) error   { return c.machine.Upload(c.device, c.host, 4*int64(n)) }
func (c *channel) download(n int) error { return c.machine.Download(c.host, c.device, 4*int64(n)) }

// close releases the memory. Closing nil does nothing.
func (c *channel) close() error {
	if c == nil {
		return nil
	}
	var errs []error
	if c.host != nil {
		errs = append(errs, c.machine.FreeHost(c.host))
	}
	if c.device != nil {
		errs = append(errs, c.machine.Free(c.device))
	}
	c.host, c.device = nil, nil
	return errors.Join(errs...)
}
