//go:build unix

// Package porttest reserves ports for tests.
package porttest

import (
	"net"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Hold returns an address of this machine, such as 127.0.0.1:40000, that is reserved for the test until its end. Connections are
// refused unless the test, or a program that the test starts, listens there. Listening may stop and start again.
//
// A bound socket that never listens reserves the address: the kernel does not assign the port to requests for any free port, but
// lets a server listen on it if the server, like this socket, reuses addresses, as servers do.
func Hold(t testing.TB) (address string) {
	t.Helper()
	syscall.ForkLock.RLock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	require.NoError(t, syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	require.NoError(t, syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name, err := syscall.Getsockname(socket)
	require.NoError(t, err)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
}
