//go:build unix

package egress

import (
	"errors"
	"syscall"
)

// quiet reports whether a socket has nothing to read and is not at its end, without waiting.
func quiet(socket syscall.RawConn) bool {
	nothing := false
	err := socket.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		nothing = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && nothing
}
