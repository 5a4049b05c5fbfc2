package egress

import (
	"errors"
	"net"
	"sync"
)

// postBytes is what one POST may make us read: headers and body at their caps, TLS around them,
// and the frames of HTTP/2 itself.
const postBytes = 256 << 10

// allowance bounds what one address may send us over all of its connections. net/http reads a
// kept connection for as long as it is kept: without a bound a receiver could occupy the
// process long after its 2xx, with HTTP/2 frames that mean nothing.
type allowance struct {
	mu    sync.Mutex
	left  int64
	posts int64 // in progress
}

func (a *allowance) enter() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.posts++
	a.left = max(a.left, 0) + postBytes
}

// leave keeps no more than the POSTs in progress need, and one POST's share for what is late.
func (a *allowance) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.posts--
	a.left = min(a.left, (a.posts+1)*postBytes)
}

func (a *allowance) take(n int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left -= int64(n)
	return a.left >= 0
}

// bounded is a connection that ends when its address has sent too much.
type bounded struct {
	net.Conn
	*allowance
}

var errTooMuch = errors.New("the receiver sent more than any answer needs")

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if !b.take(n) {
		_ = b.Close()
		return 0, errTooMuch
	}
	return n, err
}
