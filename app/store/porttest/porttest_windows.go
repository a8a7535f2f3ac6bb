package porttest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hold returns an address of this machine that is free. Another program may take it: to hold it is not
// possible here.
func Hold(t testing.TB) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}
