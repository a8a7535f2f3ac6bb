package porttest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hold returns a free address of this machine. The address cannot be reserved on Windows, so another program may take it.
func Hold(t testing.TB) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}
