//go:build unix

package porttest

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// While a port is held, a process that listens at any free port never gets it: before, between and after listeners at the held
// port.
func TestHold(t *testing.T) {
	address := Hold(t)
	for range 3 {
		_, err := net.Dial("tcp", address)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		for range 100 {
			assert.NotEqual(t, address, Hold(t))
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			assert.NotEqual(t, address, l.Addr().String())
		}
		l, err := net.Listen("tcp", address)
		require.NoError(t, err)
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		assert.NoError(t, conn.Close())
		assert.NoError(t, l.Close())
	}
}
